"""The page of suppliers: added, changed, paused; what is wrong is said, and nobody sees a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.stages.collect import events
from bobusang.stages.collect.events import Ended
from bobusang.stages.collect.intake_tables import EventState

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Screen

NEW = "/suppliers/new"


async def test_without_suppliers_the_page_says_what_to_do(screen: Screen) -> None:
    page = await screen.operator.get("/suppliers")

    assert page.texts(".tabs a") == ["Sellers", "Suppliers", "Sources and gates", "Identities and quotas"]
    assert page.links(".empty a") == ["/ui/suppliers/new"]


async def test_a_supplier_is_added_changed_paused_and_resumed(screen: Screen) -> None:
    wrong = await screen.admin.post(NEW, on=NEW, name="hanbit", kind="excel", secret="hunter2", note="월요일")
    assert (wrong.status, "hunter2" in wrong.text("#wrong")) == (422, False)

    added = await screen.admin.post(NEW, on=NEW, name="hanbit", kind="excel", note="월요일")
    assert (added.text("h1"), added.text(".said")) == ("hanbit", "The supplier was added.")
    assert "월요일" in added.text("dl.facts")

    path = "/suppliers/hanbit"
    changed = await screen.admin.post(f"{path}/edit", on=f"{path}/edit", kind="api", targets="brand:NIKE\nlist:all")
    assert "brand:NIKE, list:all" in changed.text("dl.facts")
    assert "월요일" not in changed.text("dl.facts")
    assert changed.texts("p.refused") == ["no source of this name is known"]

    await screen.operator.post(f"{path}/pause", on=path)
    paused = await screen.operator.get("/suppliers")
    await screen.operator.post(f"{path}/resume", on=path)
    resumed = await screen.operator.get("/suppliers")
    assert (paused.texts("tbody .pill"), resumed.texts("tbody .pill")) == (["paused"], ["active"])


async def test_webhooks_that_failed_are_shown_with_why(screen: Screen) -> None:
    await screen.admin.post(NEW, on=NEW, name="acme", kind="webhook")

    async def work(tx: Tx) -> None:
        await events.store(tx, "acme", [("evt-1", "a" * 64), ("evt-2", "b" * 64)])
        [first, _] = await events.take(tx, "acme", limit=5)
        await events.end(tx, [Ended(first, EventState.FAILED, "a record has no key <script>")])

    await screen.app.engine.db.transact(work)
    page = await screen.viewer.get("/suppliers/acme")

    assert page.texts("#webhooks tbody th") == ["evt-2", "evt-1"]
    assert page.texts("#webhooks tbody td.text") == ["–", "a record has no key <script>"]
    assert "1 webhooks could not be read" in page.texts("p.refused")


async def test_nothing_to_collect_is_said_and_a_sync_leads_to_its_job(screen: Screen) -> None:
    await screen.admin.post(NEW, on=NEW, name="acme", kind="webhook")
    nothing = await screen.operator.post("/suppliers/acme/collect", on="/suppliers/acme")
    begun = await screen.operator.post("/suppliers/sync", on="/suppliers", name="acme")

    assert nothing.text(".said") == "Nothing was begun: its webhooks are read as they come, and none waits"
    assert "/ui/jobs/" in begun.url
