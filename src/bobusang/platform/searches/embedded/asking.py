"""From what was typed to queries, the surest first: each tier finds what the ones before it did not."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

from tantivy import Query

from bobusang.platform.search import LONGEST_KEYWORD
from bobusang.platform.searches.embedded.clauses import (
    all_but_one,
    at_least,
    either,
    every,
    in_span,
    of_brand,
    one_of,
    token,
    with_all,
)
from bobusang.platform.searches.embedded.schema import SCHEMA
from bobusang.platform.searches.embedded.shorthand import numbered_so
from bobusang.platform.searches.marking import Marker
from bobusang.platform.searches.readings import (
    SHORTEST_TWO_TYPOS,
    SHORTEST_TYPO,
    corrected,
    instead,
    known_only,
    split_up,
    turned,
)
from bobusang.platform.searches.synonyms import standing_for
from bobusang.platform.searches.tiers import ENOUGH, PARTLY, Rank
from bobusang.platform.searches.tokens import LONGEST, asked, wanted
from bobusang.platform.searches.words import compact, folded, jamo, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bobusang.platform.searches.embedded.serving import Serving


@dataclass(frozen=True, slots=True)
class Tier:
    """One way of finding."""

    rank: int
    query: Query


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for: tiers, whether they are more than what was typed, and the words to mark."""

    tiers: tuple[Tier, ...]
    anything: Query
    """Whatever any tier finds."""
    marker: Marker
    loose: bool = False


def ask(serving: Serving, keyword: str) -> Asked:
    """The tiers of a keyword. What else may have been meant is looked for only when hardly anything is found by what
    was typed: the common case stays quick, and nobody who knows what they want is shown something else."""
    typed, found = keyword[:LONGEST_KEYWORD], wanted(keyword)
    if not found:
        everything = Query.empty_query() if typed.strip() else Query.all_query()
        return Asked((Tier(Rank.EXACT, everything),), everything, Marker(()))
    strict = _as_typed(serving, typed, found)
    as_typed = _found_as_typed(serving, strict, found)
    if as_typed >= ENOUGH:
        return Asked(strict, strict[-1].query, Marker(_marks(found)))
    strict = strict if as_typed else ()  # what finds nothing would be asked again and again
    readings = [reading for reading in _readings(serving, typed, found) if _is_known(serving, reading)]
    others = [*strict[-1:], *_read(serving, readings)]
    misspelt = _found(serving, others, ENOUGH) < ENOUGH
    if misspelt:
        others.append(Tier(Rank.MISSPELT, every([_nearly(serving, word) for word in found])))
        if not _found(serving, others, 1):
            others += [Tier(Rank.PARTLY + place, query) for place, query in enumerate(_partly(serving, found))]
    marker = Marker(_marks(found, *readings), loose=misspelt)
    return Asked((*strict[:-1], *others), either([tier.query for tier in others]), marker, loose=True)


def _as_typed(serving: Serving, typed: str, found: Sequence[str]) -> tuple[Tier, ...]:
    """A brand or number that is called so; whole words; all of them whole but one; parts of words. The last finds all
    that the others find; what cannot find anything, or nothing more, is left out."""
    if not _is_known(serving, found):
        return ()
    parts = _parts(serving, found)
    tiers = []
    called = compact(folded(typed))
    if frequency := serving.df_called(called):
        if frequency == serving.frequency(called) and found == (called,) and _is_whole(serving, called):
            return (Tier(Rank.EXACT, parts),)
        exactly = either([of_brand([called]), one_of("tokens", [numbered_so(called)])])
        tiers.append(Tier(Rank.EXACT, every((exactly, parts))))
    tiers += _whole(serving, found)
    if all(_is_whole(serving, word) for word in found):
        return tuple(tiers)
    if len(found) > 1:
        tiers.append(Tier(Rank.MOSTLY, every((parts, all_but_one([token(serving, f"={word}") for word in found])))))
    return (*tiers, Tier(Rank.PARTS, parts))


def _whole(serving: Serving, found: Sequence[str]) -> Iterator[Tier]:
    """Whole words: first one of them of the brand and one of the category, then of the brand, then of the category."""
    if not all(serving.frequency(word) for word in found):
        return
    whole = with_all(serving, [f"={word}" for word in found])
    named = [token(serving, f"@{word}") for word in found if serving.df(f"@{word}")]
    kinds = [token(serving, f"%{word}") for word in found if serving.df(f"%{word}")]
    if any(serving.df(f"@{word}") == serving.frequency(word) for word in found):  # whatever has the word is called so
        if kinds:
            yield Tier(Rank.NAMED_KIND, every((whole, either(kinds))))
        yield Tier(Rank.NAMED, whole)
        return
    if named and kinds:
        yield Tier(Rank.NAMED_KIND, every((whole, either(named), either(kinds))))
    if named:
        yield Tier(Rank.NAMED, every((whole, either(named))))
    if kinds:
        yield Tier(Rank.KIND, every((whole, either(kinds))))
    yield Tier(Rank.WHOLE, whole)


def _found_as_typed(serving: Serving, strict: Sequence[Tier], found: Sequence[str]) -> int:
    """How many are found by what was typed, as far as `ENOUGH`: which one is that was found as a whole, or by a part of
    a number."""
    if len(found) == 1 and strict and serving.is_living(f"={found[0]}"):
        return ENOUGH
    whole = [tier for tier in strict if tier.rank <= Rank.WHOLE]
    if any(_found(serving, [tier], 1) for tier in (*whole[-1:], *whole[:-1][:1])):  # those between find less
        return ENOUGH
    number = _found(serving, strict[-1:], ENOUGH)
    return ENOUGH if number and any(map(_has_digits, found)) else number


def _read(serving: Serving, readings: Sequence[Sequence[str]]) -> Iterator[Tier]:
    """Each reading by whole words, then by parts."""
    for place, reading in enumerate(readings):
        rank = Rank.READINGS + 2 * place
        whole = all(_is_whole(serving, word) for word in reading)
        if not whole and all(map(serving.frequency, reading)):
            yield Tier(rank, with_all(serving, [f"={word}" for word in reading]))
        yield Tier(rank if whole else rank + 1, _parts(serving, reading))


def _readings(serving: Serving, typed: str, found: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Other words that may have been meant: a space that is missing, one too many, another keyboard, a word of the
    trade with a typo, a wider one."""
    known = serving.frequency
    keyboards = [tuple(words(folded(other))) for other in turned(typed)]
    split = tuple(piece for word in found for piece in split_up(word, known))
    joined = (compact(folded(typed)),)
    others = (split, joined, *keyboards, corrected(found, known), instead(found, known))
    return [reading for reading in dict.fromkeys(others) if reading and reading != found]


def _is_known(serving: Serving, found: Iterable[str]) -> bool:
    return all(serving.df(one) for word in found for one in asked(word))


def _is_whole(serving: Serving, word: str) -> bool:
    """Whether whatever has a word in parts has it as a whole: that has all its parts, so as few have the rarest."""
    return serving.frequency(word) == min(map(serving.df, asked(word)))


def _parts(serving: Serving, found: Iterable[str]) -> Query:
    tokens = [(f"={word}",) if _is_whole(serving, word) else asked(word) for word in found]
    return with_all(serving, chain.from_iterable(tokens))


def _nearly(serving: Serving, word: str) -> Query:
    sound = jamo(word)
    if not SHORTEST_TYPO <= len(sound) <= LONGEST or _has_digits(word):
        return _parts(serving, [word])
    distance = 1 if len(sound) < SHORTEST_TWO_TYPOS else 2
    return either([_parts(serving, [word]), Query.fuzzy_term_query(SCHEMA, "sounds", sound, distance)])


def _partly(serving: Serving, found: Sequence[str]) -> Iterator[Query]:
    """All words but one, where there are more than two; most of the tokens, and all of numbers; all without the words
    that no product has."""
    if len(found) > 2:
        yield all_but_one([_parts(serving, [word]) for word in found])
    numbers = [word for word in found if _has_digits(word)]
    parts = [
        token(serving, one)
        for one in dict.fromkeys(one for word in found if word not in numbers for one in asked(word))
    ]
    for number in sorted({ceil(len(parts) * part) for part in PARTLY} - {len(parts)}, reverse=True):
        if number > 1:
            yield every((at_least(number, parts), *([_parts(serving, numbers)] if numbers else ())))
    if kept := known_only(found, serving.frequency):
        yield _parts(serving, kept)


def _marks(*readings: Iterable[str]) -> tuple[str, ...]:
    known = [word for reading in readings for word in reading]
    return tuple(dict.fromkeys([*known, *(other for word in known for other in standing_for(word))]))


def _has_digits(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _found(serving: Serving, tiers: Sequence[Tier], most: int) -> int:
    """How many there are, as far as that. They are looked for among the first numbers first, where most are enough."""
    if not tiers:
        return 0
    query = either([tier.query for tier in tiers])
    first = [every((query, in_span(span))) for span in serving.spans()[:1]]
    return max(_counted(serving, (*first, query), most))


def _counted(serving: Serving, queries: Sequence[Query], most: int) -> Iterator[int]:
    """By number, not by score, so that nothing has to be weighed; until one finds enough."""
    for query in queries:
        number = len(serving.searcher.search(query, most, count=False, order_by_field="id").hits)
        yield number
        if number >= most:
            return
