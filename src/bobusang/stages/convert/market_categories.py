"""The market's categories, found by what a mall calls its own: the last step in the market's words, and whom it is for.

Markets have the same names under women, men and children, and malls say it somewhere in the path.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.catalog.categories import SEPARATOR
from bobusang.stages.convert.masters import Kind, name_of, path_of
from bobusang.stages.convert.naming import DOUBT, Names, folded, parts, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.stages.convert.glossary import Glossary
    from bobusang.stages.convert.masters import Masters
    from bobusang.stages.convert.naming import Match


class Audience(StrEnum):
    """Whom goods are made for."""

    WOMEN = "women"
    MEN = "men"
    KIDS = "kids"


_WORDS = {
    Audience.WOMEN: "women woman ladies lady female 여성 여자 우먼 レディース ウィメンズ",
    Audience.MEN: "men man male 남성 남자 맨즈 メンズ",
    Audience.KIDS: "kid baby junior children girl boy 키즈 아동 유아 베이비 주니어 남아 여아 キッズ ベビー 子供",
}
_SAYING = {
    audience: re.compile("|".join(rf"\b{word}(?:['’]?s)?\b" if word.isascii() else word for word in words.split()))
    for audience, words in _WORDS.items()
}
_ANY = re.compile("|".join(pattern.pattern for pattern in _SAYING.values()), re.IGNORECASE)


def audience(text: str) -> Audience | None:
    """Whom a path is for; None where it says nothing, or women and men."""
    words = " ".join(tokens(text))
    said = [one for one, pattern in _SAYING.items() if pattern.search(words)]
    if Audience.KIDS in said:  # a girl's is said as 키즈 > 여성 too
        return Audience.KIDS
    return said[0] if len(said) == 1 else None


class Categories:
    """The categories of a market's list, to be searched in the words of a glossary."""

    def __init__(self, masters: Masters, glossary: Glossary) -> None:
        rows = {id: row for id, row in masters.numbered(Kind.CATEGORIES) if id}
        self._glossary = glossary
        self._names = Names((id, name_of(Kind.CATEGORIES, row)) for id, row in rows.items())
        self._paths = {id: path_of(Kind.CATEGORIES, row) for id, row in rows.items()}
        self._for = {id: audience(path) for id, path in self._paths.items()}

    def find(self, path: str, gender: str = "") -> list[Match]:
        """What a mall's category may be, the best first, each by its whole path.

        What is for others than the mall says is a doubt, however well it is called the same.
        """
        mine = audience(f"{gender} {path}")
        meant = frozenset(id for id, theirs in self._for.items() if mine and theirs is mine)
        called = _called(path)
        found = self._names.find(called, self._translated(called), meant)
        told = [replace(one, name=self._paths[one.id], confidence=self._doubted(one, mine)) for one in found]
        return sorted(told, key=lambda one: -one.confidence)

    def _doubted(self, found: Match, mine: Audience | None) -> float:
        theirs = self._for[found.id]
        return min(found.confidence, DOUBT) if mine and theirs and theirs is not mine else found.confidence

    def _translated(self, called: Sequence[str]) -> dict[str, str]:
        """Names by what the glossary calls them; one that would have to be sounded is none."""
        names = [part for name in called for part in parts(name)]
        rendered = {folded(name): self._glossary.render(name) for name in names}
        return {name: one.text for name, one in rendered.items() if one.known}


def _called(path: str) -> list[str]:
    """The last step that says what it is, as it is and without whom it is for: `여성 코트 > 여성` gives the coat."""
    steps = [step for step in path.split(SEPARATOR) if tokens(_ANY.sub(" ", step))]
    return [steps[-1], _ANY.sub(" ", steps[-1])] if steps else []
