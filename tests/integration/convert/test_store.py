"""Conversions in the database: a hold keeps what was ready, and what comes late changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.kit.errors import Missing
from bobusang.stages.convert import store
from bobusang.stages.convert.converting import VERSION
from bobusang.stages.convert.model import Converted, Held, Reason, Why
from bobusang.stages.convert.store import Conversion, Result
from bobusang.stages.convert.tables import State
from bobusang.testing.clock import NOON
from tests.integration.convert.test_variants import rows

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

READY = Converted(
    name="ACME コート",
    comments="コート",
    brand_id=0,
    brand_name="ACME",
    category_id=3306,
    axes=("size",),
    goods=Goods(
        (
            Option(Axis.COLOR, "", None, "", "画像参照", 1),
            Option(Axis.SIZE, "S", None, "S", "S", 1, 11, ({"key": "肩幅", "value": "42"},)),
        ),
        (Variant("7001", ("7001", "7002"), "S", "", "S", Stock(StockKind.COUNT, 2), 129_000),),
    ),
    notes=(Reason(Why.COLOR_UNMAPPED, "없음", "color"),),
)
HELD = Held((Reason(Why.BRAND_BLOCKED, "막힘", "brand"),))


async def save(db: Database, *results: Result) -> None:
    await db.transact(lambda tx: store.save(tx, "buyma", results))


async def load(db: Database, product: int = 1) -> Conversion | None:
    async with db.read() as tx:
        return (await store.load(tx, "buyma", [product])).get(product)


async def test_what_is_ready_is_kept_whole_with_its_options_and_variants(db: Database) -> None:
    await save(db, Result(1, 3, READY))

    assert await load(db) == Conversion(1, "buyma", 1, 3, 3, VERSION, READY, State.READY, (), NOON, NOON)
    assert await rows(db, "product_variants", "product_id", "source_code", "stock_kind", "stock_count", "price") == [
        (1, "7001", "count", 2, 129_000)
    ]


async def test_a_hold_keeps_what_was_ready(db: Database, clock: ManualClock) -> None:
    await save(db, Result(1, 3, READY), Result(2, 1, HELD))
    later = clock.advance(hours=1)

    await save(db, Result(1, 4, HELD))

    assert await load(db) == Conversion(1, "buyma", 1, 4, 3, VERSION, READY, State.HELD, HELD.reasons, NOON, later)
    assert await rows(db, "product_variants", "product_id", "gone") == [(1, False)]
    async with db.read() as tx:
        held = await store.listed(tx, "buyma", State.HELD)
        assert [(one.product_id, one.data) for one in held] == [(1, READY), (2, None)]
        assert await store.listed(tx, "buyma", State.HELD, after=2) == []
        assert await store.load(tx, "other", [1]) == {}


async def test_what_comes_late_or_twice_changes_nothing(db: Database) -> None:
    newer = msgspec.structs.replace(READY, name="ACME 新しいコート")
    await save(db, Result(1, 3, READY), Result(1, 5, newer))
    await save(db, Result(1, 4, HELD))
    await save(db, Result(1, 5, newer))
    await save(db)

    found = await load(db)
    assert found is not None
    assert (found.source_version, found.data, found.state) == (5, newer, State.READY)


async def test_markets_are_kept_apart(db: Database) -> None:
    await save(db, Result(1, 3, READY))
    await db.transact(lambda tx: store.save(tx, "other", [Result(1, 9, HELD)]))

    found = await load(db)
    assert found is not None
    assert (found.source_version, found.state) == (3, State.READY)


async def test_a_product_whose_axes_changed_begins_anew(db: Database) -> None:
    await save(db, Result(1, 3, READY))
    await save(db, Result(1, 4, Held((Reason(Why.AXES_CHANGED, "", "options"),))))

    before = await db.transact(lambda tx: store.hold(tx, "buyma", 1))
    await db.transact(lambda tx: store.renew(tx, before))

    renewed = await load(db)
    assert renewed is not None
    assert (renewed.generation, renewed.data, renewed.data_version, renewed.state) == (2, None, None, State.HELD)
    assert [one.why for one in renewed.reasons] == [Why.DECIDED]
    async with db.read() as tx:
        assert await store.generations(tx, "buyma", [1, 7]) == {1: 2}
    await save(db, Result(1, 4, READY))
    assert await load(db) == replace(renewed, data=READY, data_version=4, state=State.READY, reasons=())
    with pytest.raises(Missing, match="product 7 was never converted for buyma"):
        await db.transact(lambda tx: store.hold(tx, "buyma", 7))


async def test_another_name_on_the_market_is_told_and_the_same_is_not(db: Database) -> None:
    renamed = msgspec.structs.replace(READY, name="ACME ダウン")
    await save(db, Result(1, 1, READY), Result(2, 1, HELD))
    await save(db, Result(1, 2, msgspec.structs.replace(READY, comments="別のコート")))
    await save(db, Result(1, 3, HELD))
    await save(db, Result(1, 4, renamed))

    assert await rows(db, "outbox", "topic", "event_key") == [("product.renamed", "product:1")] * 2
