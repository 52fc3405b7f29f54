"""Products as searching knows them: their rows, their brand's other names, and their name in the market's language."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.platform.search import Document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Row, Tx

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
MOST_ALIASES = 8

NAMES = ("mall_brand_name_ko", "mall_brand_name_en", "raw_brand_name")

_COLUMNS = (
    "select p.id, p.mall, p.product_id, p.name, p.brand, p.brand_ko, p.model, p.category, p.seller_id, p.price, "
    "p.currency, p.in_stock, p.colours, p.image, p.url, p.updated_at, c.data from products p "
    "left join conversions c on c.product_id = p.id and c.market = :market "
)
_SOME = Statement(_COLUMNS + "where p.id in (:ids...) order by p.id")
_PAGE = Statement(_COLUMNS + "where p.id > :after order by p.id limit :limit")
_BRANDS = Statement(f"select {', '.join(NAMES)} from mall_brands order by id")
_NAMED = Statement("select count(*) as brands, max(updated_at) as at from mall_brands")
_WRITTEN = Statement("select distinct mall, brand from products where brand is not null")
_OF_BRANDS = Statement(
    "select id from products where mall = :mall and brand in (:brands...) and id > :after order by id limit :limit"
)
CHANGED = Statement(
    "select id, updated_at from products where updated_at > :since or (updated_at = :since and id > :after) "
    "order by updated_at, id limit :limit"
)
IDS = Statement("select id from products where id > :after order by id limit :limit")


class Named(msgspec.Struct, frozen=True):
    """What is read of a conversion."""

    name: str = ""


_named = msgspec.json.Decoder(Named)


class Aliases:
    """What else a brand is called, by any name that some mall has for it."""

    def __init__(self, rows: Sequence[Sequence[str | None]] = ()) -> None:
        groups: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            names = {name for name in row if name}
            for name in names:
                groups[name.casefold()] |= names
        self._groups = {key: tuple(sorted(names)) for key, names in groups.items() if len(names) > 1}

    def of(self, brand: str, known: Sequence[str]) -> tuple[str, ...]:
        """The names of a brand that are not known yet."""
        seen = {name.casefold() for name in known}
        found = self._groups.get(brand.casefold(), ()) if brand else ()
        return tuple(name for name in found if name.casefold() not in seen)[:MOST_ALIASES]


async def named_last(tx: Tx) -> tuple[object, object]:
    """A mark that differs when some mall names a brand differently, or one more. Read before the names: they may be
    newer than it, and never older."""
    row = await tx.first(_NAMED)
    assert row is not None
    return row["brands"], row["at"]


async def aliases(tx: Tx) -> Aliases:
    """The brands of all malls, some thousands at most."""
    return Aliases([tuple(row[name] for name in NAMES) for row in await tx.fetch(_BRANDS)])


async def some(tx: Tx, market: str, known: Aliases, ids: Sequence[int]) -> list[Document]:
    """The documents of these products, those that are there, by number."""
    rows = await tx.fetch(_SOME, market=market, ids=sorted(set(ids))) if ids else ()
    return [_document(row, known) for row in rows]


async def page(tx: Tx, market: str, known: Aliases, after: int, limit: int) -> list[Document]:
    """The documents of the next products by number."""
    return [_document(row, known) for row in await tx.fetch(_PAGE, market=market, after=after, limit=limit)]


async def written(tx: Tx, brands: Sequence[str]) -> dict[str, list[str]]:
    """How each mall's products write these brands: in small letters, capitals or both, as `Aliases` does not mind."""
    called = {brand.casefold() for brand in brands}
    found = defaultdict(list)
    for row in await tx.fetch(_WRITTEN):
        if row["brand"].casefold() in called:
            found[row["mall"]].append(row["brand"])
    return dict(found)


async def of_brands(
    tx: Tx, brands: Mapping[str, Sequence[str]], after: Mapping[str, int], limit: int
) -> dict[str, list[int]]:
    """The next products of each mall whose brand is written so."""
    found = {}
    for mall, forms in brands.items():
        rows = await tx.fetch(_OF_BRANDS, mall=mall, brands=forms, after=after.get(mall, 0), limit=limit)
        found[mall] = [row["id"] for row in rows]
    return found


def _document(row: Row, known: Aliases) -> Document:
    brand, brand_ko = row["brand"] or "", row["brand_ko"] or ""
    stock = row["in_stock"]
    return Document(
        id=row["id"],
        mall=row["mall"],
        product_id=row["product_id"],
        name=row["name"] or "",
        translated=_named.decode(row["data"]).name if row["data"] else "",
        brand=brand,
        brand_ko=brand_ko,
        aliases=known.of(brand, (brand, brand_ko)),
        model=row["model"] or "",
        colours=row["colours"] or "",
        category=row["category"] or "",
        seller=row["seller_id"] or "",
        price=row["price"],
        currency=row["currency"] or "",
        in_stock=None if stock is None else bool(stock),
        image=row["image"] or "",
        url=row["url"] or "",
        changed=(utc(row["updated_at"]) - EPOCH) // MICROSECOND,
    )
