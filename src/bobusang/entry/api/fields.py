"""What forms are made of: bounded numbers, texts every database can keep, instants with a zone."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    WrapValidator,
    field_validator,
)
from pydantic_core import PydanticCustomError

from bobusang.engine.model import QueueType

LARGEST_ID = 2**63 - 1
LARGEST_WHOLE = 2**31 - 1
LARGEST_INTERVAL = 366 * 24 * 3600
EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
LONGEST_NAME = 100
SHOWN_PLACE = 100


class Form(BaseModel):
    """What a caller sends: no name we do not know, nothing that a database could not keep."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        found = unstorable(value)
        if found is not None:
            place, what = found
            where = f"{place} contains" if place else "contains"
            raise PydanticCustomError("unstorable", "{where} {what}", {"where": where, "what": what})
        return value


def unstorable(value: Any) -> tuple[str, str] | None:
    """The first place inside a value that some database would refuse, and what stands there."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        place, part = stack.pop()
        match part:
            case str():
                if "\0" in part:
                    return place, "a NUL character"
                if not part.isascii() and any("\ud800" <= letter <= "\udfff" for letter in part):
                    return place, "half a character (an unpaired surrogate)"
            case float() if not math.isfinite(part):
                return place, "a number that is not finite"
            case dict():
                for name, inner in part.items():
                    stack += ((f"the name of {place or 'a field'}", name), (f"{place}.{name}"[:SHOWN_PLACE], inner))
            case list():
                stack += ((f"{place}[{index}]"[:SHOWN_PLACE], inner) for index, inner in enumerate(part))
    return None


def _in_utc(value: datetime) -> datetime:
    try:
        found = value.astimezone(UTC)
    except OverflowError:
        found = EARLIEST - timedelta(days=1)
    if not EARLIEST <= found <= LATEST:
        raise PydanticCustomError("instant", "should be between the years 1970 and 9998")
    return found


def _written(value: Any) -> Any:
    """A number of seconds or milliseconds since whenever is not read as an instant: nobody could tell which."""
    if isinstance(value, date) or (isinstance(value, str) and value[4:5] == "-"):
        return value
    raise PydanticCustomError("instant", "should be written as 2026-11-16, an instant as 2026-11-16T03:00:00Z")


def _whole(value: Any) -> Any:
    """JSON has numbers, texts and truth values; only the first is a number."""
    if isinstance(value, bool | str):
        raise PydanticCustomError("whole", "should be a number")
    return value


def _upper(value: Any) -> Any:
    """Our words are written in capitals; a person may write them as he likes."""
    return value.upper() if isinstance(value, str) else value


def _reference(value: Any, _: Any) -> int | str:
    """By hand, because a union's error would name the union's parts instead of the field."""
    match value:
        case bool():
            pass
        case int() | float() if 1 <= value <= LARGEST_ID and value == int(value):
            return int(value)
        case str() if 1 <= len(value) <= LONGEST_NAME:
            return value
    raise PydanticCustomError(
        "reference", "should be an id, or a name of 1 to {most} characters", {"most": LONGEST_NAME}
    )


def _queue(value: Any) -> Any:
    """`HIGH` is short for `HIGH_PRIORITY`."""
    name = _upper(value)
    return f"{name}_PRIORITY" if name in ("HIGH", "LOW") else name


def _list(value: Any) -> Any:
    """One stands for a list of one."""
    return value if isinstance(value, list) else [value]


Capitals = BeforeValidator(_upper)
OneOrMany = BeforeValidator(_list)
Numeric = BeforeValidator(_whole)
"""Like the others it stands after the bounds: those that came after it would be missing in the documentation."""


Instant = Annotated[
    AwareDatetime,
    AfterValidator(_in_utc),
    Field(description="with a zone", examples=["2026-11-16T03:00:00Z"]),
    BeforeValidator(_written),
]
Day = Annotated[date, Field(examples=["2026-11-16"]), BeforeValidator(_written)]
Id = Annotated[int, Field(ge=1, le=LARGEST_ID), Numeric]
PathId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
QueryId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
Priority = Annotated[int, Field(ge=1, le=10, description="10 is most urgent"), Numeric]
Seconds = Annotated[int, Field(ge=1, le=LARGEST_INTERVAL), Numeric]
Flag = Annotated[bool, Field(strict=True)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Queue = Annotated[Literal["HIGH_PRIORITY", "NORMAL", "LOW_PRIORITY"], BeforeValidator(_queue)]
Payload = Annotated[dict[str, Any], Field(description="any JSON object")]
Reference = Annotated[
    int | str,
    WrapValidator(_reference),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
                {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
            ],
            "description": "id or name",
            "examples": ["okmall"],
        }
    ),
]


def queue_type(name: str) -> QueueType:
    """A queue by its name."""
    return QueueType[name]
