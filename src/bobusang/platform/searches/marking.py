"""Marking in a product's texts what it was found by: «나이키» 패딩."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.platform.searches.words import LEADS, folded, is_dense, is_initials, jamo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bobusang.platform.search import Document

MARKED = ("name", "translated", "brand", "brand_ko", "model")
REMEMBERED = 100
"""Texts of each kind that a marker has looked at: a thousand markers may be kept."""

_RUN = re.compile(r"[^\W_]+")
_BEGIN = r"(?<![^\W_])"
_SIGNS = r"[\W_]*"


def marked(document: Document, words: Sequence[str], *, loose: bool = False) -> dict[str, str]:
    """Its texts in which one of the words stands, as it stands there; `loose`: or almost, as with a typo."""
    return Marker(words, loose=loose).marked(document)


class Marker:
    """The words of one search, ready to be found in the texts of many documents."""

    def __init__(self, words: Sequence[str], *, loose: bool = False) -> None:
        patterns = [_pattern(word) for word in sorted(words, key=len, reverse=True)]
        self._pattern = re.compile("|".join(patterns)) if patterns else None
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
        if self._pattern is None:
            return ""
        plain = folded(text)
        spans: Iterable[tuple[int, int]] = [found.span() for found in self._pattern.finditer(plain)]
        if len(plain) != len(text):
            spans = list(_unfolded(text, self._pattern))
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
                near = self._near[word] = self._sounds_like(jamo(folded(word)))
            if near:
                yield run.span()

    def _sounds_like(self, sound: str) -> bool:
        return any(
            abs(len(sound) - len(one)) <= 2 and distance(sound, one) <= max(1, len(one) // 4) for one in self._sounds
        )


def _pattern(word: str) -> str:
    """How a word stands in a folded text: signs may stand between its letters, and a short one begins a word."""
    if is_initials(word):
        return _BEGIN + "".join(_syllables(letter) for letter in word)
    letters = _SIGNS.join(map(re.escape, word))
    return _BEGIN + letters if len(word) < (2 if is_dense(word) else 3) else letters


def _syllables(lead: str) -> str:
    first = ord("가") + LEADS.index(lead) * 588
    return f"[{chr(first)}-{chr(first + 587)}]"


def _unfolded(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Where a pattern stands in a text whose folded form has another length: letter by letter."""
    letters = [(place, letter) for place, raw in enumerate(text) for letter in folded(raw)]
    for found in pattern.finditer("".join(letter for _, letter in letters)):
        yield letters[found.start()][0], letters[found.end() - 1][0] + 1


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
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
