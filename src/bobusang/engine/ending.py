"""Ending a job: its status, its execution, what went wrong in a few words, and who waited for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.engine import budgets, lanes
from bobusang.engine.hooks import JobMoved
from bobusang.engine.making import job_pool
from bobusang.engine.model import ExecutionStatus, JobStatus, Run, StepType
from bobusang.engine.outcome import CONTEXT_LIMIT, merged
from bobusang.kit import json, log
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.books import Books
    from bobusang.engine.hooks import Hooks
    from bobusang.kit.db import Tx

END = Statement("""
    update crawling_jobs set status = :status, completed_at = :now, updated_at = :now, is_paused = false,
      error_summary = coalesce(:summary, error_summary)
    where id = :id and status in ('PENDING', 'RUNNING')""")
CLOSE = Statement("""
    update workflow_executions set status = :status, completed_at = :now, current_step = null,
      step_results = :results, context = :context where job_id = :id""")
EXECUTION = Statement("select context from workflow_executions where job_id = :id")
RESULTS = Statement("""
    select s.step_name, c.created, c.succeeded, c.failed, c.skipped, c.cancelled
    from job_steps c join workflow_steps s on s.id = c.step_id where c.job_id = :id order by c.step_order""")
FAULTS = Statement("""
    select error_message, count(*) as times from tasks
    where job_id = :id and status = 'FAILED' and error_message is not null
    group by error_message order by times desc limit 5""")
PATCHES = Statement("select id, patch from job_contexts where job_id = :id order by id")
TAKEN = Statement("delete from job_contexts where id in (:ids...)")
SAVE_CONTEXT = Statement("update workflow_executions set context = :context where job_id = :id")
WITH_PATCHES = Statement("select distinct job_id from job_contexts limit 200")


async def end(tx: Tx, books: Books, hooks: Hooks, run: Run, status: JobStatus) -> bool:
    """End a job once; False when it was over already."""
    summary = await _summary(tx, run.job_id) if status is JobStatus.FAILED else None
    if not await tx.execute(END, id=run.job_id, status=status, now=tx.now, summary=summary):
        return False
    context = await fold_context(tx, run.job_id)
    await tx.execute(
        CLOSE,
        id=run.job_id,
        status=ExecutionStatus.COMPLETED if status is JobStatus.SUCCESS else ExecutionStatus.FAILED,
        now=tx.now,
        results=json.dumps(await step_results(tx, run.job_id)),
        context=json.dumps(context),
    )
    if run.limited:
        await tx.execute(lanes.REMOVE, job_id=run.job_id)
        await tx.execute(
            budgets.DROP, pools=[job_pool(run.job_id, StepType.FETCH), job_pool(run.job_id, StepType.STORE)]
        )
    await hooks.job(tx, JobMoved(run, status))
    tx.ring("jobs")
    return True


async def _summary(tx: Tx, job_id: int) -> str | None:
    rows = await tx.fetch(FAULTS, id=job_id)
    if not rows:
        return None
    return json.dumps([{"error": row["error_message"][:500], "count": row["times"]} for row in rows])


async def step_results(tx: Tx, job_id: int) -> dict[str, dict[str, int]]:
    """The counters of each step by its name."""
    rows = await tx.fetch(RESULTS, id=job_id)
    return {
        row["step_name"]: {
            "tasks": row["created"],
            "succeeded": row["succeeded"],
            "failed": row["failed"],
            "skipped": row["skipped"],
            "cancelled": row["cancelled"],
        }
        for row in rows
    }


async def fold_context(tx: Tx, job_id: int) -> dict[str, Any]:
    """Merge the patches that tasks left into the execution's context; one that would make it too large is dropped."""
    row = await tx.first(EXECUTION, id=job_id)
    context: dict[str, Any] = json.loads(row["context"]) if row is not None and row["context"] else {}
    patches = await tx.fetch(PATCHES, id=job_id)
    for patch in patches:
        larger = merged(context, json.loads(patch["patch"]))
        if len(json.dumps(larger)) <= CONTEXT_LIMIT:
            context = larger
        else:
            log.get("progress").warning("a context would grow too large and was not added to", job=job_id)
    if patches:
        await tx.execute(TAKEN, ids=[patch["id"] for patch in patches])
        await tx.execute(SAVE_CONTEXT, id=job_id, context=json.dumps(context))
    return context


async def fold_contexts(tx: Tx) -> int:
    """Merge the patches of all jobs; run at most once a second, because a context may be large."""
    rows = await tx.fetch(WITH_PATCHES)
    for row in rows:
        await fold_context(tx, row["job_id"])
    return len(rows)
