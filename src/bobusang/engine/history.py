"""What was measured minute by minute, for as long as charts look back: added to, moved on from, forgotten."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Tx

KEEP = timedelta(days=14)
MINUTE = timedelta(minutes=1)
MOST_MINUTES = 60
"""What was not measured for longer than this is told of its last hour."""
MEASURED = "measured"
"""The name of the row that says until when everything is measured."""

_LAST = "select at as value from engine_history where name = :name and label = ''"
LAST = Statement(f"{_LAST} for update", sqlite=_LAST)
FORGET_LAST = Statement("delete from engine_history where name = :name and label = ''")
_ADD = "insert into engine_history (name, label, at, value) values (:name, :label, :at, :value)"
ADD = Statement(
    f"{_ADD} on conflict (name, label, at) do update set value = engine_history.value + excluded.value",
    mariadb=f"{_ADD} on duplicate key update value = value + values(value)",
)
FORGET = Statement("delete from engine_history where at < :before")


async def last(tx: Tx) -> datetime | None:
    """Until when everything is measured; whoever else measures waits for us from here on."""
    found: datetime | None = utc(await tx.value(LAST, name=MEASURED))
    return found


async def move_on(tx: Tx, until: datetime) -> None:
    """Everything is measured until then."""
    await tx.execute(FORGET_LAST, name=MEASURED)
    await tx.execute(ADD, name=MEASURED, label="", at=until, value=0.0)


async def add(tx: Tx, name: str, values: Mapping[str, float], since: datetime, until: datetime) -> None:
    """Add what came together between two instants, evenly over their minutes where nobody measured for some."""
    found = {label: value for label, value in values.items() if value}
    minutes = minutes_of(since, until)
    rows = [
        {"name": name, "label": label, "at": at, "value": value / len(minutes)}
        for label, value in sorted(found.items())
        for at in minutes
    ]
    await tx.execute_each(ADD, rows)


def minutes_of(since: datetime, until: datetime) -> list[datetime]:
    """The minutes that something which came between is told of: each that began since, the last one at any rate."""
    end = until.replace(second=0, microsecond=0)
    count = min(MOST_MINUTES, int((end - since) / MINUTE) + 1) if end > since else 1
    return [end - MINUTE * back for back in range(count)]


async def forget(tx: Tx) -> int:
    """Delete what no chart looks back to."""
    return await tx.execute(FORGET, before=tx.now - KEEP)
