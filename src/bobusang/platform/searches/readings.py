"""What else may have been meant by what was typed: the other keyboard, words written as one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bobusang.platform.searches.tokens import LONGEST
from bobusang.platform.searches.words import as_hangul, as_latin, is_dense

if TYPE_CHECKING:
    from collections.abc import Callable

_EAST = re.compile(r"[ㄱ-ㅣ가-힣]")


def turned(typed: str) -> list[str]:
    """The same keys on the other keyboard: all Latin words as Hangul, all Hangul words as Latin."""
    pieces = typed.split()
    hangul = " ".join(as_hangul(piece) or piece for piece in pieces)
    latin = " ".join(as_latin(piece) if _EAST.search(piece) else piece for piece in pieces)
    return [reading for reading in (hangul, latin) if reading != typed]


def split_up(word: str, known: Callable[[str], int]) -> tuple[str, ...]:
    """A word as the fewest words that are known, of those the most frequent; itself where there are none.

    A single syllable is a word only among longer ones (`벨티드롱코트`): most syllables are a word somewhere.
    """
    if len(word) > LONGEST:
        return (word,)
    pieces = _split(word, known, 2 if is_dense(word) else 3)
    if not pieces and is_dense(word):
        pieces = _split(word, known, 1)
        singles = sum(len(piece) == 1 for piece in pieces)
        pieces = pieces if singles == 1 and len(pieces) > 2 else ()
    return pieces or (word,)


def _split(word: str, known: Callable[[str], int], least: int) -> tuple[str, ...]:
    best: list[tuple[int, int, tuple[str, ...]] | None] = [(0, 0, ())]
    for end in range(1, len(word) + 1):
        found: list[tuple[int, int, tuple[str, ...]]] = []
        for start in range(end - least + 1):
            before = best[start]
            if before is not None and (count := known(word[start:end])):
                found.append((before[0] + 1, before[1] - count, (*before[2], word[start:end])))
        best.append(min(found, default=None))
    whole = best[-1]
    return whole[2] if whole else ()
