"""By what products are converted: a stamp for each, another one when its mapping, the lists or the words change (pure).

It holds only what that product was made by: a brand that is mapped anew makes its own products anew, no others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bobusang.catalog.rules import digest
from bobusang.stages.convert.masters import Kind
from bobusang.stages.convert.model import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from bobusang.stages.convert.gates import Gate
    from bobusang.stages.convert.glossary import Glossary
    from bobusang.stages.convert.mapping import Mapped
    from bobusang.stages.convert.masters import Masters

Named = tuple[str | None, str | None, str | None, str]
"""A product's brand, its brand in Korean, and the path of its category, as its row has them; and which of its columns
a person has edited when, empty for most."""


def words(glossary: Glossary, corrections: int, ids: int) -> str:
    """What texts are translated by: the glossary, and what people have said, by how many rows and the sum of their
    ids. Without any it is the glossary's own mark, so that what was made before there were any is not made anew."""
    return digest([glossary.mark, corrections, ids]) if corrections else glossary.mark


def common(masters: Masters, words: str, gate: Gate, on: date, unknown_color: int | None) -> str:
    """What every product of a market is made by: its lists of options, the words, and what may not be said today."""
    return digest([masters.mark, words, sorted(_told(gate.entries(on))), unknown_color])


def _told(entries: Iterable[object]) -> Iterable[str]:
    return (repr(entry) for entry in entries)


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of a mall's products; many products have the same."""

    common: str
    mapped: Mapped
    masters: Masters
    _known: dict[Named, str] = field(default_factory=dict)

    def of(self, named: Named) -> str:
        """By what a product of this brand and category is made now."""
        found = self._known.get(named)
        if found is None:
            found = self._known[named] = digest([self.common, self._brand(named), self._category(named), named[3]])
        return found

    def _brand(self, named: Named) -> list[object]:
        row = self.mapped.brand({"brand": named[0], "brand_ko": named[1]})
        if isinstance(row, Reason):
            return [row.why]
        id = row.buyma_brand_id or 0
        names = [row.key, row.name_en, row.name_ko, row.buyma_brand_name, self.masters.name(Kind.BRANDS, id)]
        return [id, self.masters.has(Kind.BRANDS, id), *names]

    def _category(self, named: Named) -> list[object]:
        row = self.mapped.category({"category": named[2]})
        if isinstance(row, Reason):
            return [row.why]
        id = row.buyma_category_id or 0
        return [id, self.masters.has(Kind.CATEGORIES, id)]
