"""The same grid with what the mall claims now, for runs that do not convert: by code, then by text, and never by a code
that names something else than was converted.

A mall that replaces its options in order gives the code of the M to the L: by its code alone the L's stock would be
sold as the M's. Such a code is doubted by the rule of `respelling`, and FULL or a person settles it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from bobusang.catalog.tables.variants import Axis
from bobusang.catalog.variants import Goods
from bobusang.stages.convert import grid, stock
from bobusang.stages.convert.respelling import named, strangers
from bobusang.stages.convert.wording import color_source, size_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.variants import Variant
    from bobusang.stages.convert.options import Sorted, Source
    from bobusang.stages.convert.respelling import Names

    Cell = tuple[str, str]

SHOWN = 3


class Restocked(NamedTuple):
    """Goods as they can be had now."""

    goods: Goods
    doubts: str = ""
    """Which options nobody is sure of, in words: their codes name something else than was converted."""


def restocked(goods: Goods, found: Sorted) -> Restocked:
    """What is claimed of each cell now; one that is not named any more is unknown (an option that really went is there
    and gone). Where a code is doubted texts alone decide, but no text under another cell's code."""
    names, owners = named(goods), _owners(goods)
    found = _read_as_converted(goods, found, names)
    by_code = {one.code: one for one in found.sources if one.code is not None}
    by_place: dict[Cell, list[Source]] = {}
    moved = False
    for one in found.sources:
        cell, owner = grid.place(one, names), owners.get(one.code or "")
        by_place.setdefault(cell, []).append(one)
        moved = moved or (owner is not None and cell != (owner.color_key, owner.size_key))
    others = _doubted(goods, found) if moved else []

    def renewed(variant: Variant) -> Variant:
        coded = [by_code[code] for code in variant.codes if code in by_code]
        texted = by_place.get((variant.color_key, variant.size_key), [])
        if not others:
            return _renewed(variant, coded or texted)
        trusted = [one for one in texted if one.code not in owners or one.code in variant.codes]
        return _renewed(variant, trusted) if trusted else _doubtful(variant, [*coded, *texted])

    return Restocked(Goods(goods.options, tuple(map(renewed, goods.variants))), _told_of(others, owners))


def _read_as_converted(goods: Goods, found: Sorted, names: Names) -> Sorted:
    """Colour and size in one text are read apart or together by what the others say, and the others change: a source
    that names no cell is read the other way, if it names one then."""
    cells = {(one.color_key, one.size_key) for one in goods.variants}

    def read(one: Source) -> Source:
        if grid.place(one, names) in cells:
            return one
        return next((other for other in one.otherwise() if grid.place(other, names) in cells), one)

    return replace(found, sources=tuple(map(read, found.sources)))


def _doubted(goods: Goods, found: Sorted) -> list[Source]:
    """What stands under codes that named something else when the goods were converted."""
    others = [*strangers(found.sources, goods, _told), *grid.moved_to_others(found.sources, goods)]
    return [one for one in found.sources if one in others]


def _told_of(others: Sequence[Source], owners: Mapping[str, Variant]) -> str:
    if not others:
        return ""
    told = ", ".join(f"{one.code} ('{one.text}', was '{owners[one.code or ''].text}')" for one in others[:SHOWN])
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    return f"option codes name something else than was converted: {told}{more}; their stock stays until FULL settles it"


def _owners(goods: Goods) -> Mapping[str, Variant]:
    return {code: one for one in goods.variants for code in one.codes}


def _renewed(variant: Variant, claims: Sequence[Source]) -> Variant:
    if not claims:
        return msgspec.structs.replace(variant, stock=stock.OUT if variant.filler else stock.UNKNOWN)
    prices = [one.price for one in claims if one.price is not None]
    claim = stock.joined(one.stock for one in claims)
    return msgspec.structs.replace(variant, stock=claim, price=max(prices, default=variant.price), filler=False)


def _doubtful(variant: Variant, readings: Sequence[Source]) -> Variant:
    """A cell of which nobody is sure: out where all that may be meant is out, else what it was; a hole of the grid
    too, for a page since may have filled it."""
    is_out = bool(readings) and all(one.stock == stock.OUT for one in readings)
    return msgspec.structs.replace(variant, stock=stock.OUT if is_out else stock.UNKNOWN)


def _told(axis: Axis, text: str) -> str:
    """As far as one can tell without a translation."""
    return size_source(text) if axis is Axis.SIZE else color_source(text)
