"""What converting looks things up in, kept in memory and read anew only when it has changed in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from bobusang.catalog import brands, categories
from bobusang.kit.sql import Statement
from bobusang.stages.convert import mastering, memory, stamping
from bobusang.stages.convert.mapping import Mapped
from bobusang.stages.convert.stamping import Stamps
from bobusang.stages.convert.translate import Translator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.kit.db import Tx
    from bobusang.platform.model import Model
    from bobusang.stages.convert.gates import Gate
    from bobusang.stages.convert.masters import Masters

ALL = 1_000_000
T = TypeVar("T")

MASTERS = Statement("select count(*) as rows_, max(id) as newest from market_masters where market = :market")
TERMS = Statement("select count(*) as rows_, max(id) as newest from glossary_terms")
MAPPED = Statement("""
    select (select count(*) from mall_brands where mall_name = :mall) as brands,
      (select max(updated_at) from mall_brands where mall_name = :mall) as brand_at,
      (select count(*) from mall_categories where mall_name = :mall) as categories,
      (select max(updated_at) from mall_categories where mall_name = :mall) as category_at""")

STAMPED = {
    MASTERS: ("rows_", "newest"),
    TERMS: ("rows_", "newest"),
    MAPPED: ("brands", "brand_at", "categories", "category_at"),
}


class Lookup:
    """One a process."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._kept: dict[str, tuple[tuple[Any, ...], Any]] = {}

    @property
    def model(self) -> Model:
        """Who answers what rules cannot."""
        return self._model

    async def masters(self, tx: Tx, market: str) -> Masters:
        """The market's lists."""
        stamp = await _stamp(tx, MASTERS, market=market)
        return await self._fresh(f"masters {market}", stamp, lambda: mastering.current(tx, market))

    async def mapped(self, tx: Tx, mall: str) -> Mapped:
        """What people have said of a mall's brands and categories."""

        async def read() -> Mapped:
            return Mapped(await brands.listed(tx, mall, limit=ALL), await categories.listed(tx, mall, limit=ALL))

        return await self._fresh(f"mapped {mall}", await _stamp(tx, MAPPED, mall=mall), read)

    async def translator(self, tx: Tx) -> Translator:
        """Glossary and model."""

        async def read() -> Translator:
            return Translator(await memory.glossary(tx), self._model)

        return await self._fresh("translator", await _stamp(tx, TERMS), read)

    async def stamps(self, tx: Tx, mall: str, gate: Gate, unknown_color: int | None) -> Stamps:
        """By what the products of a mall are converted now."""
        masters, mapped = await self.masters(tx, gate.market), await self.mapped(tx, mall)
        glossary = (await self.translator(tx)).glossary
        today = tx.now.date()
        found = stamping.common(masters, glossary, gate, today, unknown_color)

        async def read() -> Stamps:
            return Stamps(found, mapped, masters)

        return await self._fresh(f"stamps {mall} {gate.market}", (found, id(mapped), id(masters)), read)

    async def _fresh(self, name: str, stamp: tuple[Any, ...], read: Callable[[], Awaitable[T]]) -> T:
        before = self._kept.get(name)
        if before is None or before[0] != stamp:
            before = self._kept[name] = (stamp, await read())
        found: T = before[1]
        return found


async def _stamp(tx: Tx, statement: Statement, **params: Any) -> tuple[Any, ...]:
    row = await tx.first(statement, **params)
    assert row is not None
    return tuple(row[name] for name in STAMPED[statement])
