"""The claim finds its events by their index: no database may walk over what waits for other keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.sql import Dialect, Statement
from bobusang.platform import deliveries
from bobusang.platform.bus import Event, publish
from bobusang.platform.buses.inprocess import InProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Database
    from tests.integration.platform.manual import ManualClock

EXPLAIN = {Dialect.SQLITE: "explain query plan ", Dialect.POSTGRES: "explain ", Dialect.MARIADB: "explain "}
WALKS = ("Seq Scan on deliveries", "Seq Scan on delivery_keys", "SCAN d", "SCAN k", "deliveries_pkey", "deliveries_1")


@pytest.fixture
async def full(db: Database) -> Database:
    bus = InProcess()

    async def consume(events: Sequence[Event]) -> None:
        raise AssertionError

    bus.subscribe("s", "*", consume)
    await bus.install(db)
    async with db.begin() as tx:
        await publish(tx, *(Event("t", f"key{n % 1000}", n) for n in range(4000)))
        await publish(tx, *(Event("t", "busy", n) for n in range(2000)))
    while (await db.transact(lambda tx: deliveries.route(tx, 2000)))[0]:
        pass
    if db.dialect is Dialect.POSTGRES:
        async with db.begin() as tx:
            await tx.execute(Statement("analyze"))
    return db


@pytest.mark.parametrize(
    ("statement", "params", "index"),
    [
        (deliveries._DUE, {"run": 20, "limit": 100}, "ix_delivery_keys_due"),
        (deliveries._DUE, {"run": 20, "limit": 100}, "ix_deliveries_order"),
        (deliveries._NEXT_OF_ONE, {"key": "busy", "limit": 100}, "ix_deliveries_order"),
        (deliveries._NEXT_OF_MANY, {"keys": [f"key{n}" for n in range(50)], "limit": 100}, "ix_deliveries_order"),
    ],
)
async def test_the_claim_uses_its_indexes(
    full: Database, clock: ManualClock, statement: Statement, params: dict[str, Any], index: str
) -> None:
    text, arguments = statement.bind(full.dialect, params | {"subscription": 1, "now": clock.now()})
    async with full.read() as tx:
        plan = await tx._fetch(EXPLAIN[full.dialect] + text, arguments)
    words = "\n".join(" ".join(str(value) for value in dict(row).values()) for row in plan)  # type: ignore[call-overload]
    assert index in words
    assert [walk for walk in WALKS if walk in words] == []
    if full.dialect is Dialect.MARIADB:
        assert [row["type"] for row in plan if row["type"] in {"ALL", "index"}] == []
