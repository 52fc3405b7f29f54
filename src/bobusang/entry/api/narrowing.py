"""Lists of which only some fields are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_type_hints

from pydantic import Field, create_model

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

Names = tuple[str, ...]
FieldNames = Annotated[str | None, Field(max_length=500, description="only these, by commas", examples=["id,name"])]


def part_of(line: Any, name: str, what: str) -> Any:
    """A model of such lines, each field of which may be left out."""
    fields: dict[str, Any] = {field: (kind | None, None) for field, kind in get_type_hints(line).items()}
    return create_model(name, __doc__=f"A {what}; only the fields that were asked for.", **fields)


def asked(fields: str | None, known: Sequence[str], what: str) -> Names:
    """The fields that are asked for, each once; none means all."""
    given = tuple(dict.fromkeys(name.strip() for name in (fields or "").split(",") if name.strip()))
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise Invalid(f"a {what} has no field '{unknown[:50]}'", hint=did_you_mean(unknown, known), field="fields")
    return given


def narrowed(line: Any, names: Names) -> Any:
    """A line, or of it only what is asked for."""
    return {name: getattr(line, name) for name in names} if names else line
