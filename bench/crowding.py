"""A shop with very many products and listings: those of the demo over and over, copied inside the database.

Copied is all that lists, counts and figures are made of: records, products, conversions, quotes, listings, calls. What
is only ever asked for by its key (versions, changes, lineage, options, pictures) stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from bobusang.catalog.tables import products, source_markets, source_records
from bobusang.kit.sql import Statement
from bobusang.stages.convert.tables import conversions
from bobusang.stages.price.tables import price_quotes
from bobusang.stages.register.tables import listings, market_calls

if TYPE_CHECKING:
    from sqlalchemy import Table

    from bobusang.kit.db import Database, Tx

STEP = 100_000
"""Between the ids of a product and of its copies; more than any id of the demo."""
COPIES = 200
"""Copies of one transaction."""
NUMBERS = "with recursive numbers(k) as (select {first} union all select k + 1 from numbers where k < {last})"


@dataclass(frozen=True, slots=True)
class Copied:
    """A table that grows: columns that are numbers of the copy, and texts that must differ in it."""

    table: Table
    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    where: str = ""
    empty: tuple[str, ...] = ()

    def statement(self, first: int, last: int) -> Statement:
        shifted = {name: f"{name} + k * {STEP}" for name in self.numbers}
        told = {name: f"{name} || '-' || cast(k as varchar(20))" for name in self.texts}
        blank = dict.fromkeys(self.empty, "null")
        names = [column.name for column in self.table.columns if column.name != "id" or "id" in self.numbers]
        values = ", ".join({**shifted, **told, **blank}.get(name, name) for name in names)
        return Statement(
            f"insert into {self.table.name} ({', '.join(names)}) {NUMBERS.format(first=first, last=last)} "
            f"select {values} from {self.table.name} cross join numbers where {self._originals()}"
        )

    def _originals(self) -> str:
        key = self.numbers[0]
        return f"{key} < {STEP}{f' and {self.where}' if self.where else ''}"


ALL = (
    Copied(source_records, ("id", "version_id"), ("source_id",)),
    Copied(products, ("id",), ("product_id", "name")),
    Copied(source_markets, ("record_id",)),
    Copied(conversions, ("product_id",)),
    Copied(
        price_quotes,
        ("product_id",),
        ("sku",),
        where="id in (select max(id) from price_quotes group by product_id, market, account)",
    ),
)
LISTED = (
    Copied(listings, ("id", "product_id"), ("sku", "reference", "market_id"), empty=("open_call",)),
    Copied(market_calls, ("id", "listing_id"), ("request_uid",), where="open_key is null"),
)


async def crowd(db: Database, wanted: int, listed: int) -> tuple[int, int]:
    """Copy until there are so many products and listings; how many there are then."""
    async with db.read() as tx:
        first, first_listed = await _count(tx, products), await _count(tx, listings)
    await _copy(db, ALL, -(-wanted // first) - 1)
    await _copy(db, LISTED, -(-listed // first_listed) - 1)
    async with db.read() as tx:
        await tx.execute(Statement(sqlite="analyze", postgres="analyze", mariadb="analyze table products, listings"))
        return await _count(tx, products), await _count(tx, listings)


async def _copy(db: Database, tables: tuple[Copied, ...], copies: int) -> None:
    for first in range(1, copies + 1, COPIES):
        last = min(first + COPIES - 1, copies)
        async with db.begin() as tx:
            for one in tables:
                await tx.execute(one.statement(first, last))


async def _count(tx: Tx, table: Table) -> int:
    found: int = await tx.value(select(func.count().label("value")).select_from(table))
    return found
