"""A live listing whose source nobody has seen is told, capped, then suspended, on each database; and comes back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.flows.conveyor.unseen import Watched, is_asked
from bobusang.flows.market import alarms
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import open_alerts
from bobusang.settings import load
from bobusang.stages.register.model import Caution, Policy
from bobusang.wiring.collecting import collector
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

COATS = [replace(WANTED, product_id=number, sku=f"okmall-{number}") for number in (1, 2, 3)]
PRODUCT = Statement("""
    insert into products (id, mall, product_id, name, url, listed, version, created_at, updated_at)
    values (:id, :mall, :key, 'x', 'https://x', true, 1, :now, :now)""")
SIGHT = Statement("""
    insert into source_seen (scope_id, record_id, last_seen_at, last_run, missed, missed_run, interval_seconds)
    values (1, :id, :at, 1, 0, 0, 3600)""")
AGAIN = Statement("update source_seen set last_seen_at = :at")
MARK = Statement("""
    insert into conveyor_marks (product_id, market, version, stamp, model, due_at, marked_at)
    values (1, 'buyma', 1, 'x', 'x', :now, :now)""")
CALLS = "select kind, run_id from market_calls where kind <> 'CREATE' order by id"


class Mall:
    """A shop with coats on sale, all of them seen at their malls now."""

    def __init__(self, desk: Desk, clock: ManualClock) -> None:
        self.desk, self.clock = desk, clock
        self.watched = Watched(desk.db, desk.register, "okmall".__eq__)

    @classmethod
    async def opened(
        cls, db: Database, clock: ManualClock, coats: int, policy: Policy | None = None, mall: str = "okmall"
    ) -> Mall:
        desk = await Desk.opened(db, policy)
        for coat in COATS[:coats]:
            said = {"id": coat.product_id, "key": str(coat.product_id), "mall": mall, "now": clock.now()}
            await db.transact(lambda tx, said=said: tx.execute(PRODUCT, **said))  # type: ignore[misc]
            await db.transact(lambda tx, id=coat.product_id: tx.execute(SIGHT, id=id, at=clock.now()))  # type: ignore[misc]
        await desk.go(*COATS[:coats])
        await desk.told()
        return cls(desk, clock)

    async def look(self, **passed: float) -> None:
        """Let time pass, look, and let the market do what it was told."""
        self.clock.advance(**passed)
        await self.watched.look(self.desk.account)
        await self.desk.told()

    async def seen(self, at: datetime) -> None:
        await self.desk.db.transact(lambda tx: tx.execute(AGAIN, at=at))

    async def alerts(self) -> dict[str, str]:
        await alarms.watch(self.desk.db, self.desk.register).run()
        return {one.key: one.title for one in await self.desk.db.transact(open_alerts)}

    def quantities(self) -> list[int]:
        return [one["order_quantity"] for one in self.desk.shop.products.values()]

    async def states(self) -> list[str]:
        return [row["state"] for row in await self.desk.rows("select state from listings order by id")]


TITLE = "buyma/main: nobody has seen the sources of 1 live listings for 48 h"


async def test_what_nobody_sees_is_told_then_capped_then_suspended_and_comes_back(
    db: Database, clock: ManualClock
) -> None:
    mall = await Mall.opened(db, clock, 1)
    await mall.look(hours=47)
    assert (await mall.alerts(), mall.quantities()) == ({}, [3])

    await mall.look(hours=2)
    await mall.look(hours=23)
    assert (await mall.alerts(), mall.quantities()) == ({"unseen_listings:buyma/main": TITLE}, [3])

    await mall.look(hours=1)
    assert (mall.quantities(), await mall.states()) == ([1], ["LIVE"])
    await mall.look(hours=1)
    assert len(await mall.desk.rows(CALLS)) == 1

    await mall.look(hours=215)
    assert (await mall.states(), await mall.alerts()) == (["SUSPENDED"], {})
    day = f"unseen {clock.now():%Y-%m-%d}"
    assert (await mall.desk.rows(CALLS))[1:] == [{"kind": "CLOSE", "run_id": day}]

    clock.advance(hours=1)
    await mall.seen(clock.now())
    await db.transact(lambda tx: tx.execute(MARK, now=clock.now()))
    await mall.look()
    assert await mall.desk.rows("select unseen_at from listings") == [{"unseen_at": None}]
    assert await mall.desk.rows("select * from conveyor_marks") == []
    await mall.desk.go(replace(COATS[0], seen_at=clock.now()))
    await mall.desk.told()
    assert (await mall.states(), mall.quantities()) == (["LIVE"], [3])


async def test_a_program_that_was_off_for_a_month_tells_first_and_has_time_to_look(
    db: Database, clock: ManualClock
) -> None:
    mall = await Mall.opened(db, clock, 1)
    await mall.look(days=30)
    assert (await mall.alerts(), mall.quantities()) == ({"unseen_listings:buyma/main": TITLE}, [3])

    await mall.seen(clock.now() + timedelta(hours=1))
    await mall.look(hours=24)
    assert (await mall.alerts(), mall.quantities(), await mall.desk.rows(CALLS)) == ({}, [3], [])


async def test_a_mall_that_falls_silent_closes_no_shop_without_a_person(db: Database, clock: ManualClock) -> None:
    mall = await Mall.opened(db, clock, 3, Policy(caution=Caution(closed=10, few=1)))
    await mall.look(hours=49)
    await mall.look(hours=240)

    assert set(await mall.states()) == {"LIVE"}
    assert await mall.desk.rows("select distinct guard, state from listing_holds") == [
        {"guard": "closed", "state": "HELD"}
    ]
    assert set(await mall.alerts()) == {"unseen_listings:buyma/main", "market_holds:buyma/main"}

    [hold, *_] = await mall.desk.rows("select id from listing_holds order by listing_id")
    await db.transact(lambda tx: mall.desk.register.decide_hold(tx, hold["id"], approve=True, who="kim"))
    await mall.look(hours=1)
    assert await mall.states() == ["SUSPENDED", "LIVE", "LIVE"]


async def test_what_is_asked_for_is_told_from_what_comes_by_itself(db: Database, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "shop.yaml").write_text("shop: nothing", "utf-8")
    shelf = collector(load({}, home=str(tmp_path), shops=str(tmp_path)), db)

    found = {name: is_asked(shelf, name) for name in ("okmall", "broken", "acme", "nobody's")}
    await shelf.close()

    assert found == {"okmall": True, "broken": True, "acme": False, "nobody's": False}


async def test_what_a_supplier_sends_by_himself_has_no_day_on_which_it_is_due(db: Database, clock: ManualClock) -> None:
    mall = await Mall.opened(db, clock, 1, mall="a supplier's file")
    await mall.look(days=30)

    assert (await mall.alerts(), await mall.desk.rows("select unseen_at from listings")) == ({}, [{"unseen_at": None}])
