"""A product by what people type of it: its SKU, its address at the mall, or a market's own number of it."""

from dataclasses import dataclass

from sqlalchemy import and_, or_, select

from bobusang.catalog.tables.products import products
from bobusang.kit.db import Row, Tx
from bobusang.kit.sql import Statement

MOST_CUTS = 10
"""Places at which a SKU may be cut into the mall's name and its own key: both may have hyphens."""
BY_URL = Statement("select id, mall, product_id, name, brand from products where url = :url limit 1")
BY_NUMBER = Statement("""
    select l.sku as value from market_accounts a join listings l on l.account_id = a.id and l.market_id = :number
    order by l.id desc limit 1""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A product, shortly."""

    id: int
    mall: str
    key: str
    name: str | None
    brand: str | None

    @property
    def sku(self) -> str:
        return f"{self.mall}-{self.key}"


async def of_sku(tx: Tx, sku: str) -> Known | None:
    """The product that markets know by this."""
    table = products.c
    cuts = [place for place, letter in enumerate(sku) if letter == "-"][:MOST_CUTS]
    pairs = [and_(table.mall == sku[:place], table.product_id == sku[place + 1 :]) for place in cuts]
    if not pairs:
        return None
    columns = (table.id, table.mall, table.product_id, table.name, table.brand)
    rows = await tx.fetch(select(*columns).where(or_(*pairs)))
    return _known(rows[0]) if rows else None


async def of_url(tx: Tx, url: str) -> Known | None:
    """The product that was found at this address."""
    row = await tx.first(BY_URL, url=url)
    return None if row is None else _known(row)


async def of_number(tx: Tx, number: str) -> str | None:
    """The SKU of the listing to which a market has given this number."""
    found: str | None = await tx.value(BY_NUMBER, number=number)
    return found


def _known(row: Row) -> Known:
    return Known(id=row["id"], mall=row["mall"], key=row["product_id"], name=row["name"], brand=row["brand"])
