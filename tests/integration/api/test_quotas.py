"""What the screen tells of schedules, sellers and quotas, on every database."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import insert

from bobusang.catalog import sellers as catalog
from bobusang.catalog.sellers import NewSeller
from bobusang.engine.calendar.misfire import Decision
from bobusang.engine.tables import schedule_fires
from bobusang.entry.api.sources import policies
from bobusang.stages.collect import counts
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.register import ledger
from bobusang.stages.register.market import Family
from bobusang.views import quotas, schedules, sellers
from bobusang.views.quotas import Bucket, Quota
from bobusang.views.sellers import SellerFilter
from tests.integration.api.test_accounts import add
from tests.integration.api.test_identities import mustit

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront


async def test_the_last_fires_of_several_schedules_are_read_at_once(door: Door) -> None:
    await door.workflow()
    form = {"workflow": "shop", "cron": "0 3 * * *"}
    ids = [(await door.operator.post("/schedules", json={"name": name, **form})).json()["id"] for name in "ab"]

    async def fired(tx: Tx) -> None:
        for hours in range(schedules.LAST + 5):
            values = {"schedule_id": ids[0], "fire_at": tx.now - timedelta(hours=hours), "decision": "SKIP"}
            await tx.execute(insert(schedule_fires).values(**values, created_at=tx.now))

    await door.app.engine.db.transact(fired)
    ran = (await door.operator.post(f"/schedules/{ids[1]}/run")).json()["job_id"]

    async with door.app.engine.db.read() as tx:
        found = await schedules.last_fires(tx, ids)
        first, second = await schedules.one(tx, ids[0]), await schedules.one(tx, ids[1])
        none = await schedules.last_fires(tx, [])

    assert (found, none) == ({ids[0]: first.fires, ids[1]: second.fires}, {})
    assert len(found[ids[0]]) == schedules.LAST
    assert [(one.decision, one.job_id) for one in found[ids[1]]] == [(Decision.START, ran)]


async def test_market_budgets_of_all_accounts(door: Door) -> None:
    await add(door)
    (account,) = (await door.get("/accounts"))["items"]
    families = [Family.PRODUCT] * 30 + [Family.STOCK] * 10
    await door.app.engine.db.transact(lambda tx: ledger.book(tx, account["id"], families))

    async with door.app.engine.db.read() as tx:
        (found,) = await quotas.markets(tx)

    assert (found.market, found.account, found.enabled) == ("buyma", "main", True)
    assert found.day == Quota(used=30, limit=2500, seconds=86400.0, pace=15.0, runs_out_at=None)
    assert found.hour == Quota(used=40, limit=5000, seconds=3600.0, pace=20.0, runs_out_at=None)


async def test_a_pool_runs_out_when_calls_come_faster_than_they_are_given_back(door: Door) -> None:
    """MustIt gives 80 calls an hour to each of 20 identities: 5 of them at once, 75 an hour come back."""
    await mustit(door)
    place = Place("mustit", "seller:a", "list", 1)
    calls = Counts(success=5000, throttled=40, failure=8)
    await door.app.engine.db.transact(lambda tx: counts.add(tx, [(place, calls)]))

    async with door.app.engine.db.read() as tx:
        (pool,) = await quotas.pools(tx, policies(door.app))
        now = tx.now

    whole = Bucket(left=100, most=100, refill=pool.bucket.refill if pool.bucket else 0)
    assert (pool.bucket, pool.quota_calls, pool.quota_seconds) == (whole, 80, 3600.0)
    assert round(whole.refill) == 1500
    assert (pool.pace, pool.throttled, pool.failed) == (2524.0, 40, 8)
    assert pool.runs_out_at is not None
    assert timedelta(minutes=5) < pool.runs_out_at - now < timedelta(minutes=6)
    assert [one.bucket and one.bucket.most for one in pool.members] == [5] * 20


async def test_grades_and_products_of_sellers(door: Door) -> None:
    async def added(tx: Tx) -> tuple[int, int]:
        graded = await catalog.create(tx, NewSeller("mustit", "luxboy"))
        await catalog.set_quality(tx, graded, {"score": 90.0, "items": 3})
        return graded, await catalog.create(tx, NewSeller("mustit", "new"))

    graded, new = await door.app.engine.db.transact(added)

    async with door.app.engine.db.read() as tx:
        assert await sellers.grades(tx, [graded, new]) == {graded: {"score": 90.0, "items": 3}}
        assert await sellers.grades(tx, []) == {}
        assert await sellers.products(tx, "mustit", "luxboy") == 0
        assert [one.id for one in await sellers.listed(tx, SellerFilter(ids=[new]), None, 10)] == [new]


async def test_whether_a_source_answers_is_noted(front: Shopfront) -> None:
    door = front.door

    answer = await door.operator.post("/sources/okmall/test")
    missing = await door.operator.post("/sources/nowhere/test")
    refused = await door.viewer.post("/sources/okmall/test")

    told = answer.json()
    assert (answer.status_code, missing.status_code, refused.status_code) == (200, 404, 403)
    assert told == {
        "source": "okmall",
        "url": f"{front.sandbox.url}/okmall/robots.txt",
        "status": 200,
        "error": None,
        "robots": told["robots"],
        "seconds": told["seconds"],
    }
    assert (await door.get("/sources/okmall"))["robots"]["standing"] == told["robots"]
