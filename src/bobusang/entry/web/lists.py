"""Lists as all pages have them: filters and columns in the address and remembered, paging by keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlencode

from bobusang.entry.api.pages import pack, unpack
from bobusang.entry.web.visit import UI

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit

T = TypeVar("T")

PAGE = 40


@dataclass(frozen=True, slots=True)
class Filter:
    """One field of the filter bar. `choices`: pairs of a value and what it is called; None: any text."""

    name: str
    label: str
    choices: Sequence[tuple[str, str]] | None = None
    type: str = "search"
    value: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can be shown or not."""

    name: str
    label: str
    shown: bool = True


@dataclass(slots=True)
class Listing(Generic[T]):
    """A list on its way to the screen: what was asked, then what was found."""

    path: str
    filters: list[Filter]
    columns: list[Column]
    cursor: str
    rows: Sequence[T] = ()
    next: str | None = None
    kind: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The filters that are set, as fields of a form."""
        return [(one.name, one.value) for one in self.filters if one.value]

    @property
    def is_filtered(self) -> bool:
        return bool(self.kept)

    @property
    def chosen(self) -> str:
        """The columns as the address has them; empty: those that are shown by default."""
        return ",".join(one.name for one in self.columns if one.shown) if self.extra.get("columns") else ""

    @property
    def shown(self) -> int:
        """How many lines are on this page."""
        return len(self.rows)

    @property
    def first(self) -> str:
        """Where the list begins, if this is not its beginning."""
        return self._address() if self.cursor else ""

    def value(self, name: str) -> str:
        """What a filter is set to."""
        return next(one.value for one in self.filters if one.name == name)

    def has(self, column: str) -> bool:
        """Whether a column is shown."""
        return any(one.name == column and one.shown for one in self.columns)

    def before(self) -> Any:
        """The key after which this page begins, of lists with one key."""
        return unpack(self.kind, self.cursor or None)

    def fill(self, found: Sequence[T], key: Callable[[T], int | str], limit: int = PAGE) -> Listing[T]:
        """Take what was found, which was asked for with one line more than is shown."""
        self.rows = found[:limit]
        self.next = self._address(cursor=pack(self.kind, key(found[limit - 1]))) if len(found) > limit else None
        return self

    def fill_page(self, rows: Sequence[T], cursor: str | None) -> Listing[T]:
        """The same of a page of the API, which brings its own cursor."""
        self.rows = rows
        self.next = self._address(cursor=cursor) if cursor else None
        return self

    def _address(self, **more: str) -> str:
        query = [*self.kept, *more.items()]
        if self.chosen:
            query.append(("columns", self.chosen))
        return f"{UI}{self.path}?{urlencode(query)}" if query else f"{UI}{self.path}?clear=1"


async def asked(
    visit: Visit, path: str, filters: Sequence[Filter], columns: Sequence[Column] = (), *, kind: str = ""
) -> Listing[Any] | Response:
    """What the address asks for. An address without any wish is sent to what this person wished here last."""
    query, name = visit.query, f"list:{path}"
    wished = {one.name: value for one in filters if (value := query.get(one.name))}
    chosen = [part for value in query.all("columns") for part in value.split(",")]
    if query.get("clear"):
        await visit.remember(name, None)
        wished, chosen = {}, []
    elif wished or chosen:
        wish = dict(wished) | ({"columns": ",".join(chosen)} if chosen else {})
        async with visit.desk.read() as tx:
            known = await visit.remembered(tx, name)
        if known != wish:
            await visit.remember(name, wish)
    elif not query.get("cursor"):
        async with visit.desk.read() as tx:
            known = await visit.remembered(tx, name)
        if known:
            return visit.to(path, **known)
    shown = {one.name for one in columns if one.shown} if not chosen else set(chosen)
    return Listing(
        path,
        [Filter(one.name, one.label, one.choices, one.type, wished.get(one.name, "")) for one in filters],
        [Column(one.name, one.label, one.name in shown) for one in columns],
        query.get("cursor"),
        kind=kind or path,
        extra={"columns": bool(chosen)},
    )


def given(visit: Visit, path: str, filters: Sequence[Filter], *, kind: str = "") -> Listing[Any]:
    """What the address asks of a list inside of something else, which nobody expects to find again as he left it."""
    query = visit.query
    found = [Filter(one.name, one.label, one.choices, one.type, query.get(one.name)) for one in filters]
    return Listing(path, found, [], query.get("cursor"), kind=kind or path)
