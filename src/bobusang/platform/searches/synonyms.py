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

from bobusang.platform.searches.words import compact, folded, is_dense


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


def _head(word: str) -> str:
    if word in _trade() or not is_dense(word):
        return word
    return next((end for start in range(1, len(word) - 1) if (end := word[start:]) in _trade()), word)


@dataclass(frozen=True, slots=True)
class _Thing:
    same: dict[str, None] = field(default_factory=dict)
    wider: dict[str, None] = field(default_factory=dict)


_NONE = _Thing()


@cache
def _trade() -> dict[str, _Thing]:
    """By word; one that stands in several lines has all that stands in them."""
    rows = [{name: cell.split() for name, cell in row.items()} for row in csv.DictReader(_lines("trade"))]
    lines = {row["words"][0]: row["words"] for row in rows}
    found: dict[str, _Thing] = {}
    for row in rows:
        same = [*row["words"], *(word for other in row["also"] for word in lines.get(other, [other]))]
        kinds = [word for other in row["wider"] for word in lines.get(other, [other])]
        for word in row["words"]:
            thing = found.setdefault(word, _Thing())
            thing.same.update(dict.fromkeys(same))
            thing.wider.update(dict.fromkeys(kinds))
    return found


@cache
def _brands() -> dict[str, tuple[str, ...]]:
    return {compact(folded(name)): tuple(row) for row in csv.reader(_lines("brands")) for name in row}


def _lines(name: str) -> list[str]:
    return files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8").splitlines()
