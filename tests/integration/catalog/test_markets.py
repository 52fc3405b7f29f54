"""What markets and models say of records, found by market, state, age and score."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import markets
from bobusang.catalog.markets import Offered, Scored, Sync, Totals
from bobusang.kit.errors import Invalid, Missing
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON
from tests.integration.catalog.looking import rows

if TYPE_CHECKING:
    from bobusang.kit.db import Database


@pytest.fixture
async def ids(db: Database) -> list[int]:
    _, written = await collect(db, *(reading(key, price=1) for key in "ABCD"))
    return list(written.ids)


def info(status: str, *, hours: int | None = None, **more: Any) -> dict[str, Any]:
    """A market's word on a listing, last synced so many hours before noon."""
    synced = {} if hours is None else {"last_sync": (NOON - timedelta(hours=hours)).isoformat()}
    return {"status": status, **synced, **more}


async def test_records_are_found_by_market_state_and_age(db: Database, ids: list[int]) -> None:
    a, b, c, d = ids
    said = [
        Sync(a, "buyma", info("active", hours=7, price=15_000, listing_id="L1")),
        Sync(b, "buyma", info("active", hours=5)),
        Sync(c, "buyma", info("suspended")),
        Sync(d, "coupang", info("active", hours=100)),
    ]
    await db.transact(lambda tx: markets.set_market_data(tx, said))

    async with db.read() as tx:
        every = await markets.by_market(tx, "buyma")
        rest = await markets.by_market(tx, "buyma", after=a)
        active = await markets.active_in_market(tx, "buyma")
        stale = await markets.needs_price_update(tx, "buyma", now=NOON)
        staler = await markets.needs_price_update(tx, "buyma", now=NOON, older_than=timedelta(hours=4))
        totals = await markets.totals_by_market(tx)

    assert said[0].info is not None
    assert every[0] == Offered(a, "okmall", "A", 1, said[0].info, NOON - timedelta(hours=7))
    assert [[one.record_id for one in found] for found in (every, rest, active, stale, staler)] == [
        [a, b, c],
        [b, c],
        [a, b],
        [c, a],
        [c, a, b],
    ]
    assert stale[0].last_sync is None
    assert totals == [Totals("buyma", 3, {"active": 2, "suspended": 1}), Totals("coupang", 1, {"active": 1})]


async def test_a_market_speaks_for_itself_alone(db: Database, ids: list[int]) -> None:
    a = ids[0]
    for said in (
        [Sync(a, "buyma", info("active")), Sync(a, "coupang", info("active"))],
        [Sync(a, "buyma", info("suspended")), Sync(a, "coupang", None)],
    ):
        await db.transact(lambda tx, said=said: markets.set_market_data(tx, said))  # type: ignore[misc]

    assert await rows(db, f"select market_data from source_data where record_id = {a}") == [
        ({"buyma": {"status": "suspended"}},)
    ]
    async with db.read() as tx:
        assert await markets.totals_by_market(tx) == [Totals("buyma", 1, {"suspended": 1})]


async def test_records_are_found_by_quality(db: Database, ids: list[int]) -> None:
    a, b, c, _ = ids
    scores: dict[int, dict[str, Any]] = {
        a: {"quality_score": 0.9, "title": "x"},
        b: {"quality_score": 0.5},
        c: {"quality_score": 0.9},
    }
    await db.transact(lambda tx: markets.set_ai_data(tx, scores))
    await db.transact(lambda tx: markets.set_ai_data(tx, {a: {"keywords": ["coat"]}}))

    async with db.read() as tx:
        found = await markets.quality_above(tx, 0.6, limit=1)
        rest = await markets.quality_above(tx, found[-1].quality, after=found[-1].record_id)

    assert [*found, *rest] == [Scored(a, "okmall", "A", 1, 0.9), Scored(c, "okmall", "C", 1, 0.9)]
    assert await rows(db, f"select ai_data from source_data where record_id = {a}") == [
        ({"quality_score": 0.9, "title": "x", "keywords": ["coat"]},)
    ]


async def test_what_makes_no_sense_is_refused(db: Database, ids: list[int]) -> None:
    a = ids[0]
    wrong: list[dict[int, dict[str, Any]]] = [{a: {"quality_score": score}} for score in (1.5, "good", True)]
    for said in wrong:
        with pytest.raises(Invalid, match="no number from 0 to 1"):
            await db.transact(lambda tx, said=said: markets.set_ai_data(tx, said))  # type: ignore[misc]
    with pytest.raises(Invalid, match="'yesterday' is no instant"):
        await db.transact(lambda tx: markets.set_market_data(tx, [Sync(a, "buyma", {"last_sync": "yesterday"})]))
    with pytest.raises(Missing, match="no source record 999"):
        await db.transact(lambda tx: markets.set_market_data(tx, [Sync(999, "buyma", {})]))
