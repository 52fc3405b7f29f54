"""Held writes through the API, on all three databases: seen with their evidence, approved or rejected, written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import records
from bobusang.stages.collect import held
from bobusang.stages.collect.guards import Guard, Held
from bobusang.stages.collect.held import Hold
from bobusang.stages.collect.model import Run, RunMode
from bobusang.testing.catalog import collect, reading

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

TARGET = "brand:나이키(NIKE)"


@pytest.fixture
async def ids(door: Door) -> list[int]:
    """Three held prices, the first of them the oldest."""
    db = door.app.engine.db
    await collect(db, *(reading(key, price=10_000) for key in "ABC"))

    async def hold(tx: Tx) -> None:
        run = Run(7, "okmall", TARGET, RunMode.FULL, 3, tx.now)
        for key in "ABC":
            (change,) = await records.compare(tx, [reading(key, price=1_000, raw_id=5)], groups={})
            why = Held(Guard.PRICE_JUMP, "price 10,000 → 1,000", ("price",))
            await held.hold(tx, [Hold(run, change, why)], {})

    await db.transact(hold)
    return [one["id"] for one in reversed((await door.get("/held"))["items"])]


async def prices(door: Door) -> dict[str, int]:
    return {one["key"]: one["price"] for one in (await door.get("/records", source="okmall"))["items"]}


async def decide(door: Door, path: str, **body: Any) -> dict[str, Any]:
    answer = await door.operator.post(path, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_held_write_shows_what_it_would_change_and_why(door: Door, ids: list[int]) -> None:
    found = await door.get(f"/held/{ids[0]}")
    names = ("source", "target", "key", "guard", "reason", "state", "readings", "raw_id", "stream", "reader", "diff")
    assert {name: found[name] for name in names} == {
        "source": "okmall",
        "target": TARGET,
        "key": "A",
        "guard": "price_jump",
        "reason": "price 10,000 → 1,000",
        "state": "HELD",
        "readings": 1,
        "raw_id": 5,
        "stream": "list",
        "reader": "okmall@1",
        "diff": [{"field": "price", "before": 10_000, "after": 1_000}],
    }
    assert (await door.viewer.get("/held/999999")).status_code == 404


async def test_one_is_approved_and_another_rejected_by_name(door: Door, ids: list[int]) -> None:
    approved = await decide(door, f"/held/{ids[0]}/approve")
    rejected = await decide(door, f"/held/{ids[1]}/reject")
    assert [(one["state"], one["decided_by"]) for one in (approved, rejected)] == [
        ("APPROVED", "the operator"),
        ("REJECTED", "the operator"),
    ]
    assert await prices(door) == {"A": 1_000, "B": 10_000, "C": 10_000}
    again = await door.operator.post(f"/held/{ids[0]}/reject")
    assert (again.status_code, again.json()["detail"]) == (
        409,
        f"held write {ids[0]} is APPROVED already by the operator",
    )
    acts = (await door.get("/audit", subject_type="held_write"))["items"]
    assert [(act["actor"], act["action"], act["subject_id"]) for act in acts] == [
        ("the operator", "held.reject", str(ids[1])),
        ("the operator", "held.approve", str(ids[0])),
    ]
    assert (await door.viewer.post(f"/held/{ids[2]}/approve")).status_code == 403


async def test_many_are_decided_by_filter_after_a_look(door: Door, ids: list[int]) -> None:
    empty = {"matched": 0, "decided": 0, "refused_count": 0, "refused": []}
    wanted = {"guard": "price_jump", "source": "okmall"}
    look = await decide(door, "/held/approve", filter=wanted, dry_run=True)
    assert look == {**empty, "matched": 3, "dry_run": True}
    assert await decide(door, "/held/approve", filter={"guard": "coverage"}) == {**empty, "dry_run": False}

    await collect(door.app.engine.db, reading("C", price=8_000, stream="detail"))
    done = await decide(door, "/held/approve", filter={"source": "okmall"})
    assert done == {
        "matched": 3,
        "decided": 2,
        "refused_count": 1,
        "refused": [{"id": ids[2], "reason": "price of okmall C is 8,000 now; it was 10,000 when this was held"}],
        "dry_run": False,
    }
    assert await prices(door) == {"A": 1_000, "B": 1_000, "C": 8_000}
    rejected = await decide(door, "/held/reject", filter={"target": TARGET})
    assert (rejected["matched"], rejected["decided"]) == (1, 1)
    assert (await door.get("/held"))["items"] == []


async def test_held_writes_are_listed_page_by_page_and_by_state(door: Door, ids: list[int]) -> None:
    first = await door.get("/held", limit=2)
    rest = await door.get("/held", limit=2, cursor=first["next"])
    assert [one["id"] for one in [*first["items"], *rest["items"]]] == ids[::-1]
    await decide(door, "/held/reject", filter={"key": "B"})
    assert [one["key"] for one in (await door.get("/held", state="rejected"))["items"]] == ["B"]
    assert (await door.get("/held", guard="mass_change"))["items"] == []
    wrong = await door.viewer.get("/held", params={"guard": "luck"})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "guard")
    assert (await door.operator.post("/held/approve", json={})).status_code == 422
