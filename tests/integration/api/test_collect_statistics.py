"""Statistics and metrics of collecting, on all three databases: summed by day, and counted once however often asked."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.entry.api import fetch_metrics
from bobusang.entry.api.fetch_metrics import FetchTotals
from bobusang.kit.db import connect
from bobusang.stages.collect import counts, identities
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.policy import Identity, IdentityKind, Issue, Policy, Quota
from bobusang.testing.clock import ManualClock

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from tests.integration.api.door import Door

LIST = Place("mustit", "seller:럭스", "list", 7)
DETAIL = Place("mustit", "seller:럭스", "detail", 7)
OTHER = Place("okmall", "brand:x", "list", 8)


async def count(db: Database, *told: tuple[Place, Counts]) -> None:
    await db.transact(lambda tx: counts.add(tx, told))


async def shown(door: Door, **query: Any) -> list[tuple[str, str, int, int, float | None]]:
    """Target, endpoint, successes, retries and success rate, page by page."""
    found: list[tuple[str, str, int, int, float | None]] = []
    cursor = None
    while True:
        page = await door.get("/collect/statistics", limit=2, **query, **({"cursor": cursor} if cursor else {}))
        names = ("target", "endpoint", "success", "retries", "success_rate")
        found += [tuple(one[name] for name in names) for one in page["items"]]
        cursor = page["next"]
        if cursor is None:
            return found


async def test_fetches_are_summed_by_day_target_and_endpoint(door: Door) -> None:
    db = door.app.engine.db
    await count(db, (LIST, Counts(success=2, items=160, changed=3)), (OTHER, Counts(failure=1)))
    await count(db, (LIST, Counts(success=1, failure=1, retries=2)), (DETAIL, Counts(retries=1, throttled=4)))

    listed = ("seller:럭스", "list", 3, 2, 0.75)
    assert await shown(door) == [("seller:럭스", "detail", 0, 1, None), listed, ("brand:x", "list", 0, 0, 0.0)]
    assert await shown(door, source="okmall") == [("brand:x", "list", 0, 0, 0.0)]
    assert await shown(door, target="seller:럭스", source="mustit") == [("seller:럭스", "detail", 0, 1, None), listed]
    assert await shown(door, until="2020-01-31") == []
    wrong = await door.viewer.get("/collect/statistics", params={"since": "2026-02-01", "until": "2026-01-01"})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "since")


async def test_counters_grow_by_what_was_counted_and_by_nothing_else(url: str) -> None:
    clock = ManualClock()
    db = await connect(url, clock=clock)
    totals = FetchTotals()

    async def sums() -> tuple[int, int]:
        async with db.read() as tx:
            await totals.renew(tx)
        found = totals.sums.get(("mustit", "list"), Counts())
        return found.success, found.retries

    assert await sums() == (0, 0)
    await count(db, (LIST, Counts(success=2)))
    assert await sums() == (0, 0)  # another one may still be on its way
    clock.advance(seconds=16)
    assert await sums() == (2, 0)
    await count(db, (LIST, Counts(success=1, retries=5)))
    clock.advance(seconds=16)
    assert [await sums(), await sums()] == [(3, 5), (3, 5)]

    clock.advance(hours=20)
    await sums()
    day = date(2030, 1, 1)
    assert await db.transact(lambda tx: counts.fold(tx, day)) == 2
    await count(db, (LIST, Counts(success=10)))
    clock.advance(hours=20)
    assert await sums() == (13, 5)
    clock.advance(days=3)  # nobody has scraped for long: all is summed up again
    await db.transact(lambda tx: counts.fold(tx, day))
    clock.advance(seconds=16)
    assert await sums() == (13, 5)
    await db.close()


async def test_a_scrape_shows_fetches_held_writes_and_identities(url: str) -> None:
    clock = ManualClock()
    db = await connect(url, clock=clock)
    identity = Identity(IdentityKind.SESSION, size=3, issue=Issue(), quota=Quota(80, timedelta(hours=1)))
    await db.transact(lambda tx: identities.ensure(tx, "mustit", Policy(identity=identity), "agent"))
    await count(db, (DETAIL, Counts(success=4, not_modified=1, throttled=2, items=4, changed=3, bytes=900)))
    clock.advance(minutes=1)

    async with db.read() as tx:
        families = await fetch_metrics.families(tx, FetchTotals())
    await db.close()
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
        if sample.value
    }
    assert found == {
        ("bobusang_fetches_total", "mustit", "detail", "success"): 4,
        ("bobusang_fetches_total", "mustit", "detail", "not_modified"): 1,
        ("bobusang_fetches_total", "mustit", "detail", "throttled"): 2,
        ("bobusang_collect_items_total", "mustit", "detail"): 4,
        ("bobusang_collect_changes_total", "mustit", "detail"): 3,
        ("bobusang_collect_bytes_total", "mustit", "detail"): 900,
        ("bobusang_identities", "mustit", "IDLE"): 3,
    }
