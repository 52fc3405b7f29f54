"""Rows as plain values, the same on all three databases."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Database

JSON = {"raw_data", "normalized_data", "market_data", "ai_data", "digests", "hashes", "payload", "old_value"} | {
    "new_value",
    "transformation_metadata",
}
FLAGS = {"in_stock", "listed", "adaptive", "is_mapped"}


async def rows(db: Database, query: str) -> list[tuple[Any, ...]]:
    """All rows of a query, in its order."""
    async with db.read() as tx:
        found = await tx.fetch(Statement(query))
    return [tuple(_plain(name, value) for name, value in dict(row).items()) for row in found]  # type: ignore[call-overload]


def _plain(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in JSON:
        return json.loads(value)
    if name in FLAGS:
        return bool(value)
    if name.endswith("_at") and isinstance(value, str | datetime):
        return utc(value)
    return value
