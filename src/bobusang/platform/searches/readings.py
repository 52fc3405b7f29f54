"""What else may have been meant by what was typed: the other keyboard, words written as one, a typo, wider words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.platform.searches.marking import distance
from bobusang.platform.searches.synonyms import known_as, trade, wider
from bobusang.platform.searches.tokens import LONGEST
from bobusang.platform.searches.words import as_hangul, as_latin, is_dense, is_hangul

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHORTEST_TYPO = 4
SHORTEST_TWO_TYPOS = 8
"""Jamo or letters of a word in which one wrong letter, or two, still leave it recognisable."""

_EAST = re.compile(r"[ㄱ-ㅣ가-힣]")


def turned(typed: str) -> list[str]:
    """The same keys on the other keyboard: all Latin words as Hangul, all Hangul words as Latin."""
    pieces = typed.split()
    hangul = " ".join(as_hangul(piece) or piece for piece in pieces)
    latin = " ".join(as_latin(piece) if _EAST.search(piece) else piece for piece in pieces)
    return [reading for reading in (hangul, latin) if reading != typed]


def split_up(word: str, known: Callable[[str], int]) -> tuple[str, ...]:
    """A word as the fewest words that are known, of those the most frequent; itself where there are none.

    A single syllable is a word only among longer ones (`벨티드롱코트`, `드라이핏`): most are a word somewhere.
    """
    if len(word) > LONGEST:
        return (word,)
    pieces = _split(word, known, 2 if is_dense(word) else 3)
    if not pieces and is_dense(word):
        pieces = _split(word, known, 1)
        singles = sum(len(piece) == 1 for piece in pieces)
        pieces = pieces if singles == 1 and (len(pieces) > 2 or len(word) > 3) else ()
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


def corrected(found: Sequence[str], known: Callable[[str], int]) -> tuple[str, ...]:
    """Words with a typo in a word of the trade that no product has as it is typed there (`sneekers`) put right. Hangul
    is what malls write: its typos are looked for among their own words."""
    return tuple(word if is_hangul(word) or known(word) else _nearest(word) for word in found)


@lru_cache(10_000)
def _nearest(word: str) -> str:
    if not SHORTEST_TYPO <= len(word) <= LONGEST:
        return word
    most = 1 if len(word) < SHORTEST_TWO_TYPOS else 2
    likely = [other for other in trade() if other[0] == word[0] and abs(len(other) - len(word)) <= most]
    wrong, nearest = min(((distance(word, other, most), other) for other in likely), default=(most + 1, word))
    return nearest if wrong <= most else word


def instead(found: Sequence[str], known: Callable[[str], int]) -> tuple[str, ...]:
    """Goods that there are none of replaced by what they are a kind of: `가디건` by `니트`. Not where words that are
    known were written as one: who types `나이키패딩` does not ask for everybody's jackets."""
    return tuple(word if known(word) or len(split_up(word, known)) > 1 else _wider(word, known) for word in found)


def _wider(word: str, known: Callable[[str], int]) -> str:
    return next(filter(known, wider(word)), word)


def known_only(found: Sequence[str], known: Callable[[str], int]) -> tuple[str, ...]:
    """Without words that no product has (`겨울 패딩`); nothing where one of them is a brand, for who asks for goods of
    a brand that is not there does not want another's."""
    kept = tuple(word for word in found if known(word) or word in trade())
    return () if any(known_as((word,)) for word in found if word not in kept) else kept
