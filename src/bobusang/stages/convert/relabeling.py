"""Options of which a person has said that they are what the mall calls them now: each code names the cell of its
text, and a cell that all of its codes have left is nothing that can be bought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bobusang.catalog.variants import Goods
from bobusang.stages.convert import grid, stock
from bobusang.stages.convert.respelling import named

if TYPE_CHECKING:
    from bobusang.catalog.variants import Variant
    from bobusang.stages.convert.options import Sorted, Source


def relabeled(goods: Goods, found: Sorted) -> Goods:
    """The same cells by the codes of today; what is new of them waits for FULL."""
    names, codes = named(goods), {one.code for one in found.sources}
    cells: dict[tuple[str, str], list[Source]] = {}
    for one in found.sources:
        cells.setdefault(grid.place(one, names), []).append(one)

    def settled(variant: Variant) -> Variant:
        mine = cells.get((variant.color_key, variant.size_key))
        if mine is not None:
            told = tuple(one.code for one in mine if one.code is not None)
            return msgspec.structs.replace(variant, codes=told, filler=False)
        if codes.isdisjoint(variant.codes):  # the mall says nothing of it, perhaps for we could not read it
            return variant
        return msgspec.structs.replace(variant, codes=(), stock=stock.OUT, filler=True)

    return Goods(goods.options, tuple(map(settled, goods.variants)))
