"""What converting looks things up in, kept in memory and read anew only when it has changed in the database."""

from __future__ import annotations

from dataclasses import dataclass
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


def _changed(moments: str) -> str:
    """One statement for all of it: every batch that is sifted or converted asks.

    What is replaced gets a new id; what is reviewed gets a new instant. Of two who write at once the one with the lower
    id, or the earlier instant, may be seen last: sums tell that too, the highest would not.
    """
    return f"""
    select (select count(*) from market_masters where market = :market) as masters,
      (select max(id) from market_masters where market = :market) as newest_master,
      (select count(*) from glossary_terms) as terms, (select sum(id) from glossary_terms) as term_ids,
      (select count(*) from translation_memory where origin = 'person') as corrections,
      (select sum(id) from translation_memory where origin = 'person') as correction_ids,
      (select count(*) from mall_brands where mall_name = :mall) as brands,
      (select {moments} from mall_brands where mall_name = :mall) as brands_at,
      (select count(*) from mall_categories where mall_name = :mall) as categories,
      (select {moments} from mall_categories where mall_name = :mall) as categories_at"""


# To the microsecond. SQLite's whole numbers are too small for all of a mall's in one sum.
CHANGED = Statement(
    sqlite=_changed(
        "sum(cast(strftime('%s', updated_at) as integer)) || ' ' || sum(cast(substr(updated_at, 21, 6) as integer))"
    ),
    postgres=_changed("sum(extract(epoch from updated_at))"),
    mariadb=_changed("sum(timestampdiff(microsecond, '1970-01-01', updated_at))"),
)
MASTERS = ("masters", "newest_master")
TERMS = ("terms", "term_ids")
CORRECTIONS = ("corrections", "correction_ids")
MAPPED = ("brands", "brands_at", "categories", "categories_at")


@dataclass(frozen=True, slots=True)
class Looked:
    """What the products of a mall are converted by now."""

    mapped: Mapped
    """What people have said of the mall's brands and categories."""
    masters: Masters
    """The market's lists."""
    translator: Translator
    """Glossary and model."""
    stamps: Stamps


class Lookup:
    """One a process."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._kept: dict[str, tuple[tuple[Any, ...], Any]] = {}

    @property
    def model(self) -> Model:
        """Who answers what rules cannot."""
        return self._model

    async def look(self, tx: Tx, mall: str, gate: Gate, unknown_color: int | None) -> Looked:
        """All of it, as the database has it now."""
        row = await tx.first(CHANGED, market=gate.market, mall=mall)
        assert row is not None

        async def read_mapped() -> Mapped:
            return Mapped(await brands.listed(tx, mall, limit=ALL), await categories.listed(tx, mall, limit=ALL))

        async def read_translator() -> Translator:
            return Translator(await memory.glossary(tx), self._model)

        def stamp(names: tuple[str, ...]) -> tuple[Any, ...]:
            return tuple(row[name] for name in names)

        mapped = await self._fresh(f"mapped {mall}", stamp(MAPPED), read_mapped)
        masters = await self._fresh(
            f"masters {gate.market}", stamp(MASTERS), lambda: mastering.current(tx, gate.market)
        )
        translator = await self._fresh("translator", stamp(TERMS), read_translator)
        words = stamping.words(translator.glossary, *(int(row[name] or 0) for name in CORRECTIONS))
        common = stamping.common(masters, words, gate, tx.now.date(), unknown_color)

        async def read_stamps() -> Stamps:
            return Stamps(common, mapped, masters)

        name = f"stamps {mall} {gate.market}"
        stamps = await self._fresh(name, (common, id(mapped), id(masters)), read_stamps)
        return Looked(mapped, masters, translator, stamps)

    async def _fresh(self, name: str, stamp: tuple[Any, ...], read: Callable[[], Awaitable[T]]) -> T:
        before = self._kept.get(name)
        if before is None or before[0] != stamp:
            before = self._kept[name] = (stamp, await read())
        found: T = before[1]
        return found
