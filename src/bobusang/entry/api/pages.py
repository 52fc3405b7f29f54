"""Paging by keys: a cursor says after which row to go on, so rows that come or go meanwhile shift nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field

from bobusang.entry.api.fields import LARGEST_ID, Form
from bobusang.kit import json
from bobusang.kit.errors import Invalid

T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """A part of a list; hand `next` back as `cursor` to go on, until it is null."""

    items: list[T]
    next: str | None


class Paged(Form):
    """The query of a list."""

    limit: Annotated[int, Field(ge=1, le=500, description="how many at most")] = 50
    cursor: Annotated[str | None, Field(max_length=200, description="`next` of the page before")] = None


def pack(kind: str, *keys: int | str) -> str:
    """A cursor: opaque to callers, and of use in its own list only."""
    return base64.urlsafe_b64encode(json.dumps([kind, *keys]).encode()).decode().rstrip("=")


def unpack(kind: str, cursor: str | None) -> int | None:
    """The key a cursor stands for."""
    found = unpacked(kind, cursor, int)
    return None if found is None else int(found[0])


def unpacked(kind: str, cursor: str | None, *types: type[int] | type[str]) -> tuple[Any, ...] | None:
    """The keys of a cursor that stands for several, each of its type."""
    if cursor is None:
        return None
    try:
        found: Any = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (Invalid, binascii.Error, ValueError):
        found = None
    match found:
        case [str() as of, *keys] if of == kind and len(keys) == len(types) and all(map(_is_key, keys, types)):
            return tuple(keys)
    raise Invalid("the cursor is not one of this list", hint="begin again without one", field="cursor")


def _is_key(key: Any, kind: type[int] | type[str]) -> bool:
    if kind is str:
        return isinstance(key, str) and "\0" not in key
    return isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= LARGEST_ID


def page(kind: str, items: Sequence[T], limit: int, key: Callable[[T], int]) -> Page[T]:
    """One page of what was asked for with one row more than the limit."""
    shown = list(items[:limit])
    return Page(items=shown, next=pack(kind, key(shown[-1])) if len(items) > limit else None)
