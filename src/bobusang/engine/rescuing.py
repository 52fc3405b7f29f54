"""Taking claims back from workers that are dead, hung or leaving."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from bobusang.engine import queue
from bobusang.engine.model import Entry, ReasonClass, TaskOutcome, TaskStatus
from bobusang.engine.rules import is_poison
from bobusang.engine.settling import ATTEMPTS, DEAD, Deltas, append, dead_row
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.engine.hooks import Hooks
    from bobusang.kit.db import Row, Tx

DEAD_CLAIMS = Statement(
    """
    select c.token, c.worker_id, c.entries, c.claimed_at, c.deadline_at
    from queue_claims c left join workers w on w.id = c.worker_id
    where w.id is null or w.beat_at < :dead or c.deadline_at < :now
    order by c.token limit 100 for update of c skip locked""",
    sqlite="""
    select c.token, c.worker_id, c.entries, c.claimed_at, c.deadline_at
    from queue_claims c left join workers w on w.id = c.worker_id
    where w.id is null or w.beat_at < :dead or c.deadline_at < :now order by c.token limit 100""",
    mariadb="""
    select c.token, c.worker_id, c.entries, c.claimed_at, c.deadline_at
    from queue_claims c left join workers w on w.id = c.worker_id
    where w.id is null or w.beat_at < :dead or c.deadline_at < :now
    order by c.token limit 100 for update skip locked""",
)
OWN_CLAIMS = Statement(
    "select token, worker_id, entries, claimed_at, deadline_at from queue_claims where worker_id = :id for update",
    sqlite="select token, worker_id, entries, claimed_at, deadline_at from queue_claims where worker_id = :id",
)
CLOSE = Statement("delete from queue_claims where token in (:tokens...)")
STEPS = Statement("""
    select t.id, t.step_id, j.workflow_id from tasks t join crawling_jobs j on j.id = t.job_id
    where t.id in (:ids...)""")
BURY = Statement("""
    update tasks set status = :status, outcome = :outcome, error_message = :error, completed_at = :now,
      updated_at = :now where id in (:ids...)""")
_BURIED = """
    from workers where beat_at < :dead and not exists (select 1 from queue_claims c where c.worker_id = workers.id)"""
BURIED = Statement(f"select name {_BURIED} order by id")
PRUNE = Statement(f"delete {_BURIED}")

POISON = "handed out six times in a row without an answer: its workers died or hung"


async def rescue(tx: Tx, hooks: Hooks, dead_before: datetime) -> int:
    """Requeue what dead or hung workers hold; how many entries. A late worker finds its claim gone and changes nothing.

    Worker rows go only when nothing is theirs any more: pruned first, their claims would be invisible.
    """
    claims = await tx.fetch(DEAD_CLAIMS, dead=dead_before, now=tx.now)
    count = await _take_back(tx, claims)
    await hooks.death(tx, [row["name"] for row in await tx.fetch(BURIED, dead=dead_before)])
    await tx.execute(PRUNE, dead=dead_before)
    return count


async def give_back(tx: Tx, worker_id: int, claimed_at: datetime | None = None) -> int:
    """Requeue what a leaving worker did not finish, or the one claim it made at that instant; that is no crash."""
    claims = await tx.fetch(OWN_CLAIMS, id=worker_id)
    if claimed_at is not None:
        claims = [claim for claim in claims if utc(claim["claimed_at"]) == claimed_at]
    entries = [entry for claim in claims for entry in queue.decode(claim["entries"])]
    if claims:
        await tx.execute(CLOSE, tokens=[claim["token"] for claim in claims])
        await queue.put(tx, [queue.again(entry, entry.dispatches - 1) for entry in entries])
    return len(entries)


async def _take_back(tx: Tx, claims: Sequence[Row]) -> int:
    if not claims:
        return 0
    await tx.execute(CLOSE, tokens=[claim["token"] for claim in claims])
    attempts: list[tuple[object, ...]] = []
    ready: list[Entry] = []
    poison: list[Entry] = []
    for claim in claims:
        late = utc(claim["deadline_at"]) < tx.now
        reason = ReasonClass.TIMEOUT if late else ReasonClass.CRASHED
        for entry in queue.decode(claim["entries"]):
            (poison if is_poison(entry.dispatches) else ready).append(entry)
            error = "its deadline passed" if late else "its worker stopped beating"
            attempts.append(
                (
                    entry.task_id,
                    entry.job_id,
                    entry.attempt,
                    "RESCUED",
                    reason,
                    error,
                    claim["worker_id"],
                    utc(claim["claimed_at"]),
                    tx.now,
                )
            )
    await tx.insert(ATTEMPTS, attempts)
    await queue.put(tx, ready)
    await _bury(tx, poison)
    return len(ready) + len(poison)


async def _bury(tx: Tx, entries: Sequence[Entry]) -> None:
    """Poison goes to the dead letters, whatever its step says of errors: it never gave an answer."""
    if not entries:
        return
    ids = [entry.task_id for entry in entries]
    rows = {row["id"]: row for row in await tx.fetch(STEPS, ids=ids)}
    await tx.execute(BURY, ids=ids, status=TaskStatus.FAILED, outcome=TaskOutcome.PARKED, error=POISON, now=tx.now)
    await tx.insert(
        DEAD,
        [
            dead_row(e, rows[e.task_id]["step_id"], rows[e.task_id]["workflow_id"], ReasonClass.CRASHED, POISON, tx.now)
            for e in entries
        ],
    )
    deltas: Deltas = defaultdict(Counter)
    for entry in entries:
        deltas[entry.job_id, rows[entry.task_id]["step_id"]]["failed"] += 1
    await append(tx, deltas)
