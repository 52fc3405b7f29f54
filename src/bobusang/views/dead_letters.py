"""Dead letters: one by one with their history, and by cause."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from bobusang.engine import redriving
from bobusang.engine.model import ReasonClass
from bobusang.engine.redriving import Filter
from bobusang.engine.tables import crawling_workflows
from bobusang.engine.tables import dead_letters as letters
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views import tasks
from bobusang.views.columns import document
from bobusang.views.tasks import Attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A task that was given up until a person mends it."""

    task_id: int
    job_id: int
    workflow_id: int
    workflow: str
    step: str
    task_key: str
    target_url: str | None
    reason_class: ReasonClass
    error: str | None
    fingerprint: str
    retry_count: int
    input: Any
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterDetail(DeadLetter):
    """A dead letter with what was tried."""

    attempts: list[Attempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Dead letters with the same reason and, but for numbers, the same error."""

    reason_class: ReasonClass
    fingerprint: str
    count: int
    error: str | None
    first_at: datetime
    last_at: datetime
    example: int


async def listed(tx: Tx, wanted: Filter) -> list[DeadLetter]:
    """Dead letters, oldest first."""
    rows = await tx.fetch(redriving.matching(wanted))
    names = await _names(tx, {row["workflow_id"] for row in rows})
    return [DeadLetter(**_letter(row, names)) for row in rows]


async def one(tx: Tx, task_id: int) -> DeadLetterDetail:
    """One dead letter with its history."""
    row = await tx.first(redriving.matching(Filter(ids=[task_id], limit=1)))
    if row is None:
        raise Missing(f"task {task_id} is not among the dead letters", field="task_id")
    names = await _names(tx, {row["workflow_id"]})
    return DeadLetterDetail(**_letter(row, names), attempts=await tasks.attempts(tx, task_id))


async def causes(tx: Tx, wanted: Filter) -> list[Cause]:
    """How many there are of each cause, most first."""
    return [
        Cause(
            reason_class=ReasonClass(row["reason_class"]),
            fingerprint=row["fingerprint"],
            count=row["times"],
            error=row["error"],
            first_at=utc(row["first_at"]),
            last_at=utc(row["last_at"]),
            example=row["example"],
        )
        for row in await tx.fetch(redriving.grouped(wanted))
    ]


async def ids(tx: Tx, wanted: Filter) -> list[int]:
    """The tasks of matching dead letters, oldest first."""
    query = redriving.matching(wanted).with_only_columns(letters.c.task_id)
    return [row["task_id"] for row in await tx.fetch(query)]


async def count(tx: Tx, wanted: Filter, most: int) -> int:
    """How many match, counted up to a bound."""
    part = redriving.matching(wanted).with_only_columns(letters.c.task_id).limit(most).subquery()
    return int(await tx.value(select(func.count().label("value")).select_from(part)))


async def _names(tx: Tx, ids: set[int]) -> dict[int, str]:
    if not ids:
        return {}
    table = crawling_workflows.c
    rows = await tx.fetch(select(table.id, table.workflow_name).where(table.id.in_(sorted(ids))))
    return {row["id"]: row["workflow_name"] for row in rows}


def _letter(row: Row, names: dict[int, str]) -> dict[str, Any]:
    same = ("task_id", "job_id", "workflow_id", "task_key", "target_url", "error", "fingerprint", "retry_count")
    return {
        **{name: row[name] for name in same},
        "workflow": names.get(row["workflow_id"], ""),
        "step": row["step_name"],
        "reason_class": ReasonClass(row["reason_class"]),
        "input": document(row["input_data"]),
        "created_at": utc(row["created_at"]),
    }
