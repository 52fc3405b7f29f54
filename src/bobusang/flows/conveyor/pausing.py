"""Pausing a batch: its jobs rest where they are, what runs is finished, until somebody lets them go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import control
from bobusang.flows.conveyor import batches
from bobusang.flows.conveyor.model import BatchStatus
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.kit.db import Tx

_LIVE = """
    select id from crawling_jobs where status in ('PENDING', 'RUNNING') and is_paused = :paused
      and id in (select job_id from pipeline_control where batch_id = :batch_id) order by id"""
LIVE = Statement(f"{_LIVE} for update", sqlite=_LIVE)


async def pause(tx: Tx, batch_id: str) -> int:
    """Let the jobs of a running batch wait; how many brands. Raises Conflict where none is left to pause."""
    jobs = await _jobs(tx, batch_id, paused=False)
    if not jobs:
        raise Conflict(f"all that is left of batch {batch_id} is paused already")
    for job_id in jobs:
        await control.pause(tx, job_id)
    return len(jobs)


async def resume(tx: Tx, batch_id: str) -> int:
    """Let them go on, whoever paused them; how many brands. Raises Conflict where none is paused."""
    jobs = await _jobs(tx, batch_id, paused=True)
    if not jobs:
        raise Conflict(f"nothing of batch {batch_id} is paused")
    for job_id in jobs:
        await control.resume(tx, job_id)
    return len(jobs)


async def _jobs(tx: Tx, batch_id: str, *, paused: bool) -> list[int]:
    """In the order of their numbers, as whoever folds them locks them."""
    batch = await batches.get(tx, batch_id)
    if batch.status is not BatchStatus.RUNNING:
        raise Conflict(f"batch {batch_id} is over: {batch.status}", hint=f"`bobusang run show {batch_id}`")
    return [row["id"] for row in await tx.fetch(LIVE, batch_id=batch_id, paused=paused)]
