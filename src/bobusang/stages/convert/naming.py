"""Names compared by their tokens: exactly, by an alias, or nearly; lines of a brand are never its house."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Set

SURE = 0.9
"""From here on a proposal is written beside its row, still for a person to accept; below, it is only shown."""
DOUBT = 0.5
"""Several rows are called so, or one that is made for others."""
NEARLY, SHARED = 0.94, 0.89
"""What is only near is never as sure as an alias; where two are as near, neither is sure."""
SHORT = 2
"""Names of so few letters are the same or not: nearly the same says nothing of them."""

_TOKEN = re.compile(r"[0-9a-z]+|[가-힣]+|[ぁ-ゖァ-ヺー一-龠]+")
_INSIDE = re.compile(r"[(（\[]([^()（）\[\]]+)[)）\]]")
_LINES = frozenset(
    (
        *("kids", "kid", "junior", "baby", "enfant", "children", "girls", "boys", "mini", "petit", "mm6", "golf"),
        *("sport", "sports", "jeans", "home", "beauty", "parfums", "eyewear", "underwear", "swim", "homme", "femme"),
        *("키즈", "주니어", "베이비", "골프", "스포츠", "진", "홈", "뷰티", "옴므", "キッズ", "ベビー", "ゴルフ"),
    )
)
"""Words that make a line of its own: GUCCI is not GUCCI KIDS, MM6 is not Maison Margiela."""


class How(StrEnum):
    """By what a name was found."""

    EXACT = "exact"
    ALIAS = "alias"
    FUZZY = "fuzzy"


LEVELS = {How.EXACT: 1, How.ALIAS: 2, How.FUZZY: 3}


@dataclass(frozen=True, slots=True)
class Match:
    """A row of the market's list that a name may stand for."""

    id: int
    name: str
    how: How
    confidence: float

    @property
    def sure(self) -> bool:
        return self.confidence >= SURE


@lru_cache(maxsize=65_536)
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name without case, accents, dots and apostrophes: A.P.C. is `apc`, ARC'TERYX `arcteryx`."""
    plain = normalize("NFKD", name).casefold()
    plain = "".join(sign for sign in plain if not combining(sign) or sign in "\u3099\u309a")
    plain = re.sub(r"[.'’‘`´]", "", normalize("NFC", plain)).replace("&", " and ")
    return tuple(_TOKEN.findall(plain))


def folded(name: str) -> str:
    """A name as it is looked up by."""
    return " ".join(tokens(name))


def parts(name: str) -> list[str]:
    """A name whole, before its parenthesis, and inside it: `GUCCI(グッチ)` is called all three."""
    inside = _INSIDE.findall(name)
    if not inside:
        return [name]
    return [part for part in (name, _INSIDE.sub(" ", name), *inside) if tokens(part)]


def nearness(one: str, other: str) -> float:
    """How near two names are, token by token, from 0 to 1; names of different lines, and short names that differ,
    are not near at all."""
    mine, theirs = tokens(one), tokens(other)
    if not mine or not theirs or _LINES.intersection(mine) != _LINES.intersection(theirs):
        return 0.0
    left = list(theirs)
    shared = 0.0
    for token in mine:
        best = max(left, key=lambda candidate: _near(token, candidate), default="")
        near = _near(token, best) if best else 0.0
        if near > 0:
            left.remove(best)
            shared += near
    return 2 * shared / (len(mine) + len(theirs))


@lru_cache(maxsize=65_536)
def _near(one: str, other: str) -> float:
    if one == other:
        return 1.0
    if min(len(one), len(other)) <= SHORT + 1 or any(sign.isdigit() for sign in one + other):
        return 0.0
    ratio = SequenceMatcher(None, one, other).ratio()
    return ratio if ratio >= 0.8 else 0.0


class Names:
    """The names of a market's list, to be searched."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        self.names = dict(rows)
        self._whole: defaultdict[str, set[int]] = defaultdict(set)
        self._called: defaultdict[str, set[int]] = defaultdict(set)
        self._starts: defaultdict[str, set[int]] = defaultdict(set)
        for id, name in self.names.items():
            self._whole[folded(name)].add(id)
            for part in parts(name):
                self._called[folded(part)].add(id)
                for token in tokens(part):
                    self._starts[token[:3]].add(id)

    def find(self, called: Iterable[str], aliases: Mapping[str, str], meant: Set[int] = frozenset()) -> list[Match]:
        """Rows that one of these names may stand for, the best first; one that two rows share is a doubt, unless one
        of them alone is `meant`."""
        wanted = [name for text in called for name in parts(text)]
        exact = set().union(*(self._whole.get(folded(name), ()) for name in wanted))
        if exact:
            return self._matches(exact & meant or exact, How.EXACT, 1.0)
        other = [aliases[folded(name)] for name in wanted if folded(name) in aliases]
        alias = set().union(*(self._called.get(folded(name), ()) for name in (*wanted, *other)))
        if alias:
            return self._matches(alias & meant or alias, How.ALIAS, 0.95)
        return self._fuzzy([*wanted, *other], meant)

    def _matches(self, ids: set[int], how: How, confidence: float) -> list[Match]:
        told = confidence if len(ids) == 1 else DOUBT
        return [Match(id, self.names[id], how, told) for id in sorted(ids)]

    def _fuzzy(self, wanted: list[str], meant: Set[int]) -> list[Match]:
        near: dict[int, float] = {}
        for name in wanted:
            for id in set().union(*(self._starts.get(token[:3], ()) for token in tokens(name))):
                score = max(nearness(name, part) for part in parts(self.names[id]))
                near[id] = max(near.get(id, 0.0), score)
        best = sorted(((score, id in meant, -id) for id, score in near.items() if score >= 0.5), reverse=True)[:5]
        most = SHARED if len({one[:2] for one in best[:2]}) < len(best[:2]) else NEARLY
        return [Match(-id, self.names[-id], How.FUZZY, round(min(score, most), 3)) for score, _, id in best]
