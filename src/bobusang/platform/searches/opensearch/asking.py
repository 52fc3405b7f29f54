"""From what was typed to clauses, the surest first, exactly as the embedded index does; `nori` has one tier more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import ceil
from typing import TYPE_CHECKING, Any

from bobusang.platform.search import LONGEST_KEYWORD
from bobusang.platform.searches.marking import Marker
from bobusang.platform.searches.opensearch.clauses import (
    EVERYTHING,
    NOTHING,
    Clause,
    either,
    every,
    morphemes,
    one_of,
    sounding,
    token,
)
from bobusang.platform.searches.readings import split_up, turned
from bobusang.platform.searches.synonyms import standing_for
from bobusang.platform.searches.tokens import LONGEST, asked, wanted
from bobusang.platform.searches.words import compact, folded, is_dense, jamo, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.platform.searches.opensearch.reading import Reading

ENOUGH = 3
"""With so many products found by parts of words nobody is asked what else was meant."""
PARTLY = (0.8, 0.6)
"""Which part of the tokens has to be there when nothing has all of them."""
SHORTEST_TYPO = 4
SHORTEST_TWO_TYPOS = 8
"""Jamo or letters of a word in which one wrong letter, or two, still leave it recognisable."""


class Rank(IntEnum):
    """How sure a tier is; a cursor names it, so that a tier that comes or goes between two pages moves no other."""

    EXACT = 0
    NAMED = 1
    WHOLE = 2
    PARTS = 3
    READINGS = 10
    MORPHEMES = 15
    MISSPELT = 20
    PARTLY = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for: tiers, whether they are more than what was typed, and what is to be marked."""

    tiers: Mapping[int, Clause]
    marker: Marker
    loose: bool = False

    def anything(self) -> Clause:
        """Whatever any tier finds."""
        return either(list(self.tiers.values()))


def as_typed(keyword: str) -> Asked:
    """The tiers of a keyword when it is taken as it stands."""
    typed, found = keyword[:LONGEST_KEYWORD], wanted(keyword)
    if not found:
        return Asked({Rank.EXACT: NOTHING if typed.strip() else EVERYTHING}, Marker(()))
    whole = every(token(f"={word}") for word in found)
    parts = _parts(found)
    tiers: dict[int, Clause] = {
        Rank.EXACT: every((one_of("exact", [compact(folded(typed))]), parts)),
        Rank.NAMED: every((whole, either([token(f"@{word}") for word in found]))),
        Rank.WHOLE: whole,
        Rank.PARTS: parts,
    }
    return Asked(tiers, _marker(found))


def enough(strict: Asked) -> list[Mapping[str, Any]]:
    """Questions by which `is_enough` tells whether what was typed finds what was meant."""
    if len(strict.tiers) == 1:
        return []
    *sure, parts = strict.tiers.values()
    return [counting(either(sure), 1), counting(parts, ENOUGH)]


def is_enough(keyword: str, answers: Sequence[Mapping[str, Any]]) -> bool:
    """Whether hits as typed are all that is looked for: something as a whole, or a few by parts of words."""
    return not answers or total(answers[0]) >= 1 or total(answers[1]) >= (1 if _has_digits(keyword) else ENOUGH)


async def ask(reading: Reading, keyword: str) -> Asked:
    """The tiers of a keyword, and what else may have been meant when hardly anything is found by what was typed."""
    strict = as_typed(keyword)
    if is_enough(keyword, await reading.many(enough(strict))):
        return strict
    return await loosely(reading, keyword, strict)


async def loosely(reading: Reading, keyword: str, strict: Asked) -> Asked:
    """What else may have been meant: other keyboards and spaces, inflections, then typos, then parts of it."""
    typed, found = keyword[:LONGEST_KEYWORD], wanted(keyword)
    readings = await _readings(reading, typed, found)
    tiers: dict[int, Clause] = {
        **strict.tiers,
        **{Rank.READINGS + place: _parts(other) for place, other in enumerate(readings)},
        Rank.MORPHEMES: morphemes(typed),
    }
    misspelt = not await _finds(reading, tiers, ENOUGH)
    if misspelt:
        tiers[Rank.MISSPELT] = every(map(_nearly, found))
        if not await _finds(reading, tiers, 1):
            tiers |= {Rank.PARTLY + place: clause for place, clause in enumerate(_partly(found))}
    return Asked(tiers, _marker(found, *readings, loose=misspelt), loose=True)


async def _readings(reading: Reading, typed: str, found: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Other words that may have been meant: another keyboard, a space that is missing, one too many."""
    others = [tuple(words(folded(other))) for other in turned(typed)]
    counts = await reading.frequencies({part for word in found for part in _pieces(word)})
    split = tuple(piece for word in found for piece in split_up(word, lambda one: counts.get(one, 0)))
    joined = (compact(folded(typed)),)
    return [other for other in dict.fromkeys((split, joined, *others)) if other and other != found]


def _pieces(word: str) -> Iterable[str]:
    """Everything of which `split_up` may ask how frequent it is, where a word is long enough to be several."""
    least = 2 if is_dense(word) else 3
    if not 2 * least <= len(word) <= LONGEST:
        return ()
    return (word[start:end] for start in range(len(word)) for end in range(start + least, len(word) + 1))


def _tokens(found: Iterable[str]) -> list[Clause]:
    return [token(one) for one in dict.fromkeys(one for word in found for one in asked(word))]


def _parts(found: Iterable[str]) -> Clause:
    return every(_tokens(found))


def _nearly(word: str) -> Clause:
    sound = jamo(word)
    if not SHORTEST_TYPO <= len(sound) <= LONGEST or _has_digits(word):
        return _parts([word])
    return either([_parts([word]), sounding(sound, 1 if len(sound) < SHORTEST_TWO_TYPOS else 2)])


def _partly(found: Sequence[str]) -> tuple[Clause, ...]:
    """All words but one, where there are more than two; then most of the tokens."""
    parts = _tokens(found)
    least = sorted({ceil(len(parts) * part) for part in PARTLY} - {len(parts)}, reverse=True)
    most = [either(parts, number) for number in least if number > 1]
    return (either([_parts([word]) for word in found], len(found) - 1), *most) if len(found) > 2 else tuple(most)


def _marker(*readings: Iterable[str], loose: bool = False) -> Marker:
    known = [word for reading in readings for word in reading]
    return Marker(
        tuple(dict.fromkeys([*known, *(other for word in known for other in standing_for(word))])), loose=loose
    )


def _has_digits(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


async def _finds(reading: Reading, tiers: Mapping[int, Clause], least: int) -> bool:
    (answer,) = await reading.many([counting(either(list(tiers.values())), least)])
    return total(answer) >= least


def counting(clause: Clause, least: int) -> Mapping[str, Any]:
    """A question whether at least so many are found."""
    return {"query": clause, "size": 0, "track_total_hits": least}


def total(answer: Mapping[str, Any]) -> int:
    """How many were found, as far as they were counted."""
    return int(answer["hits"]["total"]["value"])
