"""Columns as all three databases give them, read into what a screen shows."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column

from bobusang.engine.model import QueueType
from bobusang.kit import json

SHOWN = 500
"""How much of a long text a list shows; the detail has all of it."""


def document(text: str | None) -> Any:
    """A JSON column, or None."""
    return None if text is None else json.loads(text)


def words(instant: datetime) -> str:
    """An instant inside a sentence."""
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def shortened(text: str | None) -> str | None:
    """A long text for a list."""
    return text if text is None or len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def queue_name(number: int) -> str:
    """How people call a queue."""
    return QueueType(number).name


def below(column: Column[int], key: int | None) -> list[Any]:
    """The condition of a list that runs from new to old: what comes after this key."""
    return [] if key is None else [column < key]
