"""The page of suppliers: added, changed, paused; what is wrong is said, and nobody sees a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import suppliers
from bobusang.stages.collect import events
from bobusang.stages.collect.events import Ended
from bobusang.stages.collect.intake_tables import EventState
from bobusang.views import audit
from bobusang.views.audit import AuditFilter

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.web.screen import Page, Screen

NEW = "/suppliers/new"
HOURS = 'input[name="refresh_hours"]'


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


async def test_how_soon_a_supplier_is_collected_whole_again_is_set_changed_and_taken_back(screen: Screen) -> None:
    path = "/suppliers/hanbit"

    async def changed(**hours: str) -> list[str]:
        page = await screen.admin.post(f"{path}/edit", on=f"{path}/edit", kind="api", note="월요일", **hours)
        return [page.text(".said"), *_facts(page, "Hours until it is collected whole again")]

    added = await screen.admin.post(NEW, on=NEW, name="hanbit", kind="api", note="월요일", refresh_hours=" 13 ")
    assert _facts(added, "Hours until it is collected whole again") == ["13"]
    form = (await screen.admin.get(f"{path}/edit")).tree.css_first(HOURS)
    assert form is not None
    assert form.attributes == {
        "name": "refresh_hours",
        "value": "13",
        "type": "number",
        "autocomplete": "off",
        "min": "0",
        "max": "1440",
        "step": "any",
    }

    told = [await changed(refresh_hours=hours) for hours in ("0", "1.5", "1440", "6.0", "")]
    assert told == [["hanbit was changed.", *shown] for shown in (["0"], ["1.5"], ["1440"], ["6"], [])]
    assert (await _settings(screen), await _audited(screen)) == (
        {"note": "월요일"},
        [
            ("supplier.change", {"note": "월요일", "refresh_hours": 6}, {"note": "월요일"}),
            *(
                ("supplier.change", {"note": "월요일", "refresh_hours": was}, {"note": "월요일", "refresh_hours": now})
                for was, now in ((1440, 6), (1.5, 1440), (0, 1.5), (13, 0))
            ),
            ("supplier.add", None, {"note": "월요일", "refresh_hours": 13}),
        ],
    )


@pytest.mark.parametrize("typed", ["3d", "-1", "1440.5", "nan", "1,000", "1e2", "9" * 400])
async def test_hours_that_are_no_number_are_refused_beside_what_was_typed(screen: Screen, typed: str) -> None:
    path = "/suppliers/hanbit"
    await screen.admin.post(NEW, on=NEW, name="hanbit", kind="api", refresh_hours="13")

    wrong = await screen.admin.post(f"{path}/edit", on=f"{path}/edit", kind="api", refresh_hours=typed)
    screen.admin.client.headers["accept-language"] = "ko"
    also = await screen.admin.post(NEW, on=NEW, name="acme", kind="api", refresh_hours=typed)

    assert [(page.status, page.text("#wrong")) for page in (wrong, also)] == [
        (422, "the hours until it is collected whole again are a number from 0 to 1,440"),
        (422, "전체를 다시 수집하기까지 시간은 0부터 1,440까지의 숫자여야 합니다"),
    ]
    fields = [field.attributes for page in (wrong, also) for field in page.tree.css(HOURS)]
    assert [(field["value"], field["aria-describedby"]) for field in fields] == [(typed, "wrong")] * 2
    assert await _settings(screen) == {"refresh_hours": 13}


def _facts(page: Page, name: str) -> list[str]:
    """What the page says under a name, nothing where it is not named."""
    said = [tuple(one.text().strip() for one in div.css("dt, dd")) for div in page.tree.css("dl.facts > div")]
    return [fact for label, fact in said if label == name]


async def _settings(screen: Screen) -> Any:
    async with screen.app.engine.db.read() as tx:
        return (await suppliers.get(tx, "hanbit")).settings


async def _audited(screen: Screen) -> list[tuple[str, Any, Any]]:
    async with screen.app.engine.db.read() as tx:
        acts = (await audit.acts(tx, AuditFilter(), None, 6)).lines
    return [(act.action, act.before and act.before["settings"], act.after and act.after["settings"]) for act in acts]


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
