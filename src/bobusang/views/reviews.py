"""Lists of what malls propose and a person reviews; brands and categories are asked for in the same way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Table, func, or_, select

from bobusang.catalog import reviews
from bobusang.catalog.model import Review
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing

Line = TypeVar("Line")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFilter:
    """Which rows; what is not given does not matter. `text` is part of what they are called."""

    mall: str | None = None
    review: Review | None = None
    text: str | None = None
    ids: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class ReviewList(Generic[Line]):
    """A table under review: what one row of it is, the columns it is called by, and how a row is shown."""

    noun: str
    table: Table
    called: tuple[str, ...]
    line: Callable[[Row], Line]

    async def listed(self, tx: Tx, wanted: ReviewFilter, *, after: int | None = None, limit: int) -> list[Line]:
        """Rows by number."""
        id = self.table.c.id
        query = select(self.table).where(*self._where(wanted), id > (after or 0)).order_by(id).limit(limit)
        return [self.line(row) for row in await tx.fetch(query)]

    async def one(self, tx: Tx, id: int) -> Line:
        """One row."""
        row = await tx.first(select(self.table).where(self.table.c.id == id))
        if row is None:
            raise Missing(f"there is no {self.noun} {id}", hint=f"`bobusang {self.noun} list` shows them")
        return self.line(row)

    async def ids(self, tx: Tx, wanted: ReviewFilter, *, but: Review) -> list[int]:
        """The numbers of all rows that match and are not under this review yet."""
        code, (id, active) = reviews.CODES[but], (self.table.c.id, self.table.c.is_active)
        other = active.is_not(None) if code is None else or_(active.is_(None), active != code)
        return [row["id"] for row in await tx.fetch(select(id).where(*self._where(wanted), other).order_by(id))]

    def _where(self, wanted: ReviewFilter) -> list[Any]:
        column = self.table.c
        found: list[Any] = [*reviews.under(self.table, wanted.review)]
        if wanted.mall is not None:
            found.append(column.mall_name == wanted.mall)
        if wanted.ids:
            found.append(column.id.in_(sorted(set(wanted.ids))))
        if wanted.text:
            text = wanted.text.lower()
            found.append(or_(*(func.lower(column[name]).contains(text, autoescape=True) for name in self.called)))
        return found
