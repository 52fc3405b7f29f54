"""What a person chose on the screen, by name: the filters and columns of a list, when something was last looked at."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, insert, select, update

from bobusang.entry.tables import preferences
from bobusang.kit import json
from bobusang.kit.db import Tx

LONGEST = 4000


async def get(tx: Tx, user_id: int, name: str) -> Any:
    """What was chosen; None: nothing."""
    table = preferences.c
    row = await tx.first(select(table.value).where(table.user_id == user_id, table.name == name))
    return None if row is None else json.loads(row["value"])


async def put(tx: Tx, user_id: int, name: str, value: Any) -> None:
    """Remember it; None forgets."""
    table = preferences.c
    mine = (table.user_id == user_id) & (table.name == name)
    if value is None:
        await tx.execute(delete(preferences).where(mine))
        return
    text = json.dumps(value)
    if len(text) > LONGEST:
        return
    if not await tx.execute(update(preferences).where(mine).values(value=text, updated_at=tx.now)):
        values = {"user_id": user_id, "name": name, "value": text, "updated_at": tx.now}
        await tx.execute(insert(preferences).values(**values))
