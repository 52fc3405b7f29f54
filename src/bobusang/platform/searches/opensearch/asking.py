"""From what was typed to clauses, the surest first, exactly as the embedded index does; `nori` has one tier more."""

from __future__ import annotations

from dataclasses import dataclass
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
from bobusang.platform.searches.readings import (
    SHORTEST_TWO_TYPOS,
    SHORTEST_TYPO,
    corrected,
    instead,
    known_only,
    split_up,
    turned,
)
from bobusang.platform.searches.synonyms import standing_for, wider
from bobusang.platform.searches.tiers import ENOUGH, PARTLY, Rank
from bobusang.platform.searches.tokens import LONGEST, asked, wanted
from bobusang.platform.searches.words import compact, folded, is_dense, jamo, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from bobusang.platform.searches.opensearch.reading import Reading


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
    whole, parts = _whole(found), _parts(found)
    named, kind = (either([token(f"{mark}{word}") for word in found]) for mark in "@%")
    tiers: dict[int, Clause] = {
        Rank.EXACT: every((one_of("exact", [compact(folded(typed))]), parts)),
        Rank.NAMED_KIND: every((whole, named, kind)),
        Rank.NAMED: every((whole, named)),
        Rank.KIND: every((whole, kind)),
        Rank.WHOLE: whole,
        Rank.PARTS: parts,
    }
    if len(found) > 1:
        tiers[Rank.MOSTLY] = every((parts, either([token(f"={word}") for word in found], len(found) - 1)))
    return Asked(tiers, _marker(found))


def enough(strict: Asked) -> list[Mapping[str, Any]]:
    """Questions by which `is_enough` tells whether what was typed finds what was meant."""
    if len(strict.tiers) == 1:
        return []
    sure = either([strict.tiers[Rank.EXACT], strict.tiers[Rank.WHOLE]])
    return [counting(sure, 1), counting(strict.tiers[Rank.PARTS], ENOUGH)]


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
    known = await _frequencies(reading, found)
    readings = _readings(typed, found, known)
    tiers: dict[int, Clause] = {
        **strict.tiers,
        **{Rank.READINGS + 2 * place: _whole(other) for place, other in enumerate(readings)},
        **{Rank.READINGS + 2 * place + 1: _parts(other) for place, other in enumerate(readings)},
        Rank.MORPHEMES: morphemes(typed),
    }
    misspelt = not await _finds(reading, tiers, ENOUGH)
    if misspelt:
        tiers[Rank.MISSPELT] = every(map(_nearly, found))
        if not await _finds(reading, tiers, 1):
            tiers |= {Rank.PARTLY + place: clause for place, clause in enumerate(_partly(found, known))}
    return Asked(tiers, _marker(found, *readings, loose=misspelt), loose=True)


def _readings(typed: str, found: tuple[str, ...], known: Callable[[str], int]) -> list[tuple[str, ...]]:
    """Other words that may have been meant: a space that is missing, one too many, another keyboard, a word of the
    trade with a typo, a wider one."""
    keyboards = [tuple(words(folded(other))) for other in turned(typed)]
    split = tuple(piece for word in found for piece in split_up(word, known))
    joined = (compact(folded(typed)),)
    others = (split, joined, *keyboards, corrected(found, known), instead(found, known))
    return [other for other in dict.fromkeys(others) if other and other != found]


async def _frequencies(reading: Reading, found: Iterable[str]) -> Callable[[str], int]:
    """How many documents have a whole word, of all words of which it will be asked."""
    counts = await reading.frequencies({part for word in found for part in (word, *_pieces(word), *wider(word))})
    return lambda word: counts.get(word, 0)


def _pieces(word: str) -> Iterable[str]:
    """Everything of which `split_up` may ask how frequent it is, where a word is long enough to be several."""
    least = 1 if is_dense(word) else 3
    if not (4 if is_dense(word) else 6) <= len(word) <= LONGEST:
        return ()
    return (word[start:end] for start in range(len(word)) for end in range(start + least, len(word) + 1))


def _tokens(found: Iterable[str]) -> list[Clause]:
    return [token(one) for one in dict.fromkeys(one for word in found for one in asked(word))]


def _parts(found: Iterable[str]) -> Clause:
    return every(_tokens(found))


def _whole(found: Iterable[str]) -> Clause:
    return every(token(f"={word}") for word in found)


def _nearly(word: str) -> Clause:
    sound = jamo(word)
    if not SHORTEST_TYPO <= len(sound) <= LONGEST or _has_digits(word):
        return _parts([word])
    return either([_parts([word]), sounding(sound, 1 if len(sound) < SHORTEST_TWO_TYPOS else 2)])


def _partly(found: Sequence[str], known: Callable[[str], int]) -> Iterator[Clause]:
    """All words but one, where there are more than two; most of the tokens, and all of numbers; all without the words
    that no product has."""
    if len(found) > 2:
        yield either([_parts([word]) for word in found], len(found) - 1)
    numbers = [word for word in found if _has_digits(word)]
    parts = _tokens(word for word in found if word not in numbers)
    for number in sorted({ceil(len(parts) * part) for part in PARTLY} - {len(parts)}, reverse=True):
        if number > 1:
            yield every((either(parts, number), *_tokens(numbers)))
    if kept := known_only(found, known):
        yield _parts(kept)


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
