"""Options and variants of products: kept by what the mall calls them, whatever the market is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import variants
from bobusang.catalog.tables.variants import Axis, StockKind
from bobusang.catalog.variants import Goods, Option, Stock, Variant
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

IN = Stock(StockKind.IN)


def goods(*cells: tuple[str, str, str], colors: dict[str, str]) -> Goods:
    """(code, colour, size) of each variant; what each colour is called on the market."""
    sizes = list(dict.fromkeys(size for _, _, size in cells))
    return Goods(
        (
            *(
                Option(Axis.COLOR, text, None, text, told, place)
                for place, (text, told) in enumerate(colors.items(), 1)
            ),
            *(Option(Axis.SIZE, text, None, text, text, place) for place, text in enumerate(sizes, 1)),
        ),
        tuple(Variant(code, (code,), f"{color} / {size}", color, size, IN) for code, color, size in cells),
    )


async def put(db: Database, found: Goods, product: int = 1) -> None:
    await db.transact(lambda tx: variants.put(tx, "buyma", {product: found}))


async def rows(db: Database, table: str, *names: str) -> list[tuple[Any, ...]]:
    async with db.read() as tx:
        found = await tx.fetch(Statement(f"select * from {table} order by id"))
    return [tuple(bool(row[name]) if name == "gone" else row[name] for name in names) for row in found]


async def test_a_colour_that_is_translated_anew_deletes_nothing(db: Database) -> None:
    """5,320 good listings were deleted because the translated colour was the key."""
    await put(db, goods(("7001", "블랙", "S"), ("7002", "블랙", "M"), colors={"블랙": "黒"}))
    before = await rows(db, "product_variants", "id", "source_code", "color_key", "gone")

    await put(db, goods(("7001", "블랙", "S"), ("7002", "블랙", "M"), colors={"블랙": "ブラック"}))

    assert await rows(db, "product_variants", "id", "source_code", "color_key", "gone") == before
    assert await rows(db, "product_options", "source_text", "market_text", "gone") == [
        ("블랙", "ブラック", False),
        ("S", "S", False),
        ("M", "M", False),
    ]


async def test_a_colour_that_the_mall_spells_anew_is_the_same_row(db: Database) -> None:
    def black(text: str) -> Goods:
        return Goods((Option(Axis.COLOR, "블랙", "7001", text, "ブラック", 1),), ())

    await put(db, black("블랙"))
    before = await rows(db, "product_options", "id", "source_key", "source_code", "market_text", "gone")
    await put(db, black("BLACK"))

    assert await rows(db, "product_options", "id", "source_key", "source_code", "market_text", "gone") == before
    assert await rows(db, "product_options", "source_text") == [("BLACK",)]


async def test_options_that_are_renumbered_are_found_by_their_text(db: Database) -> None:
    await put(db, goods(("7001", "블랙", "S"), ("7002", "블랙", "M"), colors={"블랙": "黒"}))

    await put(db, goods(("8001", "블랙", "S"), ("7001", "블랙", "L"), colors={"블랙": "黒"}))

    # 7001 is a code that was there: it is what the mall calls L now, and S is found by its text.
    assert await rows(db, "product_variants", "source_key", "source_code", "source_text", "gone") == [
        ("7001", "7001", "블랙 / L", False),
        ("7002", "7002", "블랙 / M", True),
        ("8001", "8001", "블랙 / S", False),
    ]


async def test_a_text_is_found_again_though_its_code_is_new_and_its_old_key_is_reused_later(db: Database) -> None:
    await put(db, goods(("7001", "블랙", "S"), colors={"블랙": "黒"}))
    await put(db, goods(("8001", "블랙", "S"), colors={"블랙": "黒"}))

    await put(db, goods(("8001", "블랙", "S"), ("7001", "블랙", "M"), colors={"블랙": "黒"}))

    assert await rows(db, "product_variants", "source_key", "source_code", "source_text", "gone") == [
        ("7001", "8001", "블랙 / S", False),
        ("7001#2", "7001", "블랙 / M", False),
    ]


async def test_what_vanished_stays_and_revives(db: Database, clock: ManualClock) -> None:
    both = goods(("7001", "블랙", "S"), ("7002", "블랙", "M"), colors={"블랙": "黒"})
    await put(db, both)
    await put(db, goods(("7001", "블랙", "S"), colors={"블랙": "黒"}))
    assert await rows(db, "product_variants", "source_key", "gone") == [("7001", False), ("7002", True)]
    assert await rows(db, "product_options", "source_key", "gone") == [("블랙", False), ("S", False), ("M", True)]
    clock.advance(hours=1)

    await put(db, both)

    assert await rows(db, "product_variants", "source_key", "gone") == [("7001", False), ("7002", False)]


async def test_many_products_are_written_together_and_keep_apart(db: Database) -> None:
    one = goods(("1", "블랙", "S"), colors={"블랙": "黒"})
    await db.transact(lambda tx: variants.put(tx, "buyma", dict.fromkeys(range(1, 301), one)))
    await db.transact(lambda tx: variants.put(tx, "other", {1: one}))
    await db.transact(lambda tx: variants.put(tx, "buyma", {}))

    assert len(set(await rows(db, "product_variants", "product_id", "market"))) == 301
    assert len(await rows(db, "product_options", "id")) == 602
