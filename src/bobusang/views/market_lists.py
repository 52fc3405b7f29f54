"""The market's brands and categories by name: what a mall's may be, and what a person finds by typing."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.convert import mastering, memory
from bobusang.stages.convert.glossary import Glossary
from bobusang.stages.convert.market_categories import Categories
from bobusang.stages.convert.masters import Kind, Masters, name_of, path_of
from bobusang.stages.convert.naming import Match, Names, folded
from bobusang.stages.convert.reviewing import Subject
from bobusang.views.mappings import Proposed

KINDS = {Subject.BRAND: Kind.BRANDS, Subject.CATEGORY: Kind.CATEGORIES}
REMEMBERED = 4096

MARK = Statement("""
    select kind, max(version) as version from market_masters
    where market = :market and kind in ('brands', 'categories') group by kind order by kind""")
ALIASES = Statement("""
    select mall_brand_name_ko, mall_brand_name_en from mall_brands
    where mall_brand_name_ko in (:names...) and mall_brand_name_en is not null""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A row of the market's list, by all that it is called."""

    market_id: int
    name: str


Find = Callable[[Sequence[str], Mapping[str, str]], list[Match]]


class Named:
    """One of the market's lists, to be searched; what was once compared is remembered."""

    def __init__(self, paths: Mapping[int, str], find: Find) -> None:
        """Rows by number with their whole path, and how they are found by what a mall calls its own."""
        self._paths = paths
        self._find = find
        self._folded = [(id, f"{path} {folded(path)}".casefold()) for id, path in self._paths.items()]
        self._found = lru_cache(maxsize=REMEMBERED)(self._compared)

    def path(self, id: int | None) -> str:
        """What a row is called; empty: there is none such."""
        return self._paths.get(id, "") if id is not None else ""

    def proposed(self, called: Sequence[str], aliases: Mapping[str, str]) -> list[Proposed]:
        """Rows that something of these names may be, the best first; a category is asked for by its path and its
        gender."""
        mine = tuple(sorted((name, aliases[name]) for name in map(folded, called) if name in aliases))
        return self._found(tuple(called), mine)

    def search(self, text: str, limit: int) -> list[Choice]:
        """Rows whose path has all these words, or that have this number; the shortest first."""
        words = text.casefold().split()
        if not words:
            return []
        number = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
        hits = [id for id, path in self._folded if id == number or all(word in path for word in words)]
        best = sorted(hits, key=lambda id: (id != number, len(self._paths[id]), self._paths[id]))
        return [Choice(market_id=id, name=self._paths[id]) for id in best[:limit]]

    def _compared(self, called: tuple[str, ...], aliases: tuple[tuple[str, str], ...]) -> list[Proposed]:
        return [
            Proposed(market_id=one.id, name=self._paths[one.id], how=one.how, confidence=one.confidence)
            for one in self._find(called, dict(aliases))
        ]


@dataclass(slots=True)
class MarketLists:
    """The lists of a market, kept until a newer one is imported, or the words that they are found by change."""

    market: str
    _mark: object = None
    _lists: Mapping[Subject, Named] = field(default_factory=dict)

    async def fresh(self, tx: Tx) -> Mapping[Subject, Named]:
        """The lists as they are now."""
        glossary = await memory.glossary(tx)
        versions = [(row["kind"], row["version"]) for row in await tx.fetch(MARK, market=self.market)]
        if self._mark != (versions, glossary.mark) or not self._lists:
            # Tens of thousands of names are taken apart; meanwhile others are served.
            self._lists = await asyncio.to_thread(_named, await mastering.current(tx, self.market), glossary)
            self._mark = (versions, glossary.mark)
        return self._lists


async def aliases(tx: Tx, names: Sequence[str | None]) -> dict[str, str]:
    """Hangul names to the Latin ones that malls which know both give them; a name with two meanings is none."""
    wanted = sorted({name for name in names if name})
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in await tx.fetch(ALIASES, names=wanted) if wanted else ():
        found[folded(row["mall_brand_name_ko"])].add(row["mall_brand_name_en"])
    return {name: next(iter(others)) for name, others in found.items() if len({folded(one) for one in others}) == 1}


def _named(masters: Masters, glossary: Glossary) -> dict[Subject, Named]:
    paths = {
        subject: {id: path_of(kind, row) for id, row in masters.numbered(kind) if id} for subject, kind in KINDS.items()
    }
    brands = Names((id, name_of(Kind.BRANDS, row)) for id, row in masters.numbered(Kind.BRANDS) if id)
    categories = Categories(masters, glossary)
    return {
        Subject.BRAND: Named(paths[Subject.BRAND], brands.find),
        Subject.CATEGORY: Named(paths[Subject.CATEGORY], lambda called, _: categories.find(*called)),
    }
