"""The categories of a mall by their whole path, proposed by collecting and reviewed by a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from bobusang.catalog import reviews
from bobusang.catalog.tables import mall_categories
from bobusang.catalog.tables.products import LONG_LENGTH, NAME_LENGTH, URL_LENGTH
from bobusang.catalog.tables.records import ID_LENGTH
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.catalog.model import Review
    from bobusang.kit.db import Row, Tx

DEPTHS = 4
SEPARATOR = " > "

KNOWN = Statement("select id, full_path from mall_categories where mall_name = :mall and full_path in (:paths...)")

_NEW = Bulk(
    mall_categories,
    (
        *("mall_name", "full_path", "depth1", "depth2", "depth3", "depth4"),
        *("category_id", "gender", "mall_category_url", "last_seen_at", "created_at", "updated_at"),
    ),
    keep=True,
)
_SEEN = Revise(mall_categories, "id", ("category_id", "gender", "mall_category_url", "last_seen_at", "updated_at"))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A category as the mall names it, from the root."""

    path: tuple[str, ...]
    key: str = ""
    gender: str = ""
    url: str = ""

    @property
    def full_path(self) -> str:
        return SEPARATOR.join(self.path)


@dataclass(frozen=True, slots=True)
class MallCategory:
    """A category of a mall, what a person said of it, and the market category it stands for."""

    id: int
    mall: str
    full_path: str
    key: str | None
    gender: str | None
    url: str | None
    review: Review
    buyma_category_id: int | None


async def propose(tx: Tx, mall: str, proposals: Sequence[Proposal]) -> int:
    """Add categories that are new, renew what is known of the others, leave every review as it is; how many were
    new."""
    wanted = {proposal.full_path: proposal for proposal in proposals}
    for path in wanted:
        if not 0 < len(path) <= LONG_LENGTH or "\0" in path:
            raise Invalid(f"a category's path has 1 to {LONG_LENGTH} characters and no NUL", hint=f"not '{path[:50]}'")
    rows = await tx.fetch(KNOWN, mall=mall, paths=sorted(wanted)) if wanted else ()
    known = {row["full_path"]: row["id"] for row in rows}
    await tx.revise(
        _SEEN, sorted(((known[path], *_values(wanted[path]), tx.now, tx.now) for path in known), key=lambda row: row[0])
    )
    new = [path for path in sorted(wanted) if path not in known]
    times = (tx.now, tx.now, tx.now)
    await tx.insert(_NEW, [(mall, path, *_depths(wanted[path]), *_values(wanted[path]), *times) for path in new])
    return len(new)


def _values(proposal: Proposal) -> tuple[str | None, str | None, str | None]:
    return proposal.key[:ID_LENGTH] or None, proposal.gender[:20] or None, proposal.url[:URL_LENGTH] or None


def _depths(proposal: Proposal) -> list[str | None]:
    names = [name[:NAME_LENGTH] for name in proposal.path[:DEPTHS]]
    return [*names, *[None] * (DEPTHS - len(names))]


async def listed(
    tx: Tx, mall: str, *, review: Review | None = None, after: int = 0, limit: int = 100
) -> list[MallCategory]:
    """A mall's categories by number, under a review or all; to go on, pass the last one as `after`."""
    table = mall_categories
    where = (table.c.mall_name == mall, table.c.id > after, *reviews.under(table, review))
    return [_category(row) for row in await tx.fetch(select(table).where(*where).order_by(table.c.id).limit(limit))]


async def review(tx: Tx, ids: Sequence[int], verdict: Review) -> int:
    """Accept, block or set back categories; how many there were."""
    return await reviews.decide(tx, mall_categories, ids, verdict)


async def assign(tx: Tx, id: int, *, buyma_category_id: int | None) -> None:
    """Say which of the market's categories it is; None: none yet."""
    table = mall_categories
    if await tx.first(select(table.c.id).where(table.c.id == id)) is None:
        raise Missing(f"there is no mall category {id}")
    await tx.execute(
        update(table).where(table.c.id == id).values(buyma_category_id=buyma_category_id, updated_at=tx.now)
    )


def _category(row: Row) -> MallCategory:
    return MallCategory(
        row["id"],
        row["mall_name"],
        row["full_path"],
        row["category_id"],
        row["gender"],
        row["mall_category_url"],
        reviews.REVIEWS[row["is_active"]],
        row["buyma_category_id"],
    )
