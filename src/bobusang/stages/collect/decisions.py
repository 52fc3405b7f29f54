"""Whether a source may be collected: off until a person has enabled it and recorded why (law 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from bobusang.catalog.tables.images import Rights
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform import audit
from bobusang.stages.collect.tables import source_decisions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

LARGEST_ROBOTS = 100_000

ENABLED = Statement("select enabled as value from source_decisions where source = :source")
ONE = Statement("select * from source_decisions where source = :source")
RIGHTS = Statement("select source, rights from source_decisions where source in (:sources...) and rights is not null")
MADE = Bulk(source_decisions, ("source", "enabled", "why", "decided_by", "decided_at"), keep=True)


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided, and what the source's robots.txt says beside it."""

    source: str
    enabled: bool
    why: str
    by: str
    """Empty: nobody has decided yet."""
    at: datetime
    robots: Mapping[str, Any] | None = None
    robots_fetched_at: datetime | None = None
    rights: Rights = Rights.UNKNOWN
    """By what right its pictures are shown."""


async def is_enabled(tx: Tx, source: str) -> bool:
    """Whether a person has enabled it; a source that nobody has decided about is off."""
    return bool(await tx.value(ENABLED, source=source))


async def decided(tx: Tx, source: str) -> Decision | None:
    """The decision about a source; None: there is none."""
    row = await tx.first(ONE, source=source)
    return None if row is None else _decision(row)


async def all_decided(tx: Tx) -> list[Decision]:
    """Every decision, by source."""
    return [_decision(row) for row in await tx.fetch(select(source_decisions).order_by(source_decisions.c.source))]


async def rights(tx: Tx, sources: Sequence[str]) -> dict[str, Rights]:
    """By source by what right its pictures are shown, of those about which somebody has said it."""
    rows = await tx.fetch(RIGHTS, sources=sources) if sources else ()
    return {row["source"]: Rights(row["rights"]) for row in rows}


async def decide(tx: Tx, source: str, *, enabled: bool, why: str, by: str, rights: Rights | None = None) -> Decision:
    """Record a decision, in the audit log too; without `rights` what was said of its pictures before stays."""
    why, by = why.strip(), by.strip()
    if not why:
        hint = "write which terms, agreement or official API allow it" if enabled else "write what happened"
        raise Invalid("a decision about a source needs a reason", hint=hint, field="why")
    if not by:
        raise Invalid("a decision about a source needs a person", hint="say who decides", field="by")
    before = await decided(tx, source)
    await _made(tx, source)
    said = {} if rights is None else {"rights": rights}
    await _set(tx, source, enabled=enabled, why=why[:1000], decided_by=by[:200], decided_at=tx.now, **said)
    after = await decided(tx, source)
    assert after is not None
    action = "source.enable" if enabled else "source.disable"
    await audit.record(tx, by, action, audit.Subject("source", source), before, after)
    return after


async def note_robots(tx: Tx, source: str, result: Mapping[str, Any]) -> None:
    """Keep what robots.txt says of us, to be shown beside the decision."""
    text = json.payload(dict(result), limit=LARGEST_ROBOTS, name="robots")
    await _made(tx, source)
    await _set(tx, source, robots=text, robots_fetched_at=tx.now)


async def _made(tx: Tx, source: str) -> None:
    await tx.insert(MADE, [(source, False, "", "", tx.now)])


async def _set(tx: Tx, source: str, **values: Any) -> None:
    await tx.execute(update(source_decisions).where(source_decisions.c.source == source).values(**values))


def _decision(row: Row) -> Decision:
    return Decision(
        source=row["source"],
        enabled=bool(row["enabled"]),
        why=row["why"],
        by=row["decided_by"],
        at=utc(row["decided_at"]),
        robots=json.loads(row["robots"]) if row["robots"] else None,
        robots_fetched_at=utc(row["robots_fetched_at"]),
        rights=Rights(row["rights"] or Rights.UNKNOWN),
    )
