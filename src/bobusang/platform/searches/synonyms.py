"""Words of the trade and names of brands in other scripts and spellings than the mall's: 패딩, padding, ダウン.

`trade.csv` has in each line words for one thing; what it is called also, though not all that is called so is this
(구스다운 is 다운); and what it is a kind of. Those two name another line by its first word, or a word by itself.
`brands.csv` has in each line the names of one brand.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.platform.searches.words import compact, folded, is_dense

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@lru_cache(100_000)
def synonyms(word: str) -> tuple[str, ...]:
    """Other words for a folded word; what a compound is comes last in Korean and Japanese: `롱패딩` is a `padding`."""
    return tuple(other for other in _trade().get(_head(word), _NONE).same if other != word)


@lru_cache(100_000)
def wider(word: str) -> tuple[str, ...]:
    """Words for what it is a kind of: `패딩` is an `아우터`."""
    thing = _trade().get(_head(word), _NONE)
    return tuple(other for other in thing.wider if other not in thing.same)


@lru_cache(10_000)
def known_as(names: tuple[str, ...]) -> tuple[str, ...]:
    """What else people call a brand of these names."""
    own = {folded(name) for name in names}
    found = dict.fromkeys(other for name in names for other in _brands().get(compact(folded(name)), ()))
    return tuple(other for other in found if folded(other) not in own)


def standing_for(word: str) -> tuple[str, ...]:
    """What stands in a text in the place of a word that was typed: other words for it, other names of the brand."""
    return (*synonyms(word), *(compact(folded(name)) for name in known_as((word,))))


def trade() -> tuple[str, ...]:
    """All words of the trade."""
    return tuple(_trade())


@lru_cache(100_000)
def lines_of(word: str) -> tuple[str, ...]:
    """The lines of the trade in which a word stands, or what a compound is; each is named by its first word."""
    return _trade().get(_head(word), _NONE).lines


def lines() -> Mapping[str, tuple[Sequence[str], Sequence[str]]]:
    """Of each line of the trade what a word of it is called also, itself included, and what it is a kind of."""
    return _lines_of_trade()


def brand_of(name: str) -> str:
    """The line of brands in which a name stands, named by its first one; empty: in none."""
    found = _brands().get(compact(folded(name)))
    return found[0] if found else ""


def brands() -> Mapping[str, tuple[str, ...]]:
    """The names of each line of brands."""
    return {line[0]: line for line in _brands().values()}


def _head(word: str) -> str:
    if word in _trade() or not is_dense(word):
        return word
    return next((end for start in range(1, len(word) - 1) if (end := word[start:]) in _trade()), word)


@dataclass(frozen=True, slots=True)
class _Thing:
    same: dict[str, None] = field(default_factory=dict)
    wider: dict[str, None] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


_NONE = _Thing()


@cache
def _lines_of_trade() -> dict[str, tuple[list[str], list[str]]]:
    rows = _rows()
    words = {row["words"][0]: row["words"] for row in rows}

    def meant(names: Sequence[str]) -> list[str]:
        return [word for name in names for word in words.get(name, [name])]

    return {row["words"][0]: ([*row["words"], *meant(row["also"])], meant(row["wider"])) for row in rows}


@cache
def _trade() -> dict[str, _Thing]:
    """By word; one that stands in several lines has all that stands in them."""
    known = _lines_of_trade()
    standing: dict[str, list[str]] = {}
    for row in _rows():
        for word in row["words"]:
            standing.setdefault(word, []).append(row["words"][0])
    return {
        word: _Thing(
            dict.fromkeys(other for line in found for other in known[line][0]),
            dict.fromkeys(other for line in found for other in known[line][1]),
            tuple(found),
        )
        for word, found in standing.items()
    }


def _rows() -> list[dict[str, list[str]]]:
    return [{name: cell.split() for name, cell in row.items()} for row in csv.DictReader(_lines("trade"))]


@cache
def _brands() -> dict[str, tuple[str, ...]]:
    return {compact(folded(name)): tuple(row) for row in csv.reader(_lines("brands")) for name in row}


def _lines(name: str) -> list[str]:
    return files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
