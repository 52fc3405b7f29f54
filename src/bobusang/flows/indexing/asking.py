"""A rebuild is asked for by a row: whoever leads does it, and everybody sees there how far it is.

Who asks while one is asked for or under way asks for that one. A row that has not ended outlives the process that was
at it, and the next that leads begins it anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.flows.indexing.rebuilding import Progress
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.tables import search_rebuilds

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

INDEX = "products"
BELL = "search"
WAITING = "waiting"
"""The phase of one that nobody has begun yet."""

_FIRST = Bulk(search_rebuilds, ("name", "number", "phase", "done", "total", "asked_at", "ended_at"), keep=True)
_ASK = Statement("""
    update search_rebuilds set number = number + 1, phase = :phase, done = 0, total = 0, error = null,
      asked_at = :now, ended_at = null
    where name = :name and ended_at is not null""")
_STANDING = Statement(
    "select number, phase, done, total, error, ended_at from search_rebuilds where name = :name and number > 0"
)
_MOVE = Statement("""
    update search_rebuilds set phase = :phase, done = :done, total = :total
    where name = :name and number = :number and ended_at is null""")
_END = Statement("""
    update search_rebuilds set error = :error, ended_at = :now
    where name = :name and number = :number and ended_at is null""")


@dataclass(frozen=True, slots=True)
class Standing:
    """The last rebuild that was asked for: how far it is, or how it ended."""

    number: int
    under_way: bool
    progress: Progress
    error: str | None = None


async def ask(tx: Tx) -> Standing:
    """Ask for a rebuild, or for the one that is under way."""
    await tx.insert(_FIRST, [(INDEX, 0, WAITING, 0, 0, tx.now, tx.now)])
    await tx.execute(_ASK, name=INDEX, phase=WAITING, now=tx.now)
    tx.ring(BELL)
    found = await standing(tx)
    assert found is not None
    return found


async def standing(tx: Tx) -> Standing | None:
    """How the last one stands; None when none was ever asked for."""
    row = await tx.first(_STANDING, name=INDEX)
    if row is None:
        return None
    progress = Progress(row["done"], row["total"], row["phase"])
    return Standing(row["number"], row["ended_at"] is None, progress, row["error"])


async def move(tx: Tx, number: int, progress: Progress) -> None:
    """Tell how far it is."""
    await tx.execute(_MOVE, name=INDEX, number=number, phase=progress.phase, done=progress.done, total=progress.total)


async def end(tx: Tx, number: int, error: str | None = None) -> None:
    """It is over, well or by an error."""
    await tx.execute(_END, name=INDEX, number=number, error=error, now=tx.now)
