"""The gate's memory in SQL: where each source and endpoint stands, and the journal of what changed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.notifier import shortened
from bobusang.stages.collect.admission import Cause, Standing
from bobusang.stages.collect.breaker import Breaker
from bobusang.stages.collect.tables import AnswerWord, BreakerState, gate_decisions, source_gates

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.admission import Wait

KEPT = 10_000
"""Decisions kept in the journal."""
PRUNE_EVERY = 100

READ = Statement("select * from source_gates where source = :source and endpoint in ('', :endpoint)")
LOCK = Statement(
    """select * from source_gates where source = :source and endpoint in ('', :endpoint)
       order by endpoint for update""",
    sqlite="select * from source_gates where source = :source and endpoint in ('', :endpoint)",
)
ALL = Statement(
    "select * from source_gates where source = :source order by endpoint for update",
    sqlite="select * from source_gates where source = :source order by endpoint",
)
MADE = Bulk(source_gates, ("source", "endpoint", "updated_at"), keep=True)
PRUNE = Statement("delete from gate_decisions where id <= :last")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal."""

    id: int
    at: datetime
    source: str
    endpoint: str
    answer: AnswerWord
    until: datetime | None
    reason: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A source (endpoint '') or an endpoint, as the gate remembers it."""

    source: str
    endpoint: str
    standing: Standing
    updated_at: datetime


async def load(tx: Tx, source: str, endpoint: str, *, lock: bool = False) -> tuple[Standing, Standing]:
    """Where the source and the endpoint stand; locked, they are ours until the transaction ends."""
    if lock:
        await tx.insert(MADE, [(source, name, tx.now) for name in sorted({"", endpoint})])
    rows = await tx.fetch(LOCK if lock else READ, source=source, endpoint=endpoint)
    found = {row["endpoint"]: _standing(row) for row in rows}
    return found.get("", Standing()), found.get(endpoint, Standing())


async def load_all(tx: Tx, source: str) -> dict[str, Standing]:
    """Where all that is remembered of a source stands, locked."""
    await tx.insert(MADE, [(source, "", tx.now)])
    return {row["endpoint"]: _standing(row) for row in await tx.fetch(ALL, source=source)}


async def save(tx: Tx, source: str, endpoint: str, standing: Standing) -> None:
    """Remember it; the row is there because it was locked."""
    values = _values(standing) | {"updated_at": tx.now}
    key = (source_gates.c.source == source) & (source_gates.c.endpoint == endpoint)
    await tx.execute(update(source_gates).where(key).values(**values))


def answered(standing: Standing, wait: Wait | None) -> Standing:
    """The same with another last answer; None: go."""
    if wait is None:
        return replace(standing, answer=AnswerWord.GO, cause=None, answer_until=None, answer_reason=None)
    return replace(
        standing, answer=AnswerWord.WAIT, cause=wait.cause, answer_until=wait.until, answer_reason=wait.reason
    )


def is_change(before: Standing, wait: Wait | None) -> bool:
    """Whether an answer is another than the last: a later instant for the same cause is none."""
    if wait is None:
        return before.is_news
    return before.answer is not AnswerWord.WAIT or before.cause is not wait.cause


async def journal(tx: Tx, source: str, endpoint: str, wait: Wait | None) -> None:
    """Append a decision; now and then the oldest are forgotten."""
    id = await tx.create(
        insert(gate_decisions).values(
            at=tx.now,
            source=source,
            endpoint=endpoint,
            answer=AnswerWord.GO if wait is None else AnswerWord.WAIT,
            until=None if wait is None else wait.until,
            reason="" if wait is None else shortened(wait.reason, 500),
        )
    )
    if id % PRUNE_EVERY == 0:
        await tx.execute(PRUNE, last=id - KEPT)


async def decisions(tx: Tx, source: str = "", *, before: int | None = None, limit: int = 100) -> list[Entry]:
    """The journal, newest first; `before` an id, for the next page."""
    query = select(gate_decisions).order_by(gate_decisions.c.id.desc()).limit(limit)
    if source:
        query = query.where(gate_decisions.c.source == source)
    if before is not None:
        query = query.where(gate_decisions.c.id < before)
    return [
        Entry(
            row["id"],
            utc(row["at"]),
            row["source"],
            row["endpoint"],
            AnswerWord(row["answer"]),
            utc(row["until"]),
            row["reason"],
        )
        for row in await tx.fetch(query)
    ]


async def show(tx: Tx, source: str = "") -> list[Shown]:
    """Where every source and endpoint stands that has had something to remember."""
    query = select(source_gates).order_by(source_gates.c.source, source_gates.c.endpoint)
    rows = await tx.fetch(query.where(source_gates.c.source == source) if source else query)
    return [Shown(row["source"], row["endpoint"], _standing(row), utc(row["updated_at"])) for row in rows]


_BREAKER = tuple(one.name for one in fields(Breaker))
_OWN = ("blocked_until", "blocked_in_a_row", "forgiven_at", "answer", "cause", "answer_until", "answer_reason")
_INSTANTS = {"window_started_at", "opened_at", "open_until", "closed_at", "probe_until"}


def _values(standing: Standing) -> dict[str, Any]:
    breaker = {name: getattr(standing.breaker, name) for name in _BREAKER}
    own = {name: getattr(standing, name) for name in _OWN}
    texts = {name: shortened(text, 500) for name, text in (breaker | own).items() if name.endswith("reason") and text}
    return breaker | own | texts


def _standing(row: Row) -> Standing:
    values = {name: utc(row[name]) if name in _INSTANTS else row[name] for name in _BREAKER}
    return Standing(
        breaker=Breaker(**values | {"state": BreakerState(row["state"])}),
        blocked_until=utc(row["blocked_until"]),
        blocked_in_a_row=row["blocked_in_a_row"],
        forgiven_at=utc(row["forgiven_at"]),
        answer=AnswerWord(row["answer"]),
        cause=Cause(row["cause"]) if row["cause"] else None,
        answer_until=utc(row["answer_until"]),
        answer_reason=row["answer_reason"],
    )
