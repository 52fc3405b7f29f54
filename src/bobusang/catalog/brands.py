"""The brands of a mall as its own index names them, proposed by collecting and reviewed by a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from bobusang.catalog import reviews
from bobusang.catalog.tables import mall_brands
from bobusang.catalog.tables.products import NAME_LENGTH, URL_LENGTH
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Revise, Statement
from bobusang.platform.bus import Event, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.catalog.model import Review
    from bobusang.kit.db import Row, Tx

KNOWN = Statement("""
    select id, mall_brand_no, mall_brand_name_ko, mall_brand_name_en, raw_brand_name from mall_brands
    where mall_name = :mall and mall_brand_no in (:keys...)""")
NAMES = ("mall_brand_name_ko", "mall_brand_name_en", "raw_brand_name")
TOLD = 500
"""Names in one event."""

_NEW = Bulk(
    mall_brands,
    (
        *("mall_name", "mall_brand_no", "mall_brand_name_ko", "mall_brand_name_en", "raw_brand_name"),
        *("mall_brand_url", "is_mapped", "last_seen_at", "created_at", "updated_at"),
    ),
    keep=True,
)
_SEEN = Revise(
    mall_brands,
    "id",
    ("mall_brand_name_ko", "mall_brand_name_en", "raw_brand_name", "mall_brand_url", "last_seen_at", "updated_at"),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A brand as the mall's index names it; `key` is what the mall asks for it by."""

    key: str
    name_ko: str = ""
    name_en: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class MallBrand:
    """A brand of a mall, what a person said of it, and the market brand it stands for."""

    id: int
    mall: str
    key: str
    name_ko: str | None
    name_en: str | None
    url: str | None
    review: Review
    buyma_brand_id: int | None
    buyma_brand_name: str | None


async def propose(tx: Tx, mall: str, proposals: Sequence[Proposal]) -> int:
    """Add brands that are new, renew the names of those that are known, and leave every review as it is; how many
    were new."""
    wanted = {proposal.key: proposal for proposal in proposals}
    for key in wanted:
        if not 0 < len(key) <= NAME_LENGTH or "\0" in key:
            raise Invalid(f"a brand's key has 1 to {NAME_LENGTH} characters and no NUL", hint=f"not '{key[:50]}'")
    rows = await tx.fetch(KNOWN, mall=mall, keys=sorted(wanted)) if wanted else ()
    known = {row["mall_brand_no"]: row["id"] for row in rows}
    named = {row["mall_brand_no"]: tuple(row[name] for name in NAMES) for row in rows}
    await tx.revise(_SEEN, sorted((known[key], *_values(wanted[key]), tx.now, tx.now) for key in known))
    new = [key for key in sorted(wanted) if key not in known]
    times = (tx.now, tx.now, tx.now)
    await tx.insert(_NEW, [(mall, key, *_values(wanted[key]), False, *times) for key in new])
    renamed = {key: _values(proposal)[:3] for key, proposal in wanted.items()}
    await _tell(tx, mall, {name for key, names in renamed.items() if named.get(key) != names for name in names if name})
    return len(new)


async def _tell(tx: Tx, mall: str, names: set[str]) -> None:
    """Somewhere a brand is called so now: whoever finds products by their brand's names wants to know."""
    told = sorted(names)
    parts = [told[at : at + TOLD] for at in range(0, len(told), TOLD)]
    await publish(tx, *(Event("brand.changed", f"brands:{mall}", {"mall": mall, "names": part}) for part in parts))


def _values(proposal: Proposal) -> tuple[str | None, ...]:
    raw = proposal.name_ko or proposal.name_en or proposal.key
    names = (_cut(text, NAME_LENGTH) for text in (proposal.name_ko, proposal.name_en, raw))
    return (*names, _cut(proposal.url, URL_LENGTH))


def _cut(text: str, length: int) -> str | None:
    return text.replace("\0", "")[:length] or None


async def listed(
    tx: Tx, mall: str, *, review: Review | None = None, after: int = 0, limit: int = 100
) -> list[MallBrand]:
    """A mall's brands by number, under a review or all; to go on, pass the last one as `after`."""
    table = mall_brands
    where = (table.c.mall_name == mall, table.c.id > after, *reviews.under(table, review))
    return [_brand(row) for row in await tx.fetch(select(table).where(*where).order_by(table.c.id).limit(limit))]


async def review(tx: Tx, ids: Sequence[int], verdict: Review) -> int:
    """Accept, block or set back brands; how many there were."""
    return await reviews.decide(tx, mall_brands, ids, verdict)


async def assign(tx: Tx, id: int, *, buyma_brand_id: int | None, buyma_brand_name: str | None, level: int = 1) -> None:
    """Say which of the market's brands it is; None: none yet."""
    table = mall_brands
    if await tx.first(select(table.c.id).where(table.c.id == id)) is None:
        raise Missing(f"there is no mall brand {id}")
    mapped: dict[str, Any] = {"buyma_brand_id": buyma_brand_id, "buyma_brand_name": buyma_brand_name}
    mapped |= {"is_mapped": buyma_brand_id is not None, "mapping_level": level}
    await tx.execute(update(table).where(table.c.id == id).values(**mapped, updated_at=tx.now))


def _brand(row: Row) -> MallBrand:
    return MallBrand(
        row["id"],
        row["mall_name"],
        row["mall_brand_no"],
        row["mall_brand_name_ko"],
        row["mall_brand_name_en"],
        row["mall_brand_url"],
        reviews.REVIEWS[row["is_active"]],
        row["buyma_brand_id"],
        row["buyma_brand_name"],
    )
