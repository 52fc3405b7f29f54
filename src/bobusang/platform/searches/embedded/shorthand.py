"""Tokens as the index keeps them: one for all that a word of the trade or a brand that we know is found by.

Most words of a catalogue are those of `trade.csv` and `brands.csv`, and each is found by dozens of tokens: its parts,
its initials, other words for it and their parts. What each of them stands for is known without asking the index: a
document has `#니트 +니트` in the place of fifty tokens, and whoever looks for `스웨` looks for `+니트` as well: that
finds exactly the same.

`#니트` is that word, `+니트` the line of the trade in which it stands, `%+니트` a category of that line, `$NIKE` the
line of a brand, `!cw2288111` a whole number and `&cw2288` a part of one. Each is a term that few other documents have,
which cost the most.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from bobusang.platform.searches.synonyms import brand_of, brands, lines, lines_of, trade
from bobusang.platform.searches.tokens import (
    KEPT,
    LONGEST,
    all_words,
    codes,
    grams,
    kinds,
    names,
    of_name,
    of_others,
    of_word,
    pieces,
)
from bobusang.platform.searches.words import compact, folded, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.platform.search import Document


def brief(document: Document) -> str:
    """Everything it is found by; what `standing_for` a token is looked for in."""
    return " ".join(
        [
            *map(_piece, pieces(document)),
            _called(names(document)),
            _number(document.model),
            _number(document.product_id),
            *(() if document.model else map(of_word, codes(document.name))),
            _kind(document.category),
        ]
    )


def standing_for(token: str) -> tuple[str, ...]:
    """What a document may have in the place of a token, the token itself included: it is found by any of these."""
    found = (token, *_meant().get(token, ()))
    if token[0] in "=@" and len(token) <= LONGEST + 1:
        return (*found, f"!{token[1:]}", f"&{token[1:]}")
    return found


def numbered_so(number: str) -> str:
    """What stands for a number that is called so as a whole; `number` is in one form."""
    return f"!{number}"


def brief_names(called: tuple[str, ...]) -> list[str]:
    """The names of a brand in one form, those that we know as one."""
    plain = {compact(folded(name)): brand_of(name) for name in called}
    return sorted({f"${_key(line)}" if line else name for name, line in plain.items()} - {""})


def called_so(name: str) -> tuple[str, ...]:
    """What stands among the names of a brand that may be called so; `name` is in one form."""
    line = brand_of(name)
    return (f"${_key(line)}",) if line else (name,)


@lru_cache(KEPT)
def _piece(text: str) -> str:
    return " ".join(dict.fromkeys(one for word in all_words(folded(text)) for one in _of_word(word)))


def _of_word(word: str) -> Iterator[str]:
    if word in _own():
        yield f"#{word}"
    else:
        yield from of_word(word).split()
    yield from (f"+{line}" for line in lines_of(word))


def _number(text: str) -> str:
    """A number of a model or a mall: whole, its parts, and how each of them begins. Each is another, so that nothing of
    it is remembered; letters that stand side by side in a part do so in the whole."""
    plain = folded(text)
    whole = plain if plain.isalnum() else compact(plain)
    if not plain.isascii() or not 1 < len(whole) <= LONGEST:
        return f"!{whole} {of_name(text)}" if whole else ""
    found = [f"!{whole} ^{whole[0]} ^{whole[:2]}", *grams(whole)]
    if plain is not whole:
        found += [f"&{part} ^{part[0]} ^{part[:2]}" for part in {*all_words(plain)} - {whole}]
    return " ".join(found)


@lru_cache(KEPT)
def _called(known: tuple[str, ...]) -> str:
    """A brand that we know, and those of its names that we do not."""
    found = {line: None for name in known if (line := brand_of(name))}
    usual = {folded(name) for line in found for name in brands()[line]}
    others = [of_name(name) for name in known if folded(name) not in usual]
    return " ".join([*(f"${_key(line)}" for line in found), *others])


def _key(brand: str) -> str:
    """A name without spaces, which stand between tokens."""
    return brand.replace(" ", "_")


@lru_cache(KEPT)
def _kind(category: str) -> str:
    found = dict.fromkeys(one for word in kinds(category) for one in _of_kind(word))
    return " ".join(found)


def _of_kind(word: str) -> Iterator[str]:
    if word not in _own():
        yield f"%{word[:LONGEST]}"
    yield from (f"%+{line}" for line in lines_of(word))


@cache
def _own() -> dict[str, list[str]]:
    """The tokens of each word of the trade by itself. Those that a text is not cut into never stand in one."""
    return {word: of_word(word).split() for word in trade() if words(word) == [word]}


@cache
def _meant() -> dict[str, tuple[str, ...]]:
    """By token what stands for it; a word not where its line does, for whatever has the word has the line."""
    found: dict[str, dict[str, None]] = {}
    for mark, tokens in _all_marks():
        for token in tokens:
            found.setdefault(token, {})[mark] = None
    return {token: tuple(mark for mark in marks if not _is_said_by_line(mark, marks)) for token, marks in found.items()}


def _is_said_by_line(mark: str, marks: dict[str, None]) -> bool:
    return mark.startswith("#") and any(f"+{line}" in marks for line in lines_of(mark[1:]))


def _all_marks() -> Iterator[tuple[str, list[str]]]:
    for word, tokens in _own().items():
        yield f"#{word}", tokens
    for line, (same, sort) in lines().items():
        called = [one for word in same for one in all_words(word)]
        yield f"+{line}", of_others(called, [one for word in sort for one in all_words(word)])
        yield f"%+{line}", [f"%{one[:LONGEST]}" for word in same for one in words(word)]
    for brand, known in brands().items():
        yield f"${_key(brand)}", " ".join(map(of_name, known)).split()
