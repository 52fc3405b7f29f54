"""Columns as all three databases give them, read into what a screen shows."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, select

from bobusang.engine.model import QueueType
from bobusang.kit import json
from bobusang.kit.db import Tx

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


async def window(tx: Tx, column: Column[int], before: int | None, size: int) -> int | None:
    """The last key that one call looks at, going from new to old; None when it can look at all that is left."""
    query = select(column.label("value")).where(*below(column, before)).order_by(column.desc())
    end: int | None = await tx.value(query.limit(1).offset(size - 1))
    return end
