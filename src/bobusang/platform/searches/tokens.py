"""The tokens under which documents are filed, and those that a typed word asks for; a match is having all of them.

`=나이키` is a whole word, `@나이키` one of the brand or the model number, `%패딩` one of the category, `^나` how a word
begins, `나이` two letters that stand side by side (three of Latin), `ㄴㅇ` how a word's initials begin.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.platform.search import LONGEST_KEYWORD
from bobusang.platform.searches.synonyms import known_as, synonyms, wider
from bobusang.platform.searches.words import (
    compact,
    compounds,
    folded,
    initials,
    is_dense,
    is_hangul,
    is_initials,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.platform.search import Document

LONGEST = 40
"""Letters of a word that are filed."""
LONGEST_INITIALS = 10
MOST_WORDS = 16
KEPT = 100_000
"""Pieces of names whose tokens are remembered: names are made of few, again and again. As a text, for a hundred
thousand sets would keep the collector of garbage busy; numbers are left out, for each is another."""

_CODE = re.compile(
    r"(?<![^\s(\[])(?=[^\s)\]]*\d)[0-9A-Z._-]{5,}(?: (?=[^\s)\]]*\d|[A-Z]{4})[0-9A-Z._-]{2,}){1,3}(?![^\s)\]])"
)


def asked(word: str) -> tuple[str, ...]:
    """What a document must have for this word to be found in it, as a part of one of its words."""
    if is_initials(word):
        return (word[:LONGEST_INITIALS],)
    return tuple(dict.fromkeys(grams(word[:LONGEST]))) or (f"^{word}",)


def grams(word: str) -> list[str]:
    """Letters of a word that stand side by side: two, or three of Latin."""
    size = 2 if is_dense(word) else 3
    return [word[place : place + size] for place in range(len(word) - size + 1)]


def of_word(word: str) -> str:
    """Everything one word of a document is found by."""
    word = word[:LONGEST]
    if is_dense(word):
        return " ".join((f"={word} ^{word[0]}", *grams(word), *(_initials(word) if is_hangul(word) else ())))
    return " ".join((f"={word} ^{word[0]}", *((f"^{word[:2]}",) if len(word) > 1 else ()), *grams(word)))


def _initials(word: str) -> list[str]:
    letters = initials(word[:LONGEST_INITIALS])
    return [f"={letters}", *(letters[:length] for length in range(1, len(letters) + 1))]


@lru_cache(KEPT)
def _piece(text: str) -> str:
    """The tokens of what stands between two spaces; of other words for it, and of what it is a kind of, only what
    asks for them. The last are no whole words, so that they are found after what is called so."""
    known = all_words(folded(text))
    same = [one for word in known for other in synonyms(word) for one in all_words(other) if one not in known]
    sort = [one for word in known for other in wider(word) for one in all_words(other)]
    return _once([*map(of_word, known), *of_others(same, sort)])


def of_others(same: Sequence[str], sort: Sequence[str]) -> list[str]:
    """The tokens of other words for one that stands in a document, and of what that is a kind of."""
    return [f"={word}" for word in same] + [one for word in (*same, *sort) for one in asked(word)]


def of_name(text: str) -> str:
    """The tokens of a brand's name or a model number, which is also typed as one word."""
    plain = folded(text)
    if plain.isascii():
        known = {plain} if plain.isalnum() else {*all_words(plain), compact(plain)} - {""}
        return " ".join([f"@{word[:LONGEST]} {of_word(word)}" for word in known])
    known = {*all_words(plain), compact(plain)} - {""}
    marks = {word[:LONGEST] for word in known} | {initials(word[:LONGEST_INITIALS]) for word in known}
    return " ".join([*(f"@{word}" for word in marks), *map(of_word, known)])


@lru_cache(KEPT)
def _called(known: tuple[str, ...]) -> str:
    """The tokens of all names of a brand."""
    return _once([*map(of_name, known), *map(of_name, known_as(known))])


def kinds(category: str) -> list[str]:
    """The words of the last part of a category."""
    return words(folded(category.rpartition(">")[2]))


@lru_cache(KEPT)
def _kind(category: str) -> str:
    """The marks of the last part of a category and of other words for it, by which goods that are a 패딩 go before
    those that have the word. Nothing is found by them alone."""
    known = kinds(category)
    same = [one for word in known for other in synonyms(word) for one in words(other)]
    return " ".join(f"%{word[:LONGEST]}" for word in dict.fromkeys([*known, *same]))


def _once(texts: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(" ".join(texts).split()))


def all_words(plain: str) -> list[str]:
    return [*words(plain), *compounds(plain)]


def codes(name: str) -> list[str]:
    """Model numbers that are written with spaces, in brackets or not, as one word: `(014230654 L0056)` is
    `014230654l0056`."""
    return [compact(folded(code)) for code in _CODE.findall(name)]


def names(document: Document) -> tuple[str, ...]:
    """What its brand is called."""
    return (document.brand, document.brand_ko, *document.aliases)


def pieces(document: Document) -> list[str]:
    """What stands between two spaces in what it is called and in its colours, without its model number, which most
    names have: no other word of a name is new so often."""
    name, model = document.name, document.model
    found = (name.replace(model, " ") if model else name).split()
    return [*found, *document.translated.split(), *document.colours.split()]


def filed(document: Document) -> str:
    """Everything it is found by, a space between; some of it twice."""
    likely = () if document.model else map(of_word, codes(document.name))
    numbers = (of_name(document.model), of_name(document.product_id), *likely)
    known = _called(names(document))
    return " ".join([*map(_piece, pieces(document)), known, *numbers, _kind(document.category)])


def is_filed_alike(document: Document, other: Document) -> bool:
    """Whether both are found by the same, as far as what that is made of tells."""
    return _filed_by(document) == _filed_by(other)


def _filed_by(document: Document) -> tuple[object, ...]:
    """All that `filed` looks at."""
    said = (document.name, document.translated, document.colours, document.model)
    return (*said, document.product_id, names(document), document.category)


def tokens(document: Document) -> frozenset[str]:
    """Everything it is found by: a change of the document can change the answers to whatever asks for one of them."""
    return frozenset(filed(document).split())


def wanted(keyword: str) -> tuple[str, ...]:
    """The words of what was typed that are looked for."""
    return tuple(words(folded(keyword[:LONGEST_KEYWORD]))[:MOST_WORDS])


def shared(keyword: str) -> tuple[str, ...]:
    """Tokens that every document has which is found by this keyword as it was typed: those of its longest word."""
    return max(map(asked, wanted(keyword)), key=len, default=())
