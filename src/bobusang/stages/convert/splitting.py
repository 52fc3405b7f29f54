"""Colour and size in one text (`블랙/260(8.5)`, `네이비-95`): read apart where all of a group can be, else told as
unclear.

Suppliers' sheets and wholesalers have one column for both. Listed as it stands, a black shoe in five sizes would be
five colours of a shoe of one size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from bobusang.catalog.tables.variants import Axis
from bobusang.stages.convert import colors, sizes
from bobusang.stages.convert.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SIGNS = "/|,_-"
"""What may stand between the two, the rarest within a colour or a size first."""
LONGEST = 60
"""A text that is longer is no name of a colour and a size, and every place in it would be tried."""
_NUMBER = re.compile(r"\d{1,3}")
_COLORS_NUMBER = re.compile(r"0\d+")
"""The number of a colour (`BLACK-001`)."""
_NO_COLOR = frozenset({"사이즈", "치수", "size"})
"""`사이즈-S` is a size that says so."""


class Cell(NamedTuple):
    """What a text says when it is read apart."""

    color: str
    size: str

    @property
    def texts(self) -> dict[Axis, str]:
        return {Axis.COLOR: self.color, Axis.SIZE: self.size}


@dataclass(frozen=True, slots=True)
class Split:
    """The texts of a group, each read apart; none of them where they are left as they are."""

    cells: Mapping[str, Cell]
    unclear: str = ""
    """A text that may be one of colour and size, where not all of the group surely are."""


WHOLE = Split({})


def split(values: Iterable[str]) -> Split:
    """Read a group's texts apart, all of them at the same sign and in the same order, or none."""
    texts = list(dict.fromkeys(values))
    signs = [sign for sign in SIGNS if any(sign in clean(text) for text in texts)]
    found = [cells for sign in signs for first in (False, True) if (cells := _cells(texts, sign, size_first=first))]
    whole = next((cells for cells in found if len(cells) == len(texts) and _is_sure(cells.values())), None)
    if whole:
        return Split(whole)
    doubts = [text for cells in found for text, cell in cells.items() if colors.is_color(cell.color)]
    doubts += filter(_is_mixed, texts)
    return Split({}, doubts[0]) if doubts else WHOLE


def apart(text: str) -> list[Cell]:
    """Every way in which one text may be read apart, for whoever knows what it was before."""
    return [cell for sign in SIGNS for first in (False, True) if (cell := _cell(text, sign, size_first=first))]


def _cells(texts: Iterable[str], sign: str, *, size_first: bool) -> dict[str, Cell]:
    found = {text: cell for text in texts if (cell := _cell(text, sign, size_first=size_first))}
    # `1-블랙`, `2-화이트` are colours that somebody has counted.
    return {} if size_first and not _is_sure(found.values()) else found


@lru_cache(maxsize=8192)
def _cell(text: str, sign: str, *, size_first: bool) -> Cell | None:
    """A colour and the longest size behind or before it."""
    parts = [part.strip() for part in clean(text).split(sign)] if len(text) <= LONGEST else []
    places = range(1, len(parts))
    for place in reversed(places) if size_first else places:
        one, other = sign.join(parts[:place]), sign.join(parts[place:])
        color, size = (other, one) if size_first else (one, other)
        if _is_size(size) and _may_be_color(color, sign):
            return Cell(color, size)
    return None


def _may_be_color(text: str, sign: str) -> bool:
    """It says something, and no size; `블랙-S/M` is black in S/M, and no colour `블랙-S`."""
    if not text or _is_size(text) or text.casefold() in _NO_COLOR:
        return False
    return not any(_cell(text, other, size_first=False) for other in SIGNS if other != sign)


def _is_size(text: str) -> bool:
    return sizes.is_size(text) and not _COLORS_NUMBER.fullmatch(text)


def _is_sure(cells: Iterable[Cell]) -> bool:
    """Whether what looks like sizes are some: `M`, `260(8.5)` and `95호` are. A bare number may be the colour's own
    (`BLACK-100`, `WHITE-200`): it is a size behind a colour that we know, where something stands twice."""
    every = list(cells)
    if not any(_NUMBER.fullmatch(cell.size) for cell in every):
        return True
    tints, tags = {cell.color for cell in every}, {cell.size for cell in every}
    known = sum(map(colors.is_color, tints))
    return known * 2 >= len(tints) and min(len(tints), len(tags)) < len(every)


def _is_mixed(text: str) -> bool:
    """A colour and a size stand in it, among other things."""
    parts = [part.strip() for part in re.split(f"[{re.escape(SIGNS)}]", clean(text))]
    tags = [part for part in parts if _is_size(part) and not _NUMBER.fullmatch(part) and not sizes.is_free(part)]
    return bool(tags) and any(map(colors.is_color, parts))
