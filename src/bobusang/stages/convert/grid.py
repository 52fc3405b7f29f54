"""The full grid of colours and sizes: every cell is there, and one that the mall does not have is out of stock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import msgspec

from bobusang.catalog.tables.variants import Axis
from bobusang.catalog.variants import Goods, Option, Variant, source_key
from bobusang.stages.convert import sizes, stock
from bobusang.stages.convert.model import Reason, Why
from bobusang.stages.convert.respelling import named, respelled
from bobusang.stages.convert.text import cut, width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bobusang.stages.convert.options import Sorted, Source
    from bobusang.stages.convert.respelling import Names

ONE_COLOR = ""
"""The key of the only colour of a product whose mall names none."""
FILLER = "grid:"
MOST = 2_000
"""Cells of a grid. Nothing that is worn comes in more; a thousand options that share no colour and no size make a
million cells, 370 MB."""


@dataclass(frozen=True, slots=True)
class Words:
    """How an option is told to the market: its text, the number of the market's list, its measurements."""

    text: Callable[[Axis, str], str]
    master: Callable[[Axis, str], int | None]
    details: Callable[[str], tuple[dict[str, str], ...]]
    one_color: str = ""
    """What the mall calls the only colour outside of its options, where it does."""
    limit: int = 26


def build(found: Sorted, words: Words, before: Goods | None = None) -> tuple[Goods, tuple[Reason, ...]]:
    """Every colour with every size; what was there before keeps its place, whatever the mall calls it now, and what is
    new follows.

    An option that is gone is kept only where it was told to the market before, for a grid without it would be refused,
    or where all of them are gone. A grid that would be too large has no cells, only the reason.
    """
    names = respelled(found.sources, before, words.text) if before else {axis: {} for axis in Axis}
    told = {(one.axis, one.key) for one in before.options} if before else set()
    sources = [
        one for one in found.sources if not one.gone or told.issuperset(zip(Axis, place(one, names), strict=True))
    ]
    sources = sources or list(found.sources)
    options = tuple(one for axis in Axis for one in _options(axis, sources, words, before, names))
    by_axis = {axis: [one for one in options if one.axis is axis] for axis in Axis}
    many = len(by_axis[Axis.COLOR]) * len(by_axis[Axis.SIZE])
    if many > MOST:
        text = f"its options make {many:,} combinations, at most {MOST:,} can be listed"
        return Goods(options, ()), (Reason(Why.OPTIONS_MANY, text, "options"),)
    cells: dict[tuple[str, str], list[Source]] = {}
    for one in sources:
        cells.setdefault(place(one, names), []).append(one)
    codes = {one.code for one in sources}
    real = {
        (one.color_key, one.size_key): one
        for one in (before.variants if before else ())
        if not one.filler and codes.isdisjoint(one.codes)  # a code that names another cell now has left this one
    }
    variants = tuple(
        _variant(color, size, cells.get((color.key, size.key), ()), real.get((color.key, size.key)))
        for color, size in product(by_axis[Axis.COLOR], by_axis[Axis.SIZE])
    )
    return Goods(options, variants), _doubled(cells)


def key(one: Source, axis: Axis, names: Names) -> str:
    """The key of a source's choice; a mall that names no colour, or no size, has one of it."""
    if axis in one.texts:
        found = one.key(axis)
        return names[axis].get(found, found)
    return ONE_COLOR if axis is Axis.COLOR else sizes.FREE


def _options(axis: Axis, sources: Sequence[Source], words: Words, before: Goods | None, names: Names) -> list[Option]:
    known = {one.key: one for one in before.options if one.axis is axis} if before else {}
    texts = {one.key: one.text for one in known.values()}
    for one in sources:
        texts[key(one, axis, names)] = one.texts.get(axis, "")
    for only, text in ((ONE_COLOR, words.one_color), (sizes.FREE, sizes.FREE)):
        if only in texts:
            texts[only] = texts[only] or text
    told = distinct([words.text(axis, text) for text in texts.values()], words.limit)
    codes = _codes(axis, sources, known, names)
    return [
        Option(axis, found, codes.get(found), text, said, place, words.master(axis, text), _details(axis, text, words))
        for place, ((found, text), said) in enumerate(zip(texts.items(), told, strict=True), start=1)
    ]


def _codes(axis: Axis, sources: Sequence[Source], known: Mapping[str, Option], names: Names) -> dict[str, str]:
    """By key, the mall's code that an option is found again by: that of the first variant that had it, for good. No two
    options of an axis have the same."""
    found = {one.key: one.code for one in known.values() if one.code is not None}
    used = set(found.values())
    for one in sources:
        place = key(one, axis, names)
        if one.code is not None and place not in found and one.code not in used:
            found[place] = one.code
            used.add(one.code)
    return found


def _details(axis: Axis, text: str, words: Words) -> tuple[dict[str, str], ...]:
    return words.details(text) if axis is Axis.SIZE else ()


def distinct(texts: Sequence[str], limit: int) -> list[str]:
    """Texts within the limit, no two the same: where 블랙 and 검정 are both ブラック, the second is numbered."""
    used: set[str] = set()
    told = []
    for text in texts:
        short = cut(text, limit)
        number = 1
        while short.casefold() in used:
            number += 1
            tail = f" {number}"
            short = cut(text, limit - width(tail)) + tail
        used.add(short.casefold())
        told.append(short)
    return told


def _variant(color: Option, size: Option, sources: Sequence[Source], before: Variant | None) -> Variant:
    text = " / ".join(part for part in (color.text, size.text) if part)
    if not sources and before is not None:  # it was there and is not said to be gone: we could not read it
        return msgspec.structs.replace(before, stock=stock.UNKNOWN)
    if not sources:
        filler = source_key(f"{FILLER}{color.key}/{size.key}")
        return Variant(filler, (), text, color.key, size.key, stock.OUT, filler=True)
    codes = tuple(one.code for one in sources if one.code is not None)
    prices = [one.price for one in sources if one.price is not None]
    # The dearest: if a mall asks two prices for one thing, the one we may have to pay is the higher.
    return Variant(
        source_key(codes[0] if codes else text),
        codes,
        text,
        color.key,
        size.key,
        stock.joined(one.stock for one in sources),
        max(prices, default=None),
    )


def _doubled(cells: Mapping[tuple[str, str], Sequence[Source]]) -> tuple[Reason, ...]:
    double = [" / ".join(part for part in cell if part) for cell, sources in cells.items() if len(sources) > 1]
    return (Reason(Why.OPTION_DOUBLED, f"the mall lists {', '.join(double[:5])} more than once"),) if double else ()


def relabeled(found: Sorted, before: Goods) -> tuple[Reason, ...]:
    """Codes that name another's text now: a mall that replaces its options in order relabels what was sold."""
    moved = moved_to_others(found.sources, before)
    if not moved:
        return ()
    texts = {code: one.text for one in before.variants for code in one.codes}
    codes = ", ".join(f"{one.code} ('{one.text}', was '{texts[one.code or '']}')" for one in moved[:5])
    return (Reason(Why.OPTION_RELABELED, f"the codes {codes} now name what other codes named before", "options"),)


def moved_to_others(sources: Sequence[Source], before: Goods) -> list[Source]:
    """Those whose codes name cells that other codes named."""
    names = named(before)
    cells = {(one.color_key, one.size_key): one.codes for one in before.variants if one.codes}
    owners = {code: cell for cell, codes in cells.items() for code in codes}
    return [
        one
        for one in sources
        if one.code in owners and (cell := place(one, names)) != owners[one.code] and cell in cells
    ]


def place(one: Source, names: Names) -> tuple[str, str]:
    """The cell that a source names by its texts."""
    return key(one, Axis.COLOR, names), key(one, Axis.SIZE, names)
