"""What a field's value must be: a value that breaks its contract is unclear, whatever the page says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.declared.scalars import LARGEST

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.document import Document
    from bobusang.connectors.sources.declared.known import Get

Check = Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= LARGEST


TYPES: dict[str, Check] = {
    "money": lambda value: _is_whole(value) and value >= 0,
    "int": _is_whole,
    "text": lambda value: type(value) is str,
    "bool": lambda value: type(value) is bool,
    "list": lambda value: type(value) is list,
}


@dataclass(frozen=True, slots=True)
class Term:
    """The contract of one field."""

    type: str = ""
    currency: str = ""
    least: int | None = None
    most: int | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Contract:
    """The terms of all fields, and what happens with what nobody expected."""

    terms: dict[str, Term]
    report_new: bool = False
    """Whether what no field reads is shown (`Declared.unread`)."""


def held_to(get: Get, term: Term | None) -> Get:
    """The same reading, with what breaks the contract turned into `UNCLEAR`."""
    if term is None:
        return get
    fits, required = _fits(term), term.required

    def read(record: Any, document: Document) -> Any:
        value = get(record, document)
        if value is NOTHING or value is UNCLEAR:
            return value
        if value is None:
            return UNCLEAR if required else None
        return value if fits(value) else UNCLEAR

    return read


def _fits(term: Term) -> Check:
    of_type = TYPES.get(term.type, _anything)
    least, most = term.least, term.most
    if least is None and most is None:
        return of_type

    def fits(value: Any) -> bool:
        if not of_type(value):
            return False
        size = value if type(value) is int else len(value) if isinstance(value, str | list) else 0
        return (least is None or size >= least) and (most is None or size <= most)

    return fits


def _anything(_: Any) -> bool:
    return True
