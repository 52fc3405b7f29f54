"""Marking in a product's texts what it was found by: «나이키» 패딩."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.platform.searches.words import folded, initials, is_dense, is_initials, jamo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bobusang.platform.search import Document

MARKED = ("name", "translated", "brand", "brand_ko", "model")
_RUN = re.compile(r"[^\W_]+")


def marked(document: Document, words: Sequence[str], *, loose: bool = False) -> dict[str, str]:
    """Its texts in which one of the words stands, as it stands there; `loose`: or almost, as with a typo."""
    found = {name: _marked(getattr(document, name), words, loose) for name in MARKED}
    return {name: text for name, text in found.items() if text}


def _marked(text: str, words: Sequence[str], loose: bool) -> str:
    letters, places = _letters(text)
    found = {word: list((_initials if is_initials(word) else _parts)(letters, places, word)) for word in words}
    exact = [(places[start], places[end - 1] + 1) for spans in found.values() for start, end in spans]
    almost = _nearly(text, [word for word, spans in found.items() if not spans]) if loose else ()
    spans = _joined([*exact, *almost])
    pieces, last = [], 0
    for start, end in spans:
        pieces += [text[last:start], "«", text[start:end], "»"]
        last = end
    return "".join([*pieces, text[last:]]) if spans else ""


def _letters(text: str) -> tuple[str, list[int]]:
    """A text folded, without signs, and where each letter stood."""
    plain = folded(text)
    same = len(plain) == len(text)
    pairs = enumerate(plain) if same else ((place, one) for place, raw in enumerate(text) for one in folded(raw))
    kept = [(place, letter) for place, letter in pairs if letter.isalnum()]
    return "".join(letter for _, letter in kept), [place for place, _ in kept]


def _parts(letters: str, places: Sequence[int], word: str) -> Iterator[tuple[int, int]]:
    begins = len(word) < (2 if is_dense(word) else 3)  # so short a word is looked for where words begin
    at = letters.find(word)
    while at >= 0:
        if not begins or _begins(places, at):
            yield at, at + len(word)
        at = letters.find(word, at + 1)


def _initials(letters: str, places: Sequence[int], word: str) -> Iterator[tuple[int, int]]:
    return (found for found in _parts(initials(letters), places, word) if _begins(places, found[0]))


def _begins(places: Sequence[int], at: int) -> bool:
    return at == 0 or places[at] - places[at - 1] > 1


def _nearly(text: str, words: Iterable[str]) -> Iterator[tuple[int, int]]:
    sounds = [jamo(word) for word in words]
    for run in _RUN.finditer(text):
        sound = jamo(folded(run[0]))
        if any(abs(len(sound) - len(one)) <= 2 and distance(sound, one) <= max(1, len(one) // 4) for one in sounds):
            yield run.span()


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def distance(one: str, other: str) -> int:
    """How many letters were added, left out, exchanged or swapped with their neighbour."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, theirs in enumerate(other, 1):
            least = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != theirs))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == theirs:
                least = min(least, before[column - 2] + 1)
            line.append(least)
        before, above = above, line
    return above[-1]
