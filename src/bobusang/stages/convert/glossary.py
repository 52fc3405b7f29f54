"""Words with a fixed translation: the longest first, inside compounds, with a Korean particle after them or none."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.catalog.rules import digest
from bobusang.stages.convert.text import has_hangul
from bobusang.stages.convert.transliteration import transliterate

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN = re.compile("[가-힣]+")
PARTICLES = {
    "은": "は",
    "는": "は",
    "이": "が",
    "가": "が",
    "을": "を",
    "를": "を",
    "의": "の",
    "에": "に",
    "에서": "で",
    "로": "で",
    "으로": "で",
    "와": "と",
    "과": "と",
    "도": "も",
    "만": "のみ",
    "용": "用",
    "및": "及び",
}
HEADS = frozenset({"garment", "bag", "shoes", "accessory"})
"""Kinds of things. One that is a single syllable is only the end of a compound: 백 is a bag in 숄더백, but white in
백바지 and the back in 백로고; 진 is jeans in 블랙진 and dark in 진회색."""
LONGEST_CACHE = 50_000
LONGEST_WORD = 24
"""No word is longer; taking apart a page without blanks would never end."""


@dataclass(frozen=True, slots=True)
class Term:
    """One word or phrase and what it is called there."""

    term: str
    translation: str
    kind: str = ""
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a word: translated, or None where no term knows it."""

    source: str
    translation: str | None


@dataclass(frozen=True, slots=True)
class Rendering:
    """A text by glossary, the rest by its sound; `known` when nothing had to be sounded."""

    text: str
    known: bool
    used: tuple[str, ...] = ()


class Glossary:
    """Terms, ready to be found; of two for the same word the later one counts."""

    def __init__(self, terms: Iterable[Term]) -> None:
        every = {term.term: term for term in terms}
        self.mark = digest(sorted(repr(term) for term in every.values()))
        """The same for the same terms."""
        self._words = {term.term: term.translation for term in every.values() if RUN.fullmatch(term.term)}
        self._heads = frozenset(one.term for one in every.values() if len(one.term) == 1 and one.kind in HEADS)
        self._longest = max(map(len, self._words), default=0)
        self._phrases = {
            (term.term if term.case_sensitive else term.term.casefold()): term
            for term in every.values()
            if term.term not in self._words
        }
        self._phrase = _phrase_pattern(self._phrases.values())
        self._cache: dict[str, tuple[Piece, ...]] = {}

    def render(self, text: str) -> Rendering:
        """All of it in the target's words and kana."""
        used: list[str] = []
        known = True

        def word(match: re.Match[str]) -> str:
            nonlocal known
            pieces = self.pieces(match[0])
            known = known and all(piece.translation is not None for piece in pieces)
            used.extend(piece.source for piece in pieces if piece.translation is not None and len(piece.source) > 1)
            return _spelled(pieces)

        done = RUN.sub(word, self._phrases_in(text, used))
        known = known and not has_hangul(done)
        return Rendering(transliterate(done), known, tuple(dict.fromkeys(used)))

    def translation(self, term: str) -> str | None:
        """What a term is called, if it is one."""
        phrase = self._phrases.get(term) or self._phrases.get(term.casefold())
        return self._words.get(term) or (phrase.translation if phrase else None)

    def pieces(self, run: str) -> tuple[Piece, ...]:
        """A word in parts; the same word comes again and again, so it is taken apart once."""
        found = self._cache.get(run)
        if found is None:
            if len(self._cache) >= LONGEST_CACHE:
                self._cache.clear()
            found = self._cache[run] = self._taken_apart(run)
        return found

    def _taken_apart(self, run: str, *, last: bool = True) -> tuple[Piece, ...]:
        """A word in parts, or the beginning of one: then nothing of it is its `last`."""
        if len(run) > LONGEST_WORD:
            return (Piece(run, None),)
        whole = self._whole(run, single=True, last=last)
        return whole or self._ending(run) or self._beginning(run, last=last) or (Piece(run, None),)

    def _whole(self, run: str, *, single: bool, first: bool = True, last: bool = True) -> tuple[Piece, ...] | None:
        """The word as nothing but terms, perhaps with a particle at its end.

        At most one term of a single syllable: two of them side by side are more likely a name.
        """
        for size in range(min(len(run), self._longest), 0, -1):
            translation = self._words.get(run[:size])
            if translation is None or (size == 1 and not single):
                continue
            source, rest = run[:size], run[size:]
            is_misplaced = source in self._heads and bool(rest or not last)
            piece = Piece(source, None if is_misplaced else translation)
            if not rest:
                return (piece,)
            if size > 1 and rest in PARTICLES:
                return (piece, Piece(rest, PARTICLES[rest]))
            following = self._whole(rest, single=single and size > 1, first=False, last=last)
            if following is not None:
                return (piece, *following)
        return (Piece(run, PARTICLES[run]),) if first and run in {"및", "와", "과"} else None

    def _ending(self, run: str) -> tuple[Piece, ...] | None:
        """A term of two syllables or more at the end: the noun of a Korean compound comes last."""
        for start in range(1, len(run) - 1):
            ending = self._whole(run[start:], single=False, first=False)
            if ending is not None and len(ending[0].source) > 1:
                return (*self._taken_apart(run[:start], last=False), *ending)
        return None

    def _beginning(self, run: str, *, last: bool) -> tuple[Piece, ...] | None:
        """A term of three syllables or more at the start; a shorter one is often just how another word begins."""
        for size in range(min(len(run) - 1, self._longest), 2, -1):
            if translation := self._words.get(run[:size]):
                return (Piece(run[:size], translation), *self._taken_apart(run[size:], last=last))
        return None

    def _phrases_in(self, text: str, used: list[str]) -> str:
        if self._phrase is None:
            return text

        def phrase(match: re.Match[str]) -> str:
            written = match["phrase"]
            found = self._phrases.get(written) or self._phrases.get(written.casefold())
            if found is None or (found.case_sensitive and found.term != written):
                return match[0]
            used.append(found.term)
            return found.translation + PARTICLES.get(match["particle"] or "", "")

        return self._phrase.sub(phrase, text)


def _phrase_pattern(terms: Iterable[Term]) -> re.Pattern[str] | None:
    """Phrases with blanks or Latin letters; after one ending in Hangul a particle may follow."""
    ordered = sorted((term.term for term in terms), key=len, reverse=True)
    if not ordered:
        return None
    particle = "|".join(sorted(PARTICLES, key=len, reverse=True))
    phrase = "|".join(map(re.escape, ordered))
    return re.compile(rf"(?<![\w-])(?P<phrase>{phrase})(?P<particle>{particle})?(?![\w-])", re.IGNORECASE)


def _spelled(pieces: Iterable[Piece]) -> str:
    return "".join(transliterate(piece.source) if piece.translation is None else piece.translation for piece in pieces)


@cache
def shipped() -> tuple[Term, ...]:
    """Korean to Japanese, for fashion: colours, garments, bags, shoes, materials, sizes, patterns, care."""
    text = files(__package__).joinpath("fashion_ko_ja.csv").read_text(encoding="utf-8")
    return tuple(Term(row["term"], row["translation"], row["kind"]) for row in csv.DictReader(text.splitlines()))
