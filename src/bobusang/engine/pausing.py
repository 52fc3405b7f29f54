"""Marking a job as paused, for a person who asks and for a task that halts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine.model import ExecutionStatus
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

SET = Statement("""
    update crawling_jobs set is_paused = :paused, pause_reason = :reason, updated_at = :now
    where id = :id and status in ('PENDING', 'RUNNING')""")
EXECUTION = Statement("""
    update workflow_executions set status = :status where job_id = :id and status in ('RUNNING', 'PAUSED')""")
_TO_SWEEP = "insert into job_sweeps (job_id, next_at) values (:id, :now) {conflict}"
TO_SWEEP = Statement(
    _TO_SWEEP.format(conflict="on conflict (job_id) do update set next_at = excluded.next_at"),
    mariadb=_TO_SWEEP.format(conflict="on duplicate key update next_at = values(next_at)"),
)
SWEPT = Statement("delete from job_sweeps where job_id = :id")


async def mark_paused(tx: Tx, job_id: int, reason: str | None = None) -> None:
    """Pause (a reason: no person asked for it); the waiting entries are set aside by the sweep that follows."""
    await tx.execute(SET, id=job_id, paused=True, reason=reason and reason[:500], now=tx.now)
    await tx.execute(EXECUTION, id=job_id, status=ExecutionStatus.PAUSED)
    await to_sweep(tx, job_id)


async def mark_running(tx: Tx, job_id: int) -> None:
    """Not paused any more."""
    await tx.execute(SET, id=job_id, paused=False, reason=None, now=tx.now)
    await tx.execute(EXECUTION, id=job_id, status=ExecutionStatus.RUNNING)
    await tx.execute(SWEPT, id=job_id)


async def to_sweep(tx: Tx, job_id: int) -> None:
    """Have a job's entries taken out of the queue."""
    await tx.execute(TO_SWEEP, id=job_id, now=tx.now)
    tx.ring("sweep")
