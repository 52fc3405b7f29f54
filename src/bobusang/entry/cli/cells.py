"""Values as cells: how one field of a document is picked and written."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from bobusang.entry.cli.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.entry.cli.words import Words

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
"""What a page or an error text may hold to steer a terminal."""

NAMES = ("job", "example", "value", "version", "workflow_version")
"""Numbers that are typed again rather than read."""

STYLES = {
    "SUCCESS": "green",
    "COMPLETED": "green",
    "DONE": "green",
    "ok": "green",
    "RUNNING": "cyan",
    "PROCESSING": "cyan",
    "RETRYING": "yellow",
    "PAUSED": "yellow",
    "warning": "yellow",
    "FAILED": "red",
    "PARKED": "red",
    "CANCELLED": "magenta",
    "broken": "red",
    "critical": "red",
    "error": "red",
}


def pick(document: Any, path: str) -> Any:
    """The value at a dotted path, or None."""
    value = document
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        else:
            return None
    return value


def narrowed(document: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Only these fields, in this order; one that is not there is a mistake, not an empty column."""
    for name in fields:
        if name.partition(".")[0] not in document:
            raise Failure("usage", f"there is no field '{name}'", f"the fields are {', '.join(document)}")
    return {name: pick(document, name) for name in fields}


def plain(value: Any) -> str:
    """For a pipe: whole, on one line, without tabs."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return safe(value).replace("\t", " ").replace("\n", " ")
        case dict() | list():
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def shown(value: Any, words: Words, name: str = "") -> str:
    """For a person: local time, grouped digits (but not of what is a name), words for yes and no."""
    match value:
        case None | "":
            return "–"
        case bool():
            return words("yes") if value else words("no")
        case int():
            return str(value) if name in NAMES or name.endswith("id") else f"{value:,}"
        case float() if name in NAMES:
            return f"{value:g}"
        case float():
            return f"{value:,.2f}".rstrip("0").rstrip(".")
        case str() if INSTANT.fullmatch(value):
            return local(value)
        case str():
            return safe(value)
        case dict() | list():
            return safe(json.dumps(value, ensure_ascii=False)) if value else "–"
    return safe(str(value))


def local(instant: str) -> str:
    """An instant in the zone of this machine."""
    moment = datetime.fromisoformat(instant).astimezone()
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def safe(text: str) -> str:
    """Without control characters: what others wrote must not move our cursor."""
    return CONTROL.sub("�", text)


def numeric(values: Sequence[Any]) -> bool:
    """Whether a column holds numbers and nothing else."""
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in found)
