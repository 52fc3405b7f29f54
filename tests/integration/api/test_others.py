"""Pools, subscriptions, alerts, the archive and the documentation."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import archiving
from bobusang.kit.db import Duplicate
from bobusang.platform import deliveries
from bobusang.platform.alerting import raise_alert, settle_alerts
from bobusang.platform.bus import Event, publish
from bobusang.platform.notifier import Level, Notice
from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    import pytest

    from tests.integration.api.door import Door


async def test_a_pool_is_limited_blocked_and_resumed_and_each_is_written_down(door: Door) -> None:
    made = await door.admin.put("/queues/pools/host:okmall", json={"rate": 2.5, "burst": 5, "max_in_flight": 3})
    shown = ("pool", "rate", "burst", "tokens", "max_in_flight", "in_flight", "is_blocked", "is_halted", "waits")
    assert {name: made.json()[name] for name in shown} == {
        "pool": "host:okmall",
        "rate": 2.5,
        "burst": 5,
        "tokens": 5,
        "max_in_flight": 3,
        "in_flight": 0,
        "is_blocked": False,
        "is_halted": False,
        "waits": None,
    }
    await door.operator.post("/queues/pools/host:okmall/block", json={"reason": "점검"})
    resumed = await door.operator.post("/queues/pools/host:okmall/resume")
    assert (resumed.json()["is_blocked"], resumed.json()["reason"], resumed.json()["rate"]) == (False, None, 2.5)
    acts = (await door.get("/audit", subject_type="pool", subject_id="host:okmall"))["items"]
    assert [(act["action"], act["actor"]) for act in acts] == [
        ("pool.resume", "the operator"),
        ("pool.block", "the operator"),
        ("pool.set", "the admin"),
    ]
    assert (acts[2]["before"], acts[2]["after"]) == (None, {"rate": 2.5, "burst": 5.0, "max_in_flight": 3})
    assert acts[1]["before"]["rate"] == 2.5


async def test_a_subscription_shows_its_secret_once_and_its_backlog_always(door: Door) -> None:
    body = {"name": "가게", "topics": "job.*", "url": "https://shop.example/hook"}
    made = (await door.admin.post("/subscriptions", json=body)).json()
    assert made["secret"].startswith("whsec_")
    clash = await door.admin.post("/subscriptions", json=body)
    assert (clash.status_code, clash.json()["code"]) == (409, "duplicate")
    assert "UNIQUE" not in clash.text
    path = f"/subscriptions/{made['id']}"

    lines = (await door.get("/subscriptions"))["items"]
    mine = next(one for one in lines if one["id"] == made["id"])
    assert {name: mine[name] for name in ("name", "topics", "url", "state", "pending", "dead")} == body | {
        "state": "ACTIVE",
        "pending": 0,
        "dead": 0,
    }
    assert made["secret"] not in str(lines)
    paused = await door.admin.post(f"{path}/pause", json={"reason": "이사"})
    assert (paused.json()["state"], paused.json()["paused_reason"]) == ("PAUSED", "이사")
    assert (await door.admin.post(f"{path}/pause")).json()["paused_reason"] == "paused by hand"
    assert (await door.admin.post(f"{path}/resume")).json()["state"] == "ACTIVE"
    assert (await door.get(f"{path}/dead-letters")) == {"items": [], "next": None}
    assert (await door.admin.post(f"{path}/redrive", json={})).json() == {"redriven": 0}
    acts = (await door.get("/audit", subject_type="subscription"))["items"]
    assert made["secret"] not in str(acts)
    assert (await door.admin.delete(path)).status_code == 204
    assert (await door.admin.delete(path)).status_code == 404


async def test_alerts_are_listed_while_they_last_and_afterwards(door: Door) -> None:
    notices = [Notice(f"halted:{pool}", Level.CRITICAL, f"{pool} 멈춤", "a bot wall 🧱") for pool in ("a", "b")]
    await door.app.engine.db.transact(lambda tx: raise_alert(tx, *notices))
    await door.app.engine.db.transact(lambda tx: settle_alerts(tx, ["halted:a"]))

    async def titles(**query: str) -> list[str]:
        return [alert["title"] for alert in (await door.get("/alerts", **query))["items"]]

    assert await titles() == ["b 멈춤", "a 멈춤"]
    assert await titles(open="true") == ["b 멈춤"]
    assert await titles(open="false") == ["a 멈춤"]


async def test_old_jobs_are_found_in_the_archive(door: Door) -> None:
    shop = Workshop(door.app.engine)
    await door.workflow("장터")
    old = await door.job("장터", input={"page": 1})
    await shop.drain(handler="echo")
    await shop.do(lambda tx: archiving.archive(tx, tx.now + timedelta(seconds=1)))

    gone = await door.viewer.get(f"/jobs/{old}")
    assert (gone.status_code, gone.json()["hint"]) == (404, "one that ended long ago is in the archive")
    (line,) = (await door.get("/jobs/archive", workflow="장터"))["items"]
    assert (line["id"], line["status"], line["workflow"]) == (old, "SUCCESS", "장터")
    one = await door.get(f"/jobs/archive/{old}")
    assert one == line
    assert one["step_results"]["work"]["succeeded"] == 1
    assert (await door.viewer.get("/jobs/archive/999999")).status_code == 404


async def test_a_definition_can_be_checked_without_being_stored(small: Door) -> None:
    body = {"workflow": "shop", "steps": [{"name": "work", "type": "FETCH", "handler": "echo"}]}

    checked = await small.viewer.post("/workflows/check", json=body)

    assert (checked.status_code, checked.json()["name"], checked.json()["steps"]) == (200, "shop", 1)
    assert (await small.get("/workflows"))["items"] == []


async def test_who_comes_second_with_the_same_thing_finds_the_first(
    small: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two callers at the same moment: the second's insert is refused, and its second look finds the job."""
    await small.workflow()
    first = await small.job(key="same")
    transact = small.app.engine.db.transact
    refused: list[bool] = []

    async def unlucky(work: object) -> object:
        if not refused:
            refused.append(True)
            raise Duplicate("UNIQUE constraint failed: crawling_jobs.dedup_key")
        return await transact(work)  # type: ignore[arg-type]

    monkeypatch.setattr(small.app.engine.db, "transact", unlucky)
    answer = await small.operator.post("/jobs", json={"workflow": "shop", "key": "same"})

    assert (answer.status_code, answer.json()) == (200, {"id": first, "created": False})


def test_the_documentation_names_every_operation_once_and_says_what_a_problem_is(small: Door) -> None:
    schema = small.api.openapi()
    operations = [one for path in schema["paths"].values() for one in path.values()]

    assert len({one["operationId"] for one in operations}) == len(operations)
    assert [one["operationId"] for one in operations if not (one.get("summary") and one.get("tags"))] == []
    problem = schema["components"]["responses"]["422"]["content"]
    assert problem == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    assert schema["components"]["securitySchemes"]["API key"]["scheme"] == "bearer"
    assert {tag["name"] for tag in schema["tags"]} == {tag for one in operations for tag in one["tags"]}


async def test_dead_deliveries_are_listed_and_tried_again(door: Door) -> None:
    body = {"name": "gone", "topics": "*", "url": "https://gone.example/"}
    path = f"/subscriptions/{(await door.admin.post('/subscriptions', json=body)).json()['id']}"
    shop = Workshop(door.app.engine)
    await shop.do(lambda tx: publish(tx, *(Event("job.ended", f"job {id}", {"말": "🧺"}) for id in (1, 2, 3))))
    await shop.do(lambda tx: deliveries.route(tx, 10))
    await shop.do(lambda tx: deliveries.expire(tx, tx.now + timedelta(seconds=1), 10))

    first = await door.get(f"{path}/dead-letters", limit=2)
    rest = await door.get(f"{path}/dead-letters", limit=2, cursor=first["next"])
    dead = [*first["items"], *rest["items"]]
    assert [(one["key"], one["topic"], one["payload"]) for one in dead] == [
        (f"job {id}", "job.ended", {"말": "🧺"}) for id in (1, 2, 3)
    ]
    again = await door.admin.post(f"{path}/redrive", json={"events": [dead[1]["event_id"]]})
    assert again.json() == {"redriven": 1}
    assert [one["key"] for one in (await door.get(f"{path}/dead-letters"))["items"]] == ["job 1", "job 3"]
    (line,) = (await door.get("/subscriptions"))["items"]
    assert (line["pending"], line["dead"]) == (1, 2)
