"""A batch of listings is found by its products, not by reading all listings in the order of their ids; forged webhooks
are found among all that came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from bobusang.kit.db import connect
from bobusang.kit.sql import Bulk, Dialect, Statement
from bobusang.stages.register import inbox, listings, mirroring
from bobusang.stages.register.tables import listings as table
from bobusang.stages.register.tables import webhook_inbox
from bobusang.testing.clock import NOON
from tests.integration.engine.test_plans import EXPLAIN, READ, Plan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from bobusang.kit.db import Database

MANY = 2000
PRODUCTS = list(range(7, 1007, 100))
ANALYZE = Statement("analyze", mariadb="analyze table listings, webhook_inbox")
ROWS = Bulk(table, ("id", "account_id", "product_id", "sku", "state", "created_at", "updated_at"))
WEBHOOKS = Bulk(
    webhook_inbox, ("id", "account_id", "dedupe", "headers", "body", "genuine", "state", "note", "received_at")
)

KEY = "uq_listings_account_id_product_id_retired"
BY_PRODUCT = {
    Dialect.SQLITE: "sqlite_autoindex_listings_2",
    Dialect.POSTGRES: KEY,
    Dialect.MARIADB: KEY,
}


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
async def loaded(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    """Listings of one account; the database has studied them."""
    url = request.getfixturevalue(f"fresh_{request.param}")
    await migrations.upgrade(url)
    db = await connect(url)
    rows = [(n, 1, MANY - n, f"s{n}", "LIVE", NOON, NOON) for n in range(MANY)]
    hooks = [(n + 1, 1, f"{n}", "{}", b"", True, "APPLIED", "", NOON) for n in range(MANY)]
    await db.transact(lambda tx: tx.insert(ROWS, rows))
    await db.transact(lambda tx: tx.insert(WEBHOOKS, hooks))
    async with db.read() as tx:
        await tx.fetch(ANALYZE)
    yield db
    await db.close()


async def plan(db: Database, statement: Statement, params: dict[str, Any]) -> Plan:
    async with db.begin() as tx:
        text, arguments = statement.bind(tx.dialect, params)
        rows = await tx._fetch(EXPLAIN[tx.dialect] + text, arguments)
    return READ[db.dialect]([dict(row) for row in rows])  # type: ignore[call-overload]


async def test_listings_of_products_are_found_by_their_products(loaded: Database) -> None:
    """PostgreSQL was told not to sort in any transaction, and so read all listings for each batch of ten."""
    locked = await plan(loaded, listings.LOCK_PRODUCTS, {"account": 1, "products": PRODUCTS})
    mirrored = await plan(loaded, mirroring.LISTED, {"accounts": [1], "products": PRODUCTS})

    expected = BY_PRODUCT[loaded.dialect]
    assert [(one.indexes, one.scans) for one in (locked, mirrored)] == [(frozenset({expected}), frozenset())] * 2


async def test_forged_webhooks_are_found_without_reading_the_genuine_ones(loaded: Database) -> None:
    found = await plan(loaded, inbox.FORGED, {"account": 1, "limit": inbox.MOST_FORGED})

    assert (found.indexes, found.scans) == (frozenset({"ix_webhook_inbox_state"}), frozenset())
