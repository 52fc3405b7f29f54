"""Who did what, and what troubles there are."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from bobusang.kit.clock import utc
from bobusang.kit.db import Tx
from bobusang.platform.notifier import Level
from bobusang.platform.tables import alerts, audit_log
from bobusang.views.columns import below, document, window

WINDOW = 20_000
"""How many acts one request looks through for an actor or an action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine:
    """One act of a person or a program."""

    id: int
    at: datetime
    actor: str
    action: str
    subject_type: str
    subject_id: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which acts; what is not given does not matter."""

    actor: str | None = None
    action: str | None = None
    subject_type: str | None = None
    subject_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLine:
    """A trouble that people were told of; over when it is resolved."""

    id: int
    key: str
    rule: str
    level: Level
    title: str
    text: str
    link: str | None
    fields: Any
    count: int
    opened_at: datetime
    last_notified_at: datetime | None
    resolved_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Acts:
    """Acts, newest first, and the id to go on from (None: there are no more)."""

    lines: list[AuditLine]
    resume: int | None


async def acts(tx: Tx, wanted: AuditFilter, before: int | None, limit: int) -> Acts:
    """The audit log. Where no index helps, one call looks through a bounded number and says where to go on."""
    table = audit_log.c
    clauses, end = below(table.id, before), None
    if wanted != AuditFilter() and wanted.subject_type is None:
        end = await window(tx, table.id, before, WINDOW)
        clauses += [] if end is None else [table.id >= end]
    for column, value in (
        (table.actor, wanted.actor),
        (table.action, wanted.action),
        (table.subject_type, wanted.subject_type),
        (table.subject_id, wanted.subject_id),
    ):
        if value is not None:
            clauses.append(column == value)
    rows = await tx.fetch(select(audit_log).where(*clauses).order_by(table.id.desc()).limit(limit + 1))
    lines = [
        AuditLine(
            id=row["id"],
            at=utc(row["at"]),
            actor=row["actor"],
            action=row["action"],
            subject_type=row["subject_type"],
            subject_id=row["subject_id"],
            before=document(row["before_data"]),
            after=document(row["after_data"]),
        )
        for row in rows[:limit]
    ]
    return Acts(lines=lines, resume=lines[-1].id if len(rows) > limit else end)


async def troubles(tx: Tx, *, resolved: bool | None, before: int | None, limit: int) -> list[AlertLine]:
    """Alerts, newest first: open ones, resolved ones, or both."""
    table = alerts.c
    query = select(alerts).where(*below(table.id, before))
    if resolved is not None:
        query = query.where(table.resolved_at.is_not(None) if resolved else table.resolved_at.is_(None))
    return [
        AlertLine(
            id=row["id"],
            key=row["alert_key"],
            rule=row["rule"],
            level=Level(row["level"]),
            title=row["title"],
            text=row["text"],
            link=row["link"],
            fields=document(row["fields"]) or {},
            count=row["count"],
            opened_at=utc(row["opened_at"]),
            last_notified_at=utc(row["last_notified_at"]),
            resolved_at=utc(row["resolved_at"]),
        )
        for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))
    ]
