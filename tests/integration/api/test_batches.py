"""Batches through the API: started for accepted brands, shown by brand and stage, run again, cancelled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from bobusang.catalog.model import Review
from bobusang.engine.model import StepMode
from bobusang.engine.outcome import DONE, Fail, Outcome, Skip
from bobusang.entry.api.moving import Rates
from bobusang.flows.conveyor.model import BatchStatus, Mode
from bobusang.flows.conveyor.watching import BatchDetail
from bobusang.stages.collect import decisions
from bobusang.testing.workshop import Workshop, step
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from bobusang.engine.model import Task
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

NIKE, GUCCI = "나이키(NIKE)", "구찌(GUCCI)"
STEPS = (
    *(step(name, handler="work") for name in ("plan", "list", "item", "convert", "image", "price")),
    step("register", handler="work", mode=StepMode.BARRIER),
    step("close", handler="work", gather=True),
)
TIMES = ("started_at", "updated_at", "job_id")
NOON = datetime(2026, 1, 27, 12, tzinfo=UTC)


@dataclass(slots=True)
class Office:
    """An API whose mall has two accepted brands, and a conveyor that is turned by hand."""

    door: Door
    shop: Workshop

    async def start(self, **body: Any) -> Any:
        return await self.door.operator.post("/batches", json=body)

    async def started(self, **body: Any) -> str:
        answer = await self.start(**body)
        assert answer.status_code == 201, answer.text
        found: str = answer.json()["batch_id"]
        return found


async def office(door: Door) -> Office:
    async def work(tx: Tx) -> None:
        await decisions.decide(tx, "okmall", enabled=True, why="an agreement", by="me")
        names = [Proposal(NIKE, "나이키", "NIKE"), Proposal(GUCCI, "구찌", "GUCCI"), Proposal("프라다(PRADA)")]
        await brands.propose(tx, "okmall", names)
        known = await brands.listed(tx, "okmall")
        await brands.review(tx, [one.id for one in known if one.key in (NIKE, GUCCI)], Review.ACCEPTED)

    shop = Workshop(door.app.engine)
    await shop.do(work)
    await shop.workflow(*STEPS, workflow="conveyor", tolerance=1.0)
    await shop.enter()
    return Office(door, shop)


def mood(task: Task) -> Outcome:
    """Nike's picture is held, and Gucci's listing fails."""
    match task.run.target["key"], task.step.name:
        case "나이키(NIKE)", "image":
            return Skip("no picture")
        case "구찌(GUCCI)", "register":
            return Fail("no market")
    return DONE


def cell(stage: str, status: str = "DONE", **more: Any) -> dict[str, Any]:
    plain = {"item_count": 1, "error": None, "created": 1, "succeeded": 1, "skipped": 0, "failed": 0, "waiting": 0}
    return {"stage": stage, "status": status} | plain | more


async def test_a_batch_is_started_run_shown_and_run_again(door: Door) -> None:
    here = await office(door)
    answer = await here.start(mode="full")
    batch = answer.json()["batch_id"]
    both = [{"mall": "okmall", "brand": name} for name in (GUCCI, NIKE)]
    assert (answer.status_code, answer.json()["created"], answer.json()["busy"]) == (201, True, [])
    assert sorted(answer.json()["brands"], key=lambda one: one["brand"]) == sorted(both, key=lambda one: one["brand"])
    await here.shop.drain(mood)

    found = await door.get(f"/batches/{batch}")
    facts = ("batch_id", "mode", "status", "total_brands", "success_brands", "done", "left", "eta_seconds")
    assert [found[name] for name in facts] == [batch, "FULL", "FAILED", 2, 1, 14, 0, None]
    assert found["rate"] > 0
    stages = {
        one["brand"]: [{name: each[name] for name in each if name not in TIMES} for each in one["stages"]]
        for one in found["brands"]
    }
    pages: dict[str, Any] = {"created": 2, "succeeded": 2}
    nothing: dict[str, Any] = {"item_count": 0, "created": 0, "succeeded": 0}
    failed: dict[str, Any] = {"item_count": 0, "succeeded": 0, "failed": 1, "error": "no market"}
    assert stages == {
        GUCCI: [
            cell("COLLECT", **pages),
            *(cell(stage) for stage in ("CONVERT", "IMAGE", "PRICE")),
            cell("REGISTER", "ERROR", **failed),
        ],
        NIKE: [
            cell("COLLECT", **pages),
            cell("CONVERT"),
            cell("IMAGE", item_count=0, succeeded=0, skipped=1),
            cell("PRICE", **nothing),
            cell("REGISTER", **nothing),
        ],
    }

    causes = await door.get(f"/batches/{batch}/causes")
    assert [_told(one) for one in causes["failed"]] == [("REGISTER", "register", "no market", 1, 1)]
    assert [_told(one) for one in causes["left_out"]] == [("IMAGE", "image", "no picture", 1, 1)]
    of_nike = next(one["job_id"] for one in found["brands"] if one["brand"] == NIKE)
    assert await door.get(f"/batches/{batch}/causes", job=of_nike) == causes | {"failed": []}
    alone = await door.get(f"/batches/{batch}/comparison")
    assert (alone["before"], alone["seconds_before"], alone["new"], alone["gone"]) == (None, None, [], [])

    again = await door.operator.post(f"/batches/{batch}/retry")
    brand = {"mall": "okmall", "brand": GUCCI}
    assert again.json() == {"batch_id": batch, "tasks": 1, "brands": [brand], "busy": []}
    running = await door.get(f"/batches/{batch}")
    assert [running[name] for name in facts[2:7]] == ["RUNNING", 2, 1, 13, 1]
    assert running["eta_seconds"] > 0
    await here.shop.drain()
    assert (await door.get(f"/batches/{batch}"))["status"] == "COMPLETED"
    early = await door.operator.post(f"/batches/{batch}/retry", json={"stage": "price"})
    assert (early.status_code, early.json()["tasks"]) == (200, 2)
    await here.shop.drain()

    second = (await here.start(mode="full")).json()["batch_id"]
    await here.shop.drain(mood)
    found = await door.get(f"/batches/{second}/comparison")
    assert (found["batch"]["batch_id"], found["before"]["batch_id"]) == (second, batch)
    assert found["stages"][-1] == {"stage": "REGISTER", "items": 0, "failed": 1, "items_before": 2, "failed_before": 0}
    assert ([_told(one) for one in found["new"]], found["gone"]) == (
        [("REGISTER", "register", "no market", 1, 1)],
        [],
    )


def _told(cause: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cause[name] for name in ("stage", "step", "error", "count", "brands"))


async def test_what_cannot_run_is_refused_with_what_to_do(small: Door) -> None:
    here = await office(small)
    for body, status, detail, hint in (
        ({"brands": ["prada"]}, 404, "okmall: there is no brand 'prada'", "did you mean 프라다(PRADA)?"),
        ({"brands": ["프라다(PRADA)"]}, 409, "brand '프라다(PRADA)' of okmall is proposed, not accepted", None),
        ({"malls": ["mustit"]}, 409, "mustit is off: nobody has decided that it may be collected", None),
        ({"malls": ["nix"]}, 404, "there is no source 'nix'", None),
        (
            {"mode": "partial", "stages": ["image"]},
            422,
            "PARTIAL has no stage IMAGE",
            "it has COLLECT, PRICE, REGISTER",
        ),
        ({"limit": 0}, 422, "limit: should be greater than or equal to 1", None),
    ):
        answer = await here.start(**body)
        assert (answer.status_code, answer.json()["detail"]) == (status, detail)
        assert hint is None or answer.json()["hint"] == hint
    assert (await small.get("/batches"))["items"] == []
    assert (await small.viewer.post("/batches", json={})).status_code == 403
    assert (await small.viewer.get("/batches/20260127_01")).json()["detail"] == "there is no batch 20260127_01"


async def test_a_start_with_a_key_happens_once_and_is_written_down(door: Door) -> None:
    here = await office(door)

    first = await here.start(brands=["nike"], stages=["collect", "price"], limit=5, key="today")
    again = await here.start(brands=["nike"], stages=["collect", "price"], limit=5, key="today")

    assert (first.status_code, again.status_code) == (201, 200)
    assert (again.json()["batch_id"], again.json()["created"]) == (first.json()["batch_id"], False)
    (act,) = (await door.get("/audit", subject_type="batch"))["items"]
    assert (act["action"], act["actor"], act["subject_id"]) == ("batch.start", "the operator", first.json()["batch_id"])
    assert act["after"] == {"mode": "FULL", "brands": 1, "stages": ["COLLECT", "PRICE"], "limit": 5}
    shown = await door.get(f"/batches/{first.json()['batch_id']}")
    assert [one["stage"] for one in shown["brands"][0]["stages"]] == ["COLLECT", "PRICE"]


async def test_a_batch_is_cancelled_with_its_reason_and_resumed(door: Door) -> None:
    here = await office(door)
    batch = await here.started(brands=[NIKE])
    scraped = (await door.viewer.get("/metrics")).text
    assert 'bobusang_batch_brands{mode="FULL",stage="IMAGE",status="PENDING"} 1.0' in scraped
    busy = await here.start(mode="partial", brands=[NIKE])
    assert (busy.status_code, busy.json()["detail"]) == (409, "all 1 brands are in batches that are running")

    cancelled = await door.operator.post(f"/batches/{batch}/cancel", json={"why": "the wrong day"})
    assert cancelled.json() == {"batch_id": batch, "cancelled": 1}
    shown = await door.get(f"/batches/{batch}")
    assert shown["status"] == "FAILED"
    assert {one["error"] for one in shown["brands"][0]["stages"]} == {"cancelled: the wrong day"}
    retried = await door.operator.post(f"/batches/{batch}/retry")
    brand = {"mall": "okmall", "brand": NIKE}
    assert retried.json() == {"batch_id": batch, "tasks": 1, "brands": [brand], "busy": []}
    await here.shop.sweep()
    await here.shop.drain()
    assert (await door.get(f"/batches/{batch}"))["status"] == "COMPLETED"
    nothing = await door.operator.post(f"/batches/{batch}/retry")
    assert (nothing.status_code, nothing.json()["detail"]) == (409, f"batch {batch} has no stage in ERROR")
    acts = (await door.get("/audit", subject_type="batch"))["items"]
    assert [act["action"] for act in acts] == ["batch.retry", "batch.cancel", "batch.start"]


async def test_a_batch_is_paused_and_goes_on(door: Door) -> None:
    here = await office(door)
    batch = await here.started(brands=[NIKE, GUCCI])

    paused = await door.operator.post(f"/batches/{batch}/pause")
    assert paused.json() == {"batch_id": batch, "brands": 2}
    again = await door.operator.post(f"/batches/{batch}/pause")
    assert (again.status_code, again.json()["detail"]) == (409, f"all that is left of batch {batch} is paused already")
    await here.shop.sweep()
    await here.shop.drain()
    shown = await door.get(f"/batches/{batch}")
    assert (shown["status"], [one["is_paused"] for one in shown["brands"]]) == ("RUNNING", [True, True])

    resumed = await door.operator.post(f"/batches/{batch}/resume")
    assert resumed.json() == {"batch_id": batch, "brands": 2}
    nothing = await door.operator.post(f"/batches/{batch}/resume")
    assert (nothing.status_code, nothing.json()["detail"]) == (409, f"nothing of batch {batch} is paused")
    await here.shop.drain()
    assert (await door.get(f"/batches/{batch}"))["status"] == "COMPLETED"
    over = await door.operator.post(f"/batches/{batch}/pause")
    assert (over.status_code, over.json()["detail"]) == (409, f"batch {batch} is over: COMPLETED")
    acts = (await door.get("/audit", subject_type="batch"))["items"]
    assert [act["action"] for act in acts] == ["batch.resume", "batch.pause", "batch.start"]


async def test_a_batch_is_started_like_another(door: Door) -> None:
    here = await office(door)
    first = await here.started(brands=[NIKE], stages=["COLLECT", "PRICE"], limit=5)
    asked = {"mode": "FULL", "malls": ["okmall"], "brands": [NIKE], "stages": ["COLLECT", "PRICE"], "limit": 5}
    assert await door.get(f"/batches/{first}/asked") == asked
    await here.shop.drain()

    cloned = await door.operator.post(f"/batches/{first}/clone")

    assert (cloned.status_code, cloned.json()["brands"]) == (201, [{"mall": "okmall", "brand": NIKE}])
    assert await door.get(f"/batches/{cloned.json()['batch_id']}/asked") == asked
    whole = await here.started(brands=[GUCCI])
    assert await door.get(f"/batches/{whole}/asked") == asked | {"brands": [GUCCI], "stages": [], "limit": None}


async def test_batches_are_listed_newest_first_and_filtered(small: Door) -> None:
    here = await office(small)
    first = await here.started(brands=[NIKE])
    await here.shop.drain()
    second = await here.started(mode="partial", brands=[GUCCI])
    third = await here.started(brands=[NIKE])

    pages = await turned(small, "/batches", limit=2)

    assert [[one["batch_id"] for one in page] for page in pages] == [[third, second], [first]]
    for query, wanted in (
        ({"mode": "partial"}, [second]),
        ({"status": "running"}, [third, second]),
        ({"status": "COMPLETED"}, [first]),
    ):
        assert [one["batch_id"] for one in (await small.get("/batches", **query))["items"]] == wanted


@pytest.mark.parametrize(
    ("looks", "rate"),
    [
        ([(60, 120)], 120.0),
        ([(60, 120), (70, 240)], 205.7),
        ([(60, 120), (90, 150), (130, 1150)], 882.9),
        ([(60, 120), (121, 120)], 0.0),
    ],
)
def test_the_rate_is_that_of_the_last_minute_of_looking(looks: list[tuple[int, int]], rate: float) -> None:
    rates, found = Rates(), 0.0
    for seconds, done in looks:
        now = NOON + timedelta(seconds=seconds)
        found = rates.of(detail(seconds, done), now)
    assert found == rate


def detail(seconds: float, done: int) -> BatchDetail:
    return BatchDetail(
        id=1,
        batch_id="20260127_01",
        mode=Mode.FULL,
        status=BatchStatus.RUNNING,
        start_time=NOON,
        end_time=None,
        total_brands=1,
        success_brands=0,
        seconds=seconds,
        done=done,
        left=0,
        brands=[],
    )
