"""Every list of products walks an index in its order, whatever it is filtered by, on all three databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.flows.catalogue import upserting
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement, bind_core
from bobusang.views import products
from bobusang.views.product_lists import ProductFilter, Sort, ranged
from tests.integration.catalog.test_plans import ANALYZE, filled, plan
from tests.integration.engine.test_plans import EXPLAIN, READ, Plan

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database

__all__ = ["filled"]

ADDRESSED = Statement(
    "update products set url = 'https://mall.example/' || id",
    mariadb="update products set url = concat('https://mall.example/', id)",
)

WALKS: dict[str, tuple[ProductFilter, tuple[Sort, ...]]] = {
    "all": (ProductFilter(), tuple(Sort)),
    "price": (ProductFilter(min_price=10, max_price=1_000_000), (Sort.PRICE, Sort.DEAREST)),
    "since": (ProductFilter(changed_since=datetime(2020, 1, 1, tzinfo=UTC)), (Sort.CHANGED,)),
    "mall": (ProductFilter(mall="okmall"), (Sort.ID, Sort.NEWEST)),
    "brand": (ProductFilter(brand="NIKE"), (Sort.ID, Sort.NEWEST)),
    "brand of a mall": (ProductFilter(mall="okmall", brand="NIKE"), (Sort.ID, Sort.NEWEST)),
    "seller of a mall": (ProductFilter(mall="okmall", seller="x"), (Sort.ID, Sort.NEWEST)),
    "key": (ProductFilter(mall="okmall", product_id="A7"), (Sort.ID,)),
}
PLACES = {Sort.PRICE: (700, 7), Sort.DEAREST: (700, 7), Sort.CHANGED: (1_900_000_000_000_000, 7)}


@pytest.fixture
async def loaded(filled: str) -> AsyncIterator[Database]:
    """Products that have addresses, each its own, as the database then knows them."""
    db = await connect(filled)
    await db.transact(lambda tx: tx.execute(ADDRESSED))
    async with db.read() as tx:
        await tx.fetch(ANALYZE)
    yield db
    await db.close()


async def walk(db: Database, wanted: ProductFilter, sort: Sort, after: tuple[int, int] | None) -> Plan:
    query, rest = ranged(wanted, sort, after)
    assert rest is None
    async with db.read() as tx:
        text, arguments = bind_core(query.limit(50), tx.dialect)
        rows = await tx._fetch(EXPLAIN[tx.dialect] + text, arguments)
    return READ[db.dialect]([dict(row) for row in rows])  # type: ignore[call-overload]


async def test_every_walk_goes_by_index_and_is_not_sorted(loaded: Database) -> None:
    """The first page of all products walks an index from its end, which two of the databases call a scan."""
    slow: dict[Any, Plan] = {}
    for name, (wanted, sorts) in WALKS.items():
        for sort in sorts:
            for after in (None, PLACES.get(sort, (0, 7))):
                found = await walk(loaded, wanted, sort, after)
                if (found.scans and (wanted, after) != (ProductFilter(), None)) or (found.sorts and name != "key"):
                    slow[name, sort, after] = found

    assert slow == {}


async def test_what_writes_and_shows_products_goes_by_index(loaded: Database) -> None:
    read_whole = {}
    for statement, params in (
        (products.ONE, {"id": 7}),
        (upserting.BY_URL, {"urls": ["https://mall.example/7"]}),
        (upserting.KNOWN, {"mall": "okmall", "keys": ["A7"]}),
    ):
        found = (await plan(loaded, statement, params)).scans - {"sellers"}  # there are none here
        if found:
            read_whole[statement.rendered(loaded.dialect).text] = found

    assert read_whole == {}
