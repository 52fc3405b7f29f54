"""Closing a run: was the whole list seen, and if so, what is missing from it, and since when."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.catalog import records, seen
from bobusang.catalog.model import ChangeKind, Reading, Snapshot
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement
from bobusang.platform.bus import Event, publish
from bobusang.stages.collect import counts, held, runs
from bobusang.stages.collect.coverage import Listing, Proved, fall, proof
from bobusang.stages.collect.guards import Guard, Held
from bobusang.stages.collect.held import Hold
from bobusang.stages.collect.model import Run, RunState, Summary
from bobusang.stages.collect.source import WINDOW

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.coverage import ListPage
    from bobusang.stages.collect.policy import Policy

_ABSENT = Held(Guard.COVERAGE, "a person has been asked about this absence before", ("listed",))

INDEX = "index:"
"""How the target of a run is called that reads a source's brands or categories."""
READER = "coverage@1"
"""Who reads an absence: no page says it, the proof of a whole list does."""

# An item whose own page was read in this run, or that another list has shown since, is not gone.
ALIVE = Statement("""
    select distinct o.record_id as value from source_seen m
    join source_seen o on o.record_id = m.record_id and o.scope_id <> m.scope_id
    join seen_scopes c on c.id = o.scope_id
    where m.scope_id = :scope and m.record_id in (:ids...)
      and (o.last_seen_at >= :since or (c.name like :lists and o.last_seen_at > m.last_seen_at))""")


async def close(tx: Tx, policy: Policy, job_id: int, *, failed: int = 0) -> Summary:
    """End a run whose tasks are all over; `failed` of its list pages could not be read. The second time changes
    nothing. An unproved run changes nothing either: what it did not see, it did not look for."""
    run = await runs.locked(tx, job_id)
    if run is None:
        raise Missing(f"job {job_id} has collected nothing")
    if run.state is not RunState.OPEN:
        return Summary(run)
    if run.target.startswith(INDEX):
        return await _index(tx, run, failed)
    pages, stream, raw_id = await runs.listed(tx, job_id)
    if run.target.startswith(f"{WINDOW}:"):
        return await _window(tx, run, pages, failed)
    keys = {key for page in pages for key in page.keys}
    told = proof(policy.guards, Listing(pages, failed, run.known, run.tripped))
    run = replace(run, listed=len(keys), pages_read=len(pages), closed_at=tx.now)
    if isinstance(told, Proved):
        summary = await _proved(
            tx, policy, replace(run, state=RunState.PROVED, total=told.announced), keys, stream, raw_id
        )
    else:
        summary = Summary(replace(run, state=RunState.UNPROVED, reason=told.reason))
    await runs.close(tx, summary, expected=len(pages) + failed)
    await publish(tx, _event(summary))
    return summary


async def _index(tx: Tx, run: Run, failed: int) -> Summary:
    """The end of a run that read what a source has, not what it lists: there is nothing that could be missed."""
    told = (await counts.of_job(tx, run.job_id)).values()
    pages = sum(one.success for one in told)
    whole = pages > 0 and not failed
    run = replace(
        run,
        state=RunState.PROVED if whole else RunState.UNPROVED,
        reason="" if whole else "its index could not be read",
        listed=sum(one.items for one in told),
        pages_read=pages,
        closed_at=tx.now,
    )
    summary = Summary(run)
    await runs.close(tx, summary, expected=pages + failed)
    await publish(tx, _event(summary))
    return summary


async def _window(tx: Tx, run: Run, pages: Sequence[ListPage], failed: int) -> Summary:
    """The end of a run that read what has happened in a window of time: what it does not show has not happened, and
    nothing is missed. Each page asks for the next, so it was seen to its end when none could not be read."""
    flaw = f"the run was stopped by its guard {run.tripped}" if run.tripped else ""
    if failed:
        flaw = flaw or f"{failed:,} list page{'s' if failed > 1 else ''} could not be read"
    flaw = flaw or ("" if pages else "no list page was read")
    run = replace(
        run,
        state=RunState.UNPROVED if flaw else RunState.PROVED,
        reason=flaw,
        listed=len({key for page in pages for key in page.keys}),
        pages_read=len(pages),
        closed_at=tx.now,
    )
    summary = Summary(run)
    await runs.close(tx, summary, expected=len(pages) + failed)
    await publish(tx, _event(summary))
    return summary


async def _proved(
    tx: Tx, policy: Policy, run: Run, listed: Collection[str], stream: str, raw_id: int | None
) -> Summary:
    """Miss what the proved list does not show; what was missed often enough is absent, unless it is alive elsewhere."""
    scope = await seen.scope(tx, run.source, run.scope)
    known = await records.keys(tx, await seen.missing(tx, scope, run.job_id))
    missing = [id for id, record in known.items() if record.key not in listed]
    times = await seen.miss(tx, scope, run.job_id, missing)
    ripe = [id for id, count in times.items() if count >= policy.guards.absence_runs]
    alive = await _alive(tx, scope, ripe, run)
    absent = [known[id] for id in sorted(ripe) if id not in alive]
    readings = [
        Reading(
            Snapshot(record.system, record.key, {"listed": False}, type=record.type), stream, READER, raw_id, run.scope
        )
        for record in absent
    ]
    changes = await records.compare(tx, readings, groups=policy.groups)
    stopped = fall(policy.guards, run.known, len(absent))
    holds = [Hold(run, change, stopped or _ABSENT) for change in changes if change.kind is not ChangeKind.SAME]
    kept, agreed = await _asked(tx, run.source, holds, stopped is not None)
    agreed += [change for change in changes if change.kind is ChangeKind.SAME]  # its own page has said that it is gone
    await records.write(tx, agreed, run=run.job_id, now=tx.now, groups=policy.groups, sighted=False)
    await seen.forget(tx, scope, [change.record_id for change in agreed])
    run = replace(run, held=run.held + kept, reason=stopped.reason if stopped else "")
    return Summary(run, len(missing) - len(ripe), len(agreed), kept)


async def _asked(tx: Tx, source: str, holds: Sequence[Hold], stopped: bool) -> tuple[int, list[Change]]:
    """Hold absences that a person must agree to, or has been asked about; how many, and the others, which are written.
    What a person has said no to is neither."""
    if not holds:
        return 0, []
    opened = await held.standing_open(tx, source, [one.change.reading for one in holds])
    standing = held.Standing(opened, await held.standing_rejected(tx, source, holds))
    believed = [one for one in holds if not standing.refused(one)]
    kept = {one.open_key: one for one in believed if stopped or one.open_key in opened}
    await held.hold(tx, list(kept.values()), opened)
    return len(kept), [one.change for one in believed if one.open_key not in kept]


async def _alive(tx: Tx, scope: int, ids: Sequence[int], run: Run) -> set[int]:
    if not ids:
        return set()
    rows = await tx.fetch(ALIVE, scope=scope, ids=sorted(ids), since=run.started_at, lists="list:%")
    return {row["value"] for row in rows}


def _event(summary: Summary) -> Event:
    run = summary.run
    payload = {
        "source": run.source,
        "target": run.target,
        "job_id": run.job_id,
        "mode": run.mode,
        "state": run.state,
        "reason": run.reason,
        "tripped": run.tripped,
        "pages": run.pages_read,
        "known": run.known,
        "total": run.total,
        "listed": run.listed,
        "new": run.new,
        "changed": run.changed,
        "held": run.held,
        "missed": summary.missed,
        "absent": summary.absent,
    }
    return Event("collect.finished", f"{run.source}:{run.target}"[:200], payload)
