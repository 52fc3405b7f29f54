"""The options and variants of products for a market: found again by source code, then source text, never by the
market's words, and never deleted."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.tables.products import NAME_LENGTH
from bobusang.catalog.tables.variants import Axis, StockKind, product_options, product_variants
from bobusang.kit import json
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.kit.db import Row, Tx


class Stock(msgspec.Struct, frozen=True):
    """What the mall claims; `count` only where it counts."""

    kind: StockKind
    count: int | None = None


class Option(msgspec.Struct, frozen=True):
    """One choice of an axis: the mall's code and text, and what the market is told."""

    axis: Axis
    key: str
    """What it is found again by within its product and axis."""
    code: str | None
    """Malls have codes for variants: that of the first variant that had it."""
    text: str
    market_text: str
    position: int
    master_id: int | None = None
    details: tuple[dict[str, str], ...] = ()


class Variant(msgspec.Struct, frozen=True):
    """One cell of the grid: a thing that can be bought, or a filler that only the grid asks for."""

    key: str
    codes: tuple[str, ...]
    """The mall's codes for it; more than one where the mall has the same thing twice."""
    text: str
    color_key: str
    size_key: str
    stock: Stock
    price: int | None = None
    filler: bool = False


class Goods(msgspec.Struct, frozen=True):
    """All options and variants of a product for a market."""

    options: tuple[Option, ...]
    variants: tuple[Variant, ...]


Group = tuple[Any, ...]
Named = tuple[Group, str, tuple[Any, ...]]

KNOWN_OPTIONS = Statement("select * from product_options where market = :market and product_id in (:ids...)")
KNOWN_VARIANTS = Statement("select * from product_variants where market = :market and product_id in (:ids...)")

_OPTION = ("source_code", "source_text", "market_text", "master_id", "position", "details", "gone")
_VARIANT = (
    *("source_code", "source_text", "color_key", "size_key"),
    *("stock_kind", "stock_count", "price", "filler", "gone"),
)
_NEW_OPTION = Bulk(
    product_options, ("product_id", "market", "axis", "source_key", *_OPTION, "created_at", "updated_at")
)
_NEW_VARIANT = Bulk(product_variants, ("product_id", "market", "source_key", *_VARIANT, "created_at", "updated_at"))
_OPTION_CHANGED = Revise(product_options, "id", (*_OPTION, "updated_at"))
_VARIANT_CHANGED = Revise(product_variants, "id", (*_VARIANT, "updated_at"))


def source_key(text: str) -> str:
    """A code or text as a key: itself, or its hash where it is too long for one."""
    return text if len(text) <= NAME_LENGTH else hashlib.sha256(text.encode()).hexdigest()


async def put(tx: Tx, market: str, goods: Mapping[int, Goods]) -> None:
    """Write the goods of these products, in the same few statements for one and for a thousand of them.

    A row that is not named any more is marked gone and stays: what was listed with it must be told so.
    """
    ids = sorted(goods)
    if not ids:
        return
    options = [((id, one.axis.value), one.key, _option(one)) for id in ids for one in goods[id].options]
    found: list[tuple[Group, Row]] = [
        ((row["product_id"], row["axis"]), row) for row in await tx.fetch(KNOWN_OPTIONS, market=market, ids=ids)
    ]
    new, changed = settled(found, options, _OPTION)
    await tx.insert(_NEW_OPTION, [(id, market, axis, key, *row, tx.now, tx.now) for (id, axis), key, row in new])
    await tx.revise(_OPTION_CHANGED, [(*row, tx.now) for row in changed])
    variants = [((id,), one.key, _variant(one)) for id in ids for one in goods[id].variants]
    found = [((row["product_id"],), row) for row in await tx.fetch(KNOWN_VARIANTS, market=market, ids=ids)]
    new, changed = settled(found, variants, _VARIANT)
    await tx.insert(_NEW_VARIANT, [(id, market, key, *row, tx.now, tx.now) for (id,), key, row in new])
    await tx.revise(_VARIANT_CHANGED, [(*row, tx.now) for row in changed])


def _option(one: Option) -> tuple[Any, ...]:
    texts = (one.text[:NAME_LENGTH], one.market_text[:NAME_LENGTH])
    code = None if one.code is None else source_key(one.code)
    return (code, *texts, one.master_id, one.position, json.dumps(one.details), False)


def _variant(one: Variant) -> tuple[Any, ...]:
    code = source_key(one.codes[0]) if one.codes else None
    stock = (one.stock.kind.value, one.stock.count)
    return (code, one.text[:NAME_LENGTH], one.color_key, one.size_key, *stock, one.price, one.filler, False)


def settled(
    known: Sequence[tuple[Group, Row]], named: Sequence[Named], columns: tuple[str, ...]
) -> tuple[list[Named], list[tuple[Any, ...]]]:
    """(what is new, what is to be revised): a named row is found by its code, then by its text, within its group.

    The values of a row begin with code and text. A row that nobody names is revised too, as gone.
    """
    left = {row["id"]: (group, row) for group, row in known}
    taken: dict[int, Row] = {}
    for by in (_by_code, _by_text):
        places = {by(group, row["source_code"], row["source_text"]): id for id, (group, row) in left.items()}
        for place, (group, _, values) in enumerate(named):
            wanted = None if place in taken else by(group, values[0], values[1])
            id = None if wanted is None else places.get(wanted)
            if id in left:
                taken[place] = left.pop(id)[1]
    new = [one for place, one in enumerate(named) if place not in taken]
    revised = [
        (row["id"], *named[place][2]) for place, row in taken.items() if _values(row, columns) != named[place][2]
    ]
    gone = [(row["id"], *_values(row, columns)[:-1], True) for _, row in left.values() if not row["gone"]]
    return list(_keyed(new, {(group, row["source_key"]) for group, row in known})), sorted([*revised, *gone])


def _by_code(group: Group, code: str | None, text: str) -> tuple[Any, ...] | None:
    return None if code is None else (group, code)


def _by_text(group: Group, code: str | None, text: str) -> tuple[Any, ...]:
    return group, text


def _values(row: Row, columns: tuple[str, ...]) -> tuple[Any, ...]:
    """As they are written: only PostgreSQL gives a truth value back as one."""
    return tuple(bool(row[name]) if name in ("gone", "filler") else row[name] for name in columns)


def _keyed(new: Sequence[Named], used: set[tuple[Group, str]]) -> Iterator[Named]:
    """A key that an older row still holds, though its mall has renumbered it since, gets a number."""
    for group, key, values in new:
        free, times = key, 1
        while (group, free) in used:
            times += 1
            free = f"{key[: NAME_LENGTH - 10]}#{times}"
        used.add((group, free))
        yield group, free, values
