"""What a page is rendered for: the world, the address it is asked at, and what shall be wrong with its content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bobusang.sandbox.fault import Hit, Trouble
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.product import Option, Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.sandbox.world import World

MANY = 10_000
SCRIPT = "<script>alert('보부상')</script><img src=x onerror=alert(1)>"


@dataclass(frozen=True, slots=True)
class Scene:
    """One rendering."""

    world: World
    host: str
    """The host and port that we were asked at: all addresses on pages lead back there."""
    size: PageSize = PageSize.DEFAULT
    hit: Hit | None = None

    def has(self, trouble: Trouble) -> bool:
        """Whether this is to be wrong."""
        return self.hit is not None and self.hit.is_(trouble)

    def standing(self, mall: str, no: int) -> Standing | None:
        """How a product stands, with what is to be wrong of it."""
        found = self.world.standing(mall, no)
        return found if found is None or self.hit is None else self._spoilt(found)

    def listed(self, mall: str, numbers: Sequence[int]) -> list[Standing]:
        """The products of one page of a list."""
        found = [one for no in numbers if (one := self.standing(mall, no)) is not None]
        if found and self.has(Trouble.DUPLICATE_ITEMS):
            found.insert(1, replace(found[0], price=found[0].price + 1000))
        return found

    def total(self, count: int) -> int:
        """The total of a list as the page tells it."""
        if self.hit is None or not self.has(Trouble.WOBBLE):
            return count
        return max(0, count + (1 if self.hit.turn % 2 else -1) * (1 + count * (self.hit.turn % 4) // 20))

    def page(self, count: int, page: int, size: int) -> tuple[int, int]:
        """From where to where a page shows of a list of so many."""
        if self.has(Trouble.EMPTY_LIST):
            return 0, 0
        last = max(1, -(-count // size))
        shown = min(page, last) if self.has(Trouble.REPEAT_LAST) else page
        return (shown - 1) * size, shown * size

    def _spoilt(self, found: Standing) -> Standing:
        if self.has(Trouble.SCRIPT_NAMES):
            product = replace(
                found.product, title=f"{SCRIPT} {found.product.title}", name=f"{SCRIPT} {found.product.name}"
            )
            return replace(found, product=product)
        if self.has(Trouble.MANY_OPTIONS):
            options = tuple(Option(str(9_000_000_000 + n), "Black", f"S{n}", "95") for n in range(MANY))
            return replace(found, product=replace(found.product, single=False), options=options, stocks=(1,) * MANY)
        if self.has(Trouble.DUPLICATE_ITEMS) and found.options:
            first, stock = found.options[0], found.stocks[0]
            return replace(found, options=(first, *found.options), stocks=(0 if stock else 5, *found.stocks))
        return found
