"""What analytics is made of, on each database: summed up by slots, compared with the period before, always bounded."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from bobusang.engine.tables import engine_history
from bobusang.flows.conveyor.tables import pipeline_batches
from bobusang.stages.price.tables import price_quotes
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Account
from bobusang.stages.register.tables import call_ledger, market_calls
from bobusang.views import analytics
from bobusang.views.analytics import PERIODS, Run, Waited

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx

STEPS = (
    '[{"name":"price","amount":null,"local":null,"basis":"x"},{"name":"margin","amount":null,"basis":"12.5% of it"}]'
)


async def filled(tx: Tx) -> None:
    now = tx.now
    account = await accounts.add(
        tx, Account(0, "buyma", "main", "2002003", "2002003", (369,), token_ref="env:A", secret_ref="env:B")
    )
    for back, value in ((timedelta(minutes=5), 4.0), (timedelta(days=1, minutes=5), 2.0), (timedelta(days=3), 9.0)):
        row = {"name": "throughput", "label": "REGISTER", "at": now - back, "value": value}
        await tx.execute(insert(engine_history).values(**row))
    for id, seconds in enumerate((60, 120, 600), 1):
        await tx.execute(insert(market_calls).values(**_call(id, account.id, now, seconds)))
    quote = {"product_id": 1, "sku": "a-1", "market": "buyma", "account": "main", "decision": "QUOTE"}
    more = {"reason": "no_rival", "currency": "JPY", "steps": STEPS, "rules": "1", "created_at": now}
    await tx.execute(insert(price_quotes).values(**quote, **more))
    batch = {
        "batch_id": "20261116_01",
        "run_mode": "FULL",
        "status": "COMPLETED",
        "start_time": now - timedelta(hours=2),
    }
    await tx.execute(insert(pipeline_batches).values(**batch, end_time=now - timedelta(hours=1)))
    slot = now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
    for at, family, calls in ((slot, "product", 3), (slot, "stock", 2), (slot - timedelta(hours=3), "product", 7)):
        await tx.execute(insert(call_ledger).values(account_id=account.id, slot=at, family=family, calls=calls))


def _call(id: int, account: int, now: datetime, seconds: int) -> dict[str, Any]:
    return {
        "id": id,
        "listing_id": id,
        "account_id": account,
        "run_id": "20261116_01",
        "kind": "CREATE",
        "family": "product",
        "urgency": 1,
        "path": "/",
        "payload": "{}",
        "draft": "{}",
        "state": "CONFIRMED",
        "due_at": now,
        "seen_at": now - timedelta(seconds=seconds),
        "confirmed_at": now,
        "created_at": now,
        "updated_at": now,
    }


async def test_a_day_is_summed_up_beside_the_one_before(db: Database) -> None:
    await db.transact(filled)

    async with db.read() as tx:
        found = await analytics.read(tx, PERIODS["day"])
        now = tx.now

    assert (len(found.measured.x), found.measured.total("throughput")) == (48, 4.0)
    assert found.measured.total("throughput", "REGISTER", before=True) == 2.0
    slot = int(now.timestamp()) // 7200 * 7200
    assert list(found.waited) == [Waited("main", slot, 120.0, 600.0, 3)]
    assert (found.slowest, found.margin, found.sent) == (600.0, 0.125, {"CREATE": {"CONFIRMED": 3}})
    assert list(found.runs) == [Run("20261116_01", "FULL", "COMPLETED", now - timedelta(hours=2), 3600.0)]
    calls = found.calls[0]
    assert (calls.account, calls.hour, calls.day, sum(calls.families["product"])) == ("main", 5, 10, 10)


async def test_a_week_has_what_the_days_have(db: Database) -> None:
    await db.transact(filled)

    async with db.read() as tx:
        found = await analytics.read(tx, PERIODS["week"])

    assert (len(found.measured.x), found.measured.total("throughput")) == (56, 15.0)


async def test_nothing_is_nothing(db: Database) -> None:
    async with db.read() as tx:
        found = await analytics.read(tx, PERIODS["hour"])

    assert (found.slowest, found.margin, found.calls, found.runs, found.measured.now) == (None, None, [], [], {})
