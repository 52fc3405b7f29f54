"""Cancelling a batch: its jobs end now, and its rows say who wanted it so and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import control as engine_control
from bobusang.flows.conveyor import batches
from bobusang.flows.conveyor.model import BatchStatus
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx

_LIVE = """
    select id from crawling_jobs where status in ('PENDING', 'RUNNING')
      and id in (select job_id from pipeline_control where batch_id = :batch_id) order by id"""
LIVE = Statement(f"{_LIVE} for update", sqlite=_LIVE)
WHY = Statement("""
    update pipeline_control set error_msg = :why
    where batch_id = :batch_id and status in ('PENDING', 'RUNNING')""")


async def cancel(tx: Tx, engine: Engine, batch_id: str, why: str) -> int:
    """End all of a batch that has not ended; how many brands. What is done stays done, the batch is then FAILED, and
    `retry` takes it up again."""
    batch = await batches.get(tx, batch_id)
    if batch.status is not BatchStatus.RUNNING:
        raise Conflict(f"batch {batch_id} is over: {batch.status}", hint=f"`bobusang run show {batch_id}`")
    jobs = [row["id"] for row in await tx.fetch(LIVE, batch_id=batch_id)]
    await tx.execute(WHY, batch_id=batch_id, why=f"cancelled: {why.strip() or 'nobody said why'}")
    for job_id in jobs:
        await engine_control.cancel(tx, engine.books, engine.hooks, job_id)
    return len(jobs)
