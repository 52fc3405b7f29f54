"""What waits for a person's review, with the market's brands and categories that it may be."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from bobusang.catalog import brands, categories
from bobusang.catalog.model import Review
from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.convert import mapping, mastering, memory
from bobusang.stages.convert.glossary import Glossary
from bobusang.stages.convert.masters import Kind, Masters
from bobusang.stages.convert.naming import How, Match
from bobusang.stages.convert.reviewing import Subject
from bobusang.stages.convert.tables import market_masters

EVERY = 1_000_000
MALLS = Statement("select mall_name from mall_brands union select mall_name from mall_categories order by mall_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A row of the market's list that this may be."""

    market_id: int
    name: str
    how: How
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreviewed:
    """A mall's brand or category that nobody has reviewed; what it may be, the best first."""

    id: int
    kind: Subject
    mall: str
    key: str
    name_ko: str | None
    name_en: str | None
    market_id: int | None
    """What stands beside its row already."""
    proposals: list[Proposed]


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterLine:
    """The newest version of one of the market's lists."""

    market: str
    kind: str
    version: int
    rows: int
    checksum: str
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class Pending:
    """Rows without a review, and all that proposals for them are found by."""

    brands: list[brands.MallBrand]
    categories: list[categories.MallCategory]
    masters: Masters
    aliases: dict[str, str]
    glossary: Glossary


async def pending(
    tx: Tx, market: str, mall: str, kind: Subject | None, *, after: tuple[str, int] | None, limit: int
) -> Pending:
    """Rows of a mall that wait, its brands first; `matched` compares their names, which takes long and needs no
    database."""
    place, last = after or (Subject.BRAND.value, 0)
    every = await brands.listed(tx, mall, limit=EVERY)
    waiting = [one for one in every if one.review is Review.PROPOSED and one.id > last]
    waiting = waiting[:limit] if kind is not Subject.CATEGORY and place == Subject.BRAND else []
    others: list[categories.MallCategory] = []
    if kind is not Subject.BRAND and len(waiting) < limit:
        begin = last if place == Subject.CATEGORY else 0
        room = limit - len(waiting)
        others = await categories.listed(tx, mall, review=Review.PROPOSED, after=begin, limit=room)
    lists, words = await mastering.current(tx, market), await memory.glossary(tx)
    return Pending(waiting, others, lists, mapping.aliases_of(every), words)


def matched(found: Pending) -> list[Unreviewed]:
    """Each waiting row with what it may be."""
    near = mapping.propose_brands(found.brands, found.masters, found.aliases)
    far = mapping.propose_categories(found.categories, found.masters, found.glossary)
    return [
        *(
            Unreviewed(
                id=one.id,
                kind=Subject.BRAND,
                mall=one.mall,
                key=one.key,
                name_ko=one.name_ko,
                name_en=one.name_en,
                market_id=one.buyma_brand_id,
                proposals=[_proposed(match) for match in near[one.id]],
            )
            for one in found.brands
        ),
        *(
            Unreviewed(
                id=one.id,
                kind=Subject.CATEGORY,
                mall=one.mall,
                key=one.full_path,
                name_ko=None,
                name_en=None,
                market_id=one.buyma_category_id,
                proposals=[_proposed(match) for match in far[one.id]],
            )
            for one in found.categories
        ),
    ]


def _proposed(match: Match) -> Proposed:
    return Proposed(market_id=match.id, name=match.name, how=match.how, confidence=match.confidence)


async def malls(tx: Tx) -> list[str]:
    """The malls of which brands or categories are known."""
    return [row["mall_name"] for row in await tx.fetch(MALLS)]


async def masters(tx: Tx) -> list[MasterLine]:
    """The newest version of each list, without its rows."""
    table = market_masters.c
    columns = (table.market, table.kind, table.version, table.row_count, table.checksum, table.created_at)
    rows = await tx.fetch(select(*columns).order_by(table.market, table.kind, table.version))
    newest = {(row["market"], row["kind"]): row for row in rows}
    return [
        MasterLine(
            market=row["market"],
            kind=Kind(row["kind"]),
            version=row["version"],
            rows=row["row_count"],
            checksum=row["checksum"],
            imported_at=utc(row["created_at"]),
        )
        for row in newest.values()
    ]
