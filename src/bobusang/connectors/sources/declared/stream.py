"""One stream of a shop, compiled: what is asked, and what its pages say."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.request import Request
from bobusang.stages.collect.source import WINDOW, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from bobusang.connectors.sources.declared.excerpt import Part
    from bobusang.connectors.sources.declared.field import Field
    from bobusang.connectors.sources.declared.known import Change, Get
    from bobusang.connectors.sources.declared.options import Variants
    from bobusang.connectors.sources.declared.paging import Paging
    from bobusang.stages.collect.source import Page


class Emits(StrEnum):
    """What a record of a stream is."""

    PRODUCT = "product"
    BRAND = "brand"
    RECORD = "record"
    MENTION = "mention"
    """Nothing by itself: it leads to the pages of items."""


@dataclass(frozen=True, slots=True)
class FromTarget:
    """A variable that a target gives: its key, or one of its data."""

    kind: str
    data: str = ""
    change: Change | None = field(default=None, compare=False)
    """Makes of it what is wanted, such as one of its parts."""


@dataclass(frozen=True, slots=True)
class FromList:
    """A variable that each item of a list gives: its key, or one of its fields."""

    stream: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """One name of `for_each`, with the places that it may come from."""

    name: str
    origins: tuple[FromTarget | FromList, ...]
    when: str = ""


@dataclass(frozen=True, slots=True)
class Stream:
    """All of it."""

    name: str
    kind: Kind = Kind.LIST
    format: Format = Format.JSON
    request: Request = field(default_factory=Request)
    variables: tuple[Variable, ...] = ()
    paging: Paging | None = None
    records: Get | None = None
    key: Get | None = None
    skip: Get | None = None
    """Finds something in a record that is not to be collected."""
    fields: tuple[Field, ...] = ()
    variants: tuple[Variants, ...] = ()
    hands: tuple[Field, ...] = ()
    """What an item's page tells only the streams that are asked for by it."""
    parent: Get | None = None
    """Finds, in a part of an item, the key of the item."""
    emits: Emits = Emits.PRODUCT
    gone: Get | None = None
    """Finds what the source says where an item is no more."""
    needs: tuple[Get, ...] = ()
    """What every good page has; one without any of them has drifted."""
    within: tuple[Part, ...] = ()
    """The parts of an HTML page in which all of this stands."""
    ends: str = ""
    """What stands near the end of every whole page."""
    currency: str = ""
    """The currency of its prices, where it reads any."""
    after: Callable[[dict[str, Any], Page], dict[str, Any]] | None = field(default=None, compare=False)
    """A hook over the fields of each record."""
    cells: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Of a spreadsheet: the headings that each field is read under."""
    most: timedelta | None = None
    """The longest window of time that it answers."""
    source_names: frozenset[str] = frozenset()
    """The names inside a JSON record that its fields read."""

    @property
    def target_kinds(self) -> set[str]:
        """The kinds of target that this stream begins with."""
        origins = [origin for variable in self.variables for origin in variable.origins]
        return {origin.kind for origin in origins if isinstance(origin, FromTarget)}

    @property
    def window_names(self) -> set[str]:
        """What a window of time has to tell it."""
        origins = [origin for variable in self.variables for origin in variable.origins]
        return {origin.data for origin in origins if isinstance(origin, FromTarget) and origin.kind == WINDOW}

    @property
    def lists(self) -> set[str]:
        """The streams whose items this one is asked for."""
        origins = [origin for variable in self.variables for origin in variable.origins]
        return {origin.stream for origin in origins if isinstance(origin, FromList)}

    @property
    def when(self) -> str:
        """The condition of its asks."""
        conditions = [each.when for each in self.variables if each.when]
        return conditions[0] if len(conditions) == 1 else " and ".join(f"({each})" for each in conditions)
