"""What is asked of a million records walks an index: nothing is read whole, and what is shown is not sorted."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from bobusang import migrations
from bobusang.catalog import comparing, history, markets, seen, writing
from bobusang.catalog.model import ChangeKind
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON
from tests.integration.engine.test_plans import EXPLAIN, READ, Plan
from tests.servers import mariadb as on_mariadb
from tests.servers import postgres as on_postgres
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from bobusang.kit.db import Database

MANY = 1500
TABLES = "source_records, source_data, field_changes, data_lineage, source_seen, seen_scopes, source_markets, products"
ANALYZE = Statement("analyze", mariadb=f"analyze table {TABLES}")
IDS = list(range(1, 51))
KEYS = [f"A{n}" for n in IDS]
PRODUCT = {"type": "supplier_product", "system": "okmall"}
RECORD = {**PRODUCT, "key": "A7"}

BATCHES: list[tuple[Statement, dict[str, Any]]] = [
    (comparing.KNOWN, {**PRODUCT, "keys": KEYS}),
    (comparing.FIELDS, {"ids": IDS}),
    (writing.LOCK, {"ids": IDS}),
    (writing.LEARNED, {"ids": IDS}),
    *(
        (seen.TOUCH[kind], {"now": NOON, "run": 9, "scope": 1, "ids": IDS, "least": 1, "most": 9})
        for kind in (ChangeKind.SAME, ChangeKind.CHANGED)
    ),
    (seen.STATES, {"scopes": [1], "ids": IDS}),
    (seen.LISTED, {"scope": 1, "run": 9, "ids": IDS}),
]
SHOWN: list[tuple[Statement, dict[str, Any]]] = [
    (history.VERSIONS, {**RECORD, "before": 99, "limit": 50}),
    (history.VERSION, {**RECORD, "version": 1}),
    (history.CHANGES, {"id": 7, "version": 2, "limit": 50}),
    (history.OF_FIELD, {"id": 7, "field": "price", "before": 99, "limit": 50}),
    (history.CHANGED_THEN, {"system": "okmall", "since": NOON, "after": 0, "limit": 50}),
    (history.CHANGED_LATER, {"system": "okmall", "since": NOON, "limit": 50}),
    (history.CAME_FROM, {"child": 7}),
    (markets.BY_MARKET, {"market": "buyma", "after": 0, "limit": 50}),
    (markets.BY_STATUS, {"market": "buyma", "status": "active", "after": 0, "limit": 50}),
    (markets.STALEST, {"market": "buyma", "before": NOON, "limit": 50}),
    (markets.QUALITY, {"score": 0.9, "limit": 50}),
    (markets.QUALITY_AFTER, {"score": 0.9, "after": 5, "limit": 50}),
]


async def fill(url: str) -> None:
    """Records of which each has changed once and each tenth is for sale; the database has studied them."""
    await migrations.upgrade(url)
    db = await connect(url)
    try:
        _, written = await collect(db, *(reading(f"A{n}", price=n, name=f"롱패딩 {n}" * 20) for n in range(MANY)))
        await collect(db, *(reading(f"A{n}", price=n + 1, name=f"롱패딩 {n}" * 20) for n in range(MANY)))
        said = [markets.Sync(id, "buyma", {"status": "active"}) for id in written.ids[::10]]
        await db.transact(lambda tx: markets.set_market_data(tx, said))
        scores = {id: {"quality_score": n % 100 / 100} for n, id in enumerate(written.ids)}
        await db.transact(lambda tx: markets.set_ai_data(tx, scores))
        async with db.read() as tx:
            await tx.fetch(ANALYZE)
    finally:
        await db.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres", "mariadb"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('plans') / 'bobusang.db'}"
        else:
            fresh = {"postgres": on_postgres.fresh, "mariadb": on_mariadb.fresh}[request.param]
            url = stack.enter_context(fresh(request.getfixturevalue(f"{request.param}_url")))
        wait_for(fill(url))
        yield url


@pytest.fixture
async def loaded(filled: str) -> AsyncIterator[Database]:
    db = await connect(filled)
    yield db
    await db.close()


async def plan(db: Database, statement: Statement, params: dict[str, Any]) -> Plan:
    """How a statement would be run by a door, which reads outside of a transaction."""
    async with db.read() as tx:
        text, arguments = statement.bind(tx.dialect, params)
        rows = await tx._fetch(EXPLAIN[tx.dialect] + text, arguments)
    return READ[db.dialect]([dict(row) for row in rows])  # type: ignore[call-overload]


async def test_a_batch_goes_by_index(loaded: Database) -> None:
    read_whole = {}
    for statement, params in BATCHES:
        found = (await plan(loaded, statement, params)).scans
        if found:
            read_whole[statement.rendered(loaded.dialect).text] = found

    assert read_whole == {}


async def test_what_is_shown_goes_by_index_and_is_not_sorted(loaded: Database) -> None:
    slow = {}
    for statement, params in SHOWN:
        found = await plan(loaded, statement, params)
        if found.scans or found.sorts:
            slow[statement.rendered(loaded.dialect).text] = found

    assert slow == {}
