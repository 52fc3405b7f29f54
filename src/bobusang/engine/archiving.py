"""Archiving old jobs and dropping old history, in bounded batches by one cutoff.

A job's tasks go first, a few thousand at a time; its row moves to the archive in the transaction that finds none left.
So a crash half-way loses nothing and orphans nothing, and no call is long, however large the job.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.ending import step_results
from bobusang.engine.tables import crawling_jobs, crawling_jobs_archive
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.kit.db import Tx

KEEP = timedelta(days=30)
JOBS_AT_ONCE = 20
ROWS_AT_ONCE = 5_000

OLD = Statement("""
    select id from crawling_jobs where completed_at < :before and status in ('SUCCESS', 'FAILED', 'CANCELLED')
      and not exists (select 1 from job_sweeps s where s.job_id = crawling_jobs.id)
    order by completed_at limit :limit""")
IDS = Statement("select id from tasks where job_id = :id limit :limit")
DROP_TASKS = Statement("delete from tasks where id in (:ids...)")
DROP_LETTERS = Statement("delete from dead_letters where task_id in (:ids...)")
_SHARED = ", ".join(column.name for column in crawling_jobs_archive.c if column.name in crawling_jobs.c)
ARCHIVE = Statement(f"""
    insert into crawling_jobs_archive ({_SHARED}, step_results, archived_at)
    select {_SHARED}, :results, :now from crawling_jobs where id = :id""")
PARTS = tuple(
    Statement(f"delete from {table} where job_id = :id")
    for table in ("workflow_executions", "job_steps", "job_dependencies", "job_deltas", "job_contexts", "job_sweeps")
)
DROP_LANES = Statement("delete from lanes where job_id = :id and job_id <> 0")
DROP_POOLS = Statement("delete from budgets where pool in (:pools...)")
DROP_JOB = Statement("delete from crawling_jobs where id = :id")
_OLD_ROWS = {
    "task_attempts": ("id", "ended_at", ""),
    "waits": ("wait_key", "created_at", "and signalled_at is not null"),  # signals that nobody took
}
OLD_KEYS = {
    table: Statement(f"select {key} as value from {table} where {at} < :before {and_} order by {at} limit :limit")
    for table, (key, at, and_) in _OLD_ROWS.items()
}
DROP_KEYS = {
    table: Statement(f"delete from {table} where {key} in (:keys...)") for table, (key, *_) in _OLD_ROWS.items()
}
CUT_FIRES = Statement("""
    select created_at as value from schedule_fires where created_at < :before
    order by created_at limit 1 offset :limit""")
DROP_FIRES = Statement("delete from schedule_fires where created_at < :before")


async def archive(tx: Tx, before: datetime) -> int:
    """One bounded pass; how many rows went."""
    gone = 0
    for row in await tx.fetch(OLD, before=before, limit=JOBS_AT_ONCE):
        gone += await _archive_job(tx, row["id"], ROWS_AT_ONCE - gone)
        if gone >= ROWS_AT_ONCE:
            return gone
    for table, keys in OLD_KEYS.items():
        found = [row["value"] for row in await tx.fetch(keys, before=before, limit=ROWS_AT_ONCE)]
        if found:
            gone += await tx.execute(DROP_KEYS[table], keys=found)
    cut = utc(await tx.value(CUT_FIRES, before=before, limit=ROWS_AT_ONCE))
    gone += await tx.execute(DROP_FIRES, before=cut or before)
    return gone


async def _archive_job(tx: Tx, job_id: int, room: int) -> int:
    ids = [row["id"] for row in await tx.fetch(IDS, id=job_id, limit=room)]
    if ids:
        await tx.execute(DROP_LETTERS, ids=ids)
        await tx.execute(DROP_TASKS, ids=ids)
    if len(ids) == room:
        return len(ids)
    results = json.dumps(await step_results(tx, job_id))
    await tx.execute(ARCHIVE, id=job_id, results=results, now=tx.now)
    for statement in PARTS:
        await tx.execute(statement, id=job_id)
    await tx.execute(DROP_LANES, id=job_id)
    await tx.execute(DROP_POOLS, pools=[f"job:{job_id}:fetch", f"job:{job_id}:work"])
    await tx.execute(DROP_JOB, id=job_id)
    return len(ids) + 1
