"""Collecting through the API: runs once for a key, only from what is enabled, with their proof."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.collect import counts, runs
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.model import Run, RunMode, RunState, Summary
from tests.integration.api.test_pages import turned

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront

TIMES = ("started_at", "closed_at", "seconds")


async def ran(door: Door, job_id: int, source: str = "okmall", mode: RunMode = RunMode.FULL, **ended: Any) -> None:
    """A run by hand, closed after 90 seconds where it says how it ended."""

    async def work(tx: Tx) -> None:
        run = Run(job_id, source, f"brand:{job_id % 2}", mode, 3, tx.now)
        await runs.opened(tx, run)
        if ended:
            closed = replace(run, closed_at=tx.now + timedelta(seconds=90), pages_read=4, **ended)
            await runs.close(tx, Summary(closed, missed=3, absent=1), expected=5)

    await door.app.engine.db.transact(work)


def timeless(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name not in TIMES}


async def test_runs_are_listed_newest_first_and_filtered(door: Door) -> None:
    await ran(door, 1, state=RunState.PROVED, listed=4, total=4)
    await ran(door, 2, state=RunState.UNPROVED, listed=1, total=3, reason="page 2 was not read")
    await ran(door, 3, mode=RunMode.PARTIAL)
    await ran(door, 4, source="mustit")

    pages = await turned(door, "/collect/runs", limit=3)

    assert [[run["job_id"] for run in page] for page in pages] == [[4, 3, 2], [1]]
    for query, wanted in (
        ({"source": "okmall"}, [3, 2, 1]),
        ({"target": "brand:1"}, [3, 1]),
        ({"state": "open", "source": "okmall"}, [3]),
        ({"state": "UNPROVED"}, [2]),
        ({"mode": "partial"}, [3]),
        ({"source": "nobody"}, []),
    ):
        assert [run["job_id"] for run in (await door.get("/collect/runs", **query))["items"]] == wanted


async def test_a_run_tells_its_coverage_its_reason_and_its_fetches(door: Door) -> None:
    await ran(door, 7, state=RunState.UNPROVED, listed=1, total=3, held=2, reason="page 2 was not read")
    place = Place("okmall", "brand:1", "list", 7)
    told = [(place, Counts(success=2, items=1)), (place, Counts(failure=1, retries=2, bytes=9))]
    await door.app.engine.db.transact(lambda tx: counts.add(tx, told))

    found = await door.get("/collect/runs/7")

    assert timeless(found) == {
        "job_id": 7,
        "source": "okmall",
        "target": "brand:1",
        "mode": "FULL",
        "state": "UNPROVED",
        "status": None,
        "reason": "page 2 was not read",
        "tripped": None,
        "known": 3,
        "listed": 1,
        "total": 3,
        "coverage": 0.3333,
        "pages_read": 4,
        "pages_expected": 5,
        "new": 0,
        "changed": 0,
        "held": 2,
        "missed": 3,
        "absent": 1,
        "held_open": 0,
        "endpoints": [
            {
                "endpoint": "list",
                "success": 2,
                "failure": 1,
                "retries": 2,
                "throttled": 0,
                "not_modified": 0,
                "items": 1,
                "changed": 0,
                "bytes": 9,
            }
        ],
    }
    assert found["seconds"] == 90.0
    missing = await door.viewer.get("/collect/runs/8")
    assert (missing.status_code, missing.json()["detail"]) == (404, "job 8 has collected nothing")


async def test_a_source_that_is_off_is_refused_with_what_to_do(small: Door) -> None:
    answers = [
        await small.operator.post("/collect", json={"source": "okmall", "keys": ["나이키(NIKE)"]}),
        await small.operator.post("/brands/collect", json={"mall": "okmall"}),
    ]

    for answer in answers:
        assert answer.status_code == 409
        assert answer.json()["detail"] == "okmall is off: nobody has decided that it may be collected"
        assert answer.json()["hint"] == '`bobusang source enable okmall --why "…"` says why it may be'
    assert (await small.get("/jobs"))["items"] == []


async def test_full_takes_all_and_partial_takes_nothing_new(front: Shopfront) -> None:
    door, brand = front.door, await front.brand(2)
    total = (await front.sandbox.world())["malls"]["okmall"][brand]
    async with door.working():
        full = await front.started({"source": "okmall", "keys": [brand]})
        assert (await door.ended(full))["status"] == "SUCCESS"
        partial = await front.started({"source": "okmall", "keys": [brand], "mode": "partial"})
        assert (await door.ended(partial))["job_type"] == "INCREMENTAL"

    first, second = await door.get(f"/collect/runs/{full}"), await door.get(f"/collect/runs/{partial}")
    proof = ("target", "mode", "state", "status", "listed", "total", "coverage", "new")
    assert [first[name] for name in proof] == [f"brand:{brand}", "FULL", "PROVED", "SUCCESS", total, total, 1.0, total]
    assert [second[name] for name in proof] == [f"brand:{brand}", "PARTIAL", "PROVED", "SUCCESS", total, total, 1.0, 0]
    assert {one["endpoint"]: one["items"] for one in first["endpoints"]} == {"list": total, "detail": total}
    assert [one["endpoint"] for one in second["endpoints"]] == ["list"]


async def test_a_second_start_with_the_same_key_is_the_first(front: Shopfront) -> None:
    door, body = front.door, {"source": "okmall", "keys": ["a", "b", "a"], "key": "2026-11-16"}

    first = await door.operator.post("/collect", json=body)
    again = await door.operator.post("/collect", json=body)
    wider = await door.operator.post("/collect", json=body | {"keys": ["b", "c" * 200]})
    header = await door.operator.post("/collect", json=body | {"key": None}, headers={"Idempotency-Key": "2026-11-16"})

    jobs = {one["target"]: one["job_id"] for one in first.json()["items"]}
    assert (first.status_code, first.json()["created"], list(jobs)) == (201, 2, ["brand:a", "brand:b"])
    for same in (again, header):
        assert (same.status_code, same.json()["created"]) == (200, 0)
        assert [one["job_id"] for one in same.json()["items"]] == list(jobs.values())
    assert [(one["job_id"] == jobs["brand:b"], one["created"]) for one in wider.json()["items"]] == [
        (True, False),
        (False, True),
    ]
    acts = (await door.get("/audit", subject_type="job"))["items"]
    assert [act["action"] for act in acts] == ["collect.start"] * 3


async def test_a_target_that_is_known_keeps_its_name_and_data(front: Shopfront) -> None:
    body = {"type": "brand", "key": "구찌(GUCCI)", "source": "okmall", "name": "구찌", "data": {"grade": "A"}}
    target = (await front.door.operator.post("/targets", json=body)).json()

    job = await front.started({"source": "okmall", "keys": ["구찌(GUCCI)"]})

    assert (await front.door.get(f"/jobs/{job}"))["target_id"] == target["id"]
    kept = await front.door.get(f"/targets/{target['id']}")
    assert (kept["name"], kept["data"]) == ("구찌", {"grade": "A"})


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ({"source": "okmall", "kind": "seller", "keys": ["x"]}, 422, "okmall is not collected by seller"),
        ({"source": "nix", "keys": ["x"]}, 404, "there is no source 'nix'"),
        ({"source": "okmall"}, 422, "body: needs keys, or accepted"),
        (
            {"source": "okmall", "keys": ["x"], "accepted": True},
            422,
            "body: needs either keys or accepted, which is about brands",
        ),
        ({"source": "okmall", "accepted": True}, 409, "no brand of okmall is accepted"),
        ({"source": "okmall", "keys": ["x"], "mode": "HALF"}, 422, "mode: should be 'FULL' or 'PARTIAL'"),
        ({"source": "news", "kind": "list", "keys": ["front"]}, 422, "news has nothing to ask for list:front"),
    ],
)
async def test_what_cannot_be_collected_is_refused_before_a_job_is_made(
    front: Shopfront, body: dict[str, Any], status: int, detail: str
) -> None:
    answer = await front.door.operator.post("/collect", json=body)

    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert (await front.door.get("/jobs"))["items"] == []


async def test_a_source_is_followed_and_its_marks_are_listed(front: Shopfront) -> None:
    body = {"source": "ownerclan", "key": "first"}
    first = await front.door.operator.post("/collect/sync", json=body)
    again = await front.door.operator.post("/collect/sync", json=body)
    off = await front.door.operator.post("/collect/sync", json={"source": "domeggook"})
    marks = await front.door.get("/collect/marks", source="ownerclan")
    acts = (await front.door.get("/audit", subject_type="job"))["items"]

    assert (first.status_code, again.status_code) == (201, 200)
    assert [one["target"] for one in first.json()["items"]] == ["list:all"]
    assert again.json() == {"created": 0, "items": [first.json()["items"][0] | {"created": False}]}
    assert (off.status_code, off.json()["detail"]) == (409, "domeggook has nothing to follow yet")
    assert marks == {"items": []}
    assert [act["action"] for act in acts] == ["collect.sync"]
