"""Suppliers through the API, on all three databases: added, changed, paused, what is wrong with them; and webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.collect import events
from bobusang.stages.collect.events import Ended
from bobusang.stages.collect.intake_tables import EventState
from bobusang.wiring import prepare

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

TOLD = ("name", "kind", "base_url", "active", "enabled", "settings", "secret", "records", "held", "problems")


async def added(door: Door, name: str = "acme", kind: str = "webhook", **said: Any) -> dict[str, Any]:
    answer = await door.admin.post("/suppliers", json={"name": name, "kind": kind, **said})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_supplier_is_added_changed_replaced_and_paused(door: Door) -> None:
    await prepare(door.app)
    made = await added(door, settings={"note": "Monday"}, secret="env:ACME_SECRET")
    changed = await door.admin.patch(
        "/suppliers/acme", json={"settings": {"note": None, "targets": ["list:all"]}, "base_url": "https://a.example"}
    )
    paused = await door.operator.post("/suppliers/acme/pause")
    replaced = await door.admin.put("/suppliers/acme", json={"kind": "api"})

    assert {name: made[name] for name in TOLD} == {
        "name": "acme",
        "kind": "webhook",
        "base_url": None,
        "active": True,
        "enabled": False,
        "settings": {"note": "Monday"},
        "secret": "env:ACME_SECRET",
        "records": 0,
        "held": 0,
        "problems": ["its source is off"],
    }
    assert {name: changed.json()[name] for name in ("settings", "base_url", "secret")} == {
        "settings": {"targets": ["list:all"]},
        "base_url": "https://a.example",
        "secret": "env:ACME_SECRET",
    }
    assert (paused.json()["active"], replaced.json()["active"], replaced.json()["secret"]) == (False, True, None)
    assert await door.get("/suppliers/acme") == replaced.json()
    lines = (await door.get("/audit", limit=500))["items"][::-1]
    assert [(one["actor"], one["action"]) for one in lines if one["action"].startswith("supplier.")] == [
        ("the admin", "supplier.add"),
        ("the admin", "supplier.change"),
        ("the operator", "supplier.pause"),
        ("the admin", "supplier.replace"),
    ]


async def test_the_list_says_what_is_wrong(door: Door) -> None:
    await prepare(door.app)
    await added(door)
    await added(door, "nobody", "api")
    await added(door, "hanbit", "excel")

    async def work(tx: Tx) -> None:
        await events.store(tx, "acme", [("e1", "a" * 64), ("e2", "b" * 64)])
        [first, _] = await events.take(tx, "acme", limit=5)
        await events.end(tx, [Ended(first, EventState.FAILED, "no key")])

    await door.app.engine.db.transact(work)
    found = (await door.get("/suppliers"))["items"]

    assert {one["name"]: one["problems"] for one in found} == {
        "acme": ["its source is off", "1 webhooks could not be read"],
        "hanbit": [],
        "nobody": ["no source of this name is known"],
    }
    assert [one["name"] for one in (await door.get("/suppliers", kind="excel"))["items"]] == ["hanbit"]
    shown = await door.get("/suppliers/acme")
    assert shown["events"] == {"received": 1, "done": 0, "failed": 1}
    assert [(one["event"], one["state"], one["note"]) for one in shown["last_events"]] == [
        ("e2", "RECEIVED", None),
        ("e1", "FAILED", "no key"),
    ]
    assert [one["event"] for one in (await door.get("/inbound", source="acme", state="failed"))["items"]] == ["e1"]


@pytest.mark.parametrize(
    ("said", "field", "message"),
    [
        ({"kind": "fax"}, "kind", "kind: should be 'api', 'excel' or 'webhook'"),
        ({"name": "Ä"}, "name", "name: string should match pattern '^[a-z][a-z0-9_-]*$'"),
        ({"secret": "hunter2"}, "secret", "secret: should name where the secret is, as env:NAME or file:PATH"),
        ({"settings": {"inbix": "/srv"}}, "settings", "a supplier has no setting 'inbix'"),
        ({"settings": {"refresh_hours": "3d"}}, "settings.refresh_hours", "refresh_hours is a number from 0 to 1440"),
        ({"settings": {"refresh_hours": -1}}, "settings.refresh_hours", "refresh_hours is a number from 0 to 1440"),
        ({"settings": {"inbox": "/srv/acme"}}, "settings.inbox", "'/srv/acme' is no place below the home folder"),
        (
            {"settings": {"inbox": "../acme/*.xlsx"}},
            "settings.inbox",
            "'../acme/*.xlsx' is no place below the home folder",
        ),
        ({"settings": {"targets": "all"}}, "settings.targets", "targets is a list of KIND:KEY"),
        ({"settings": {"targets": ["all"]}}, "settings.targets", "targets is a list of KIND:KEY"),
        ({"base_url": "ftp://x"}, "base_url", "base_url: string should match pattern '^https?://\\S+$'"),
    ],
)
async def test_a_wrong_supplier_is_refused(small: Door, said: dict[str, Any], field: str, message: str) -> None:
    answer = await small.admin.post("/suppliers", json={"name": "acme", "kind": "api", **said})
    problem = answer.json()

    assert (answer.status_code, problem["field"], problem["detail"]) == (422, field, message), problem
    assert "hunter2" not in answer.text


async def test_nobody_twice_and_nobody_unknown(small: Door) -> None:
    await added(small)
    again = await small.admin.post("/suppliers", json={"name": "acme", "kind": "api"})
    unknown = await small.viewer.get("/suppliers/nobody")

    assert (again.status_code, again.json()["detail"]) == (409, "there is a supplier 'acme' already")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "there is no supplier 'nobody'")


async def test_collecting_now_says_why_nothing_is_begun(small: Door) -> None:
    await prepare(small.app)
    await added(small, "okmall", "api")
    await added(small, "hanbit", "excel")
    off = await small.operator.post("/suppliers/okmall/collect")
    files = await small.operator.post("/suppliers/hanbit/collect")
    await small.operator.post("/suppliers/hanbit/pause")
    paused = await small.operator.post("/suppliers/hanbit/collect")

    assert (off.json()["jobs"], off.json()["why"].partition(" (")[0]) == (
        [],
        "okmall is off: nobody has decided that it may be collected",
    )
    assert files.json() == {"supplier": "hanbit", "jobs": [], "why": "its files are imported as they come"}
    assert (paused.status_code, paused.json()["detail"]) == (409, "the supplier hanbit is paused")


async def test_a_sync_is_begun_once(small: Door) -> None:
    await prepare(small.app)
    await added(small)
    first = await small.operator.post("/product-sync", json={})
    second = await small.operator.post("/product-sync", json={"suppliers": ["acme"]})
    wrong = await small.operator.post("/product-sync", json={"suppliers": ["nobody"]})

    assert (first.status_code, first.json()["is_new"]) == (202, True)
    assert second.json() == {"job_id": first.json()["job_id"], "is_new": False}
    assert (wrong.status_code, wrong.json()["field"]) == (404, "supplier")


async def test_what_failed_is_read_again_when_asked(small: Door) -> None:
    async def work(tx: Tx) -> None:
        await events.store(tx, "acme", [("e1", "a" * 64), ("e2", "b" * 64)])
        taken = await events.take(tx, "acme", limit=5)
        await events.end(tx, [Ended(one, EventState.FAILED, "no key") for one in taken])

    await small.app.engine.db.transact(work)
    one = (await small.get("/inbound"))["items"][0]
    shown = await small.get(f"/inbound/{one['id']}")
    again = await small.operator.post("/inbound/retry", json={"source": "acme", "event_id": one["id"]})
    rest = await small.operator.post("/inbound/retry", json={"source": "acme"})

    assert (shown["event"], shown["content"]) == ("e2", None)
    assert (again.json(), rest.json()) == ({"source": "acme", "events": 1}, {"source": "acme", "events": 1})
    assert [one["state"] for one in (await small.get("/inbound"))["items"]] == ["RECEIVED", "RECEIVED"]
