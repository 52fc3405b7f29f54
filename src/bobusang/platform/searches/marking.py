"""Marking in a product's texts what it was found by: «나이키» 패딩."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.platform.search import LONGEST_KEYWORD
from bobusang.platform.searches.words import compact, folded, initials, is_dense, is_initials, jamo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bobusang.platform.search import Document

MARKED = ("name", "translated", "brand", "brand_ko", "model")
REMEMBERED = 100
"""Texts of each kind that a marker has looked at: a thousand markers may be kept."""

_RUN = re.compile(r"[^\W_]+")


def marked(document: Document, words: Sequence[str], *, loose: bool = False) -> dict[str, str]:
    """Its texts in which one of the words stands, as it stands there; `loose`: or almost, as with a typo."""
    return Marker(words, loose=loose).marked(document)


class Marker:
    """The words of one search, ready to be found in the texts of many documents."""

    def __init__(self, words: Sequence[str], *, loose: bool = False) -> None:
        self._heads = [word for word in words if is_initials(word)]
        self._words = [word for word in words if word not in self._heads]
        self._sounds = [jamo(word) for word in words if len(word) > 1] if loose else []
        self._known: dict[str, str] = {}
        self._near: dict[str, bool] = {}

    def marked(self, document: Document) -> dict[str, str]:
        """Its texts in which something stands between « and »."""
        found = {name: self._text(text) for name in MARKED if (text := getattr(document, name))}
        return {name: text for name, text in found.items() if text}

    def _text(self, text: str) -> str:
        """Hits of one search have few brands: what was marked once is not looked at again."""
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[text] = self._looked_at(text)
        return known

    def _looked_at(self, text: str) -> str:
        spans: Iterable[tuple[int, int]] = _standing(self._words, self._heads, text)
        if self._sounds:
            spans = _joined([*spans, *self._nearly(text)])
        pieces, last = [], 0
        for start, end in spans:
            pieces += [text[last:start], "«", text[start:end], "»"]
            last = end
        return "".join([*pieces, text[last:]]) if last else ""

    def _nearly(self, text: str) -> Iterator[tuple[int, int]]:
        for run in _RUN.finditer(text):
            word = run[0]
            near = self._near.get(word)
            if near is None:
                if len(self._near) >= REMEMBERED:
                    self._near.clear()
                near = self._near[word] = self._sounds_like(_sound(word))
            if near:
                yield run.span()

    def _sounds_like(self, sound: str) -> bool:
        return any(_near(sound, one, max(1, len(one) // 4)) for one in self._sounds)


def _near(sound: str, other: str, most: int) -> bool:
    if abs(len(sound) - len(other)) > min(most, 2) or len(set(sound) ^ set(other)) > 2 * most:
        return False  # a wrong letter is one that is missing and one that is too many
    return distance(sound, other, most) <= most


@lru_cache(10_000)
def _sound(word: str) -> str:
    return jamo(folded(word))


def _standing(words: Sequence[str], heads: Sequence[str], text: str) -> Iterator[tuple[int, int]]:
    """Where words stand in a text, signs between their letters or not, and `heads` as the initials of one. Without
    regular expressions: they are another for each search, and making one takes as long as the search."""
    plain, origin = _folded(text)
    bare = compact(plain)
    found = [span for word in words if word in bare for span in _places(word, bare)]
    short = [span for head in heads for span in _places(head, initials(bare))]
    if not found and not short:
        return
    signs = len(bare) < len(plain)
    places = [place for place, letter in enumerate(plain) if letter.isalnum()] if signs else range(len(plain))
    begin = {at for at, place in enumerate(places) if at == 0 or place > places[at - 1] + 1}
    found = [
        (start, end) for start, end in found if start in begin or end - start >= (2 if is_dense(bare[start]) else 3)
    ]
    found += [(start, end) for start, end in short if start in begin and begin.isdisjoint(range(start + 1, end))]
    last = 0
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= last:
            yield origin[places[start]], origin[places[end - 1]] + 1
            last = end


def _places(word: str, text: str) -> Iterator[tuple[int, int]]:
    start = text.find(word)
    while start >= 0:
        yield start, start + len(word)
        start = text.find(word, start + 1)


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """A folded text, and for each letter of it which one of the text it comes from: `㎏` is two letters."""
    plain = folded(text)
    if len(plain) == len(text):
        return plain, range(len(plain))
    letters = [(place, letter) for place, raw in enumerate(text) for letter in folded(raw)]
    return "".join(letter for _, letter in letters), [place for place, _ in letters]


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def distance(one: str, other: str, most: int = LONGEST_KEYWORD) -> int:
    """How many letters were added, left out, exchanged or swapped with their neighbour; from more than `most` on it is
    not counted further."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, theirs in enumerate(other, 1):
            least = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != theirs))
            if row > 1 < column and letter == other[column - 2] and one[row - 2] == theirs:
                least = min(least, before[column - 2] + 1)
            line.append(least)
        if min(line) > most < min(above):
            return most + 1
        before, above = above, line
    return above[-1]
