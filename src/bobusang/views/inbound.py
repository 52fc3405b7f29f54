"""Webhooks of suppliers: what came, when, and what became of it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing
from bobusang.platform.blob import Blobs
from bobusang.stages.collect import events
from bobusang.stages.collect.events import Kept
from bobusang.stages.collect.intake_tables import EventState

SHOWN = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """A webhook in a list."""

    id: int
    source: str
    event: str
    """The supplier's own key of it."""
    state: EventState
    note: str | None
    """Why it could not be read, or was not needed."""
    attempts: int
    received_at: datetime
    done_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDetail(EventLine):
    """A webhook with what was sent."""

    sha256: str
    content: str | None
    """The beginning of it; null when it was thrown away."""


async def listed(
    tx: Tx, *, source: str = "", state: EventState | None = None, before: int | None = None, limit: int = 50
) -> list[EventLine]:
    """Newest first."""
    found = await events.listed(tx, source=source, state=state, before=before, limit=limit)
    return [EventLine(**_line(one)) for one in found]


async def one(tx: Tx, blobs: Blobs, id: int) -> EventDetail:
    """One of them, with its content."""
    kept = await events.get(tx, id)
    try:
        content = (await blobs.get(kept.sha256))[:SHOWN].decode(errors="replace")
    except Missing:
        content = None
    return EventDetail(**_line(kept), sha256=kept.sha256, content=content)


def _line(kept: Kept) -> dict[str, Any]:
    same = ("id", "source", "event", "state", "attempts", "received_at", "done_at")
    return {name: getattr(kept, name) for name in same} | {"note": kept.error}
