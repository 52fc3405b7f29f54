"""Runs: one collecting of one target's list; what its pages told, what they changed, and whether it was proved."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.collect.coverage import ListPage
from bobusang.stages.collect.guards import RunFacts
from bobusang.stages.collect.model import Run, RunMode, RunState
from bobusang.stages.collect.tables import collect_runs, list_pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from bobusang.catalog.model import Snapshot
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.model import Summary
    from bobusang.stages.collect.policy import Guards
    from bobusang.stages.collect.source import Ask, Extent

REASON_LENGTH = 500
PAGES_AT_ONCE = 5_000

OPENED = Bulk(collect_runs, ("job_id", "source", "target", "scope", "mode", "known", "state", "started_at"), keep=True)
FIND = Statement("select * from collect_runs where job_id in (:ids...)")
LOCK = Statement(
    "select * from collect_runs where job_id = :id for update", sqlite="select * from collect_runs where job_id = :id"
)
COUNT = Statement("""
    update collect_runs set total = :total, pages_read = pages_read + :pages, new = new + :new,
      changed = changed + :changed, held = held + :held, unknown = :tallies, tripped = :tripped, reason = :reason
    where job_id = :id""")
CLOSE = Statement("""
    update collect_runs set state = :state, reason = :reason, listed = :listed, total = :total, held = :held,
      missed = :missed, absent = :absent, pages_read = :pages, pages_expected = :expected, closed_at = :now
    where job_id = :id""")
RECENT = Statement("""
    select * from collect_runs where (:source = '' or source = :source) and (:target = '' or target = :target)
      and job_id < :before order by job_id desc limit :limit""")
PROVED = Statement("""
    select target, max(started_at) as at from collect_runs
    where source = :source and target in (:targets...) and mode = 'FULL' and state = 'PROVED' group by target""")
PAGE_ROWS = Bulk(list_pages, ("job_id", "ask_key", "endpoint", "page", "total", "is_last", "listed_keys", "raw_id"))
FORGET_PAGES = Statement("delete from list_pages where job_id = :job_id and ask_key in (:keys...)")
PAGES = Statement("select * from list_pages where job_id = :job_id order by page, raw_id")
DROP_PAGES = Statement("delete from list_pages where job_id in (:ids...)")
CLOSED = Statement("""
    select distinct p.job_id as value from list_pages p join collect_runs r on r.job_id = p.job_id
    where r.closed_at < :before limit :limit""")


class Tally:
    """What one batch adds to a run, and with it what the guards of the run look at."""

    def __init__(self, run: Run, guards: Guards) -> None:
        self.run = run
        self.pages = self.new = self.changed = self.held = 0
        self.total = run.total
        self.tripped, self.reason = run.tripped, run.reason
        self._watched = tuple(guards.null_rate)
        self._facts: dict[str, RunFacts] = {}
        self._added: dict[str, Counter[str]] = {name: Counter() for name in ("seen", "unknown", "changed")}

    def read(self, snapshot: Snapshot) -> None:
        """Count whether a reading tells what it should; all of a batch are read before the first is judged."""
        for name in self._watched:
            if name in snapshot.unknown:
                self._added["unknown"][name] += 1
                self._added["seen"][name] += 1
            elif name in snapshot.fields:
                self._added["seen"][name] += 1

    def overturned(self, stream: str) -> None:
        """Count that something known would become something else."""
        self._added["changed"][stream] += 1
        self._facts.pop(stream, None)

    def announced(self, total: int | None) -> None:
        """Remember the largest total that a page told."""
        if total is not None:
            self.total = max(total, self.total or 0)

    def facts(self, stream: str) -> RunFacts:
        """The run so far, as the guards look at it; made anew only when something was overturned."""
        found = self._facts.get(stream)
        if found is None:
            sums = self.merged(self.run.tallies)
            changed = sums["changed"].get(stream, 0)
            found = RunFacts(self.run.known, changed, sums["seen"], sums["unknown"], self.tripped, self.reason)
            self._facts[stream] = found
        return found

    def trip(self, guard: str, reason: str) -> None:
        """From here on all changes of the run are held."""
        self.tripped, self.reason = guard, reason
        self._facts.clear()

    def merged(self, tallies: Any) -> dict[str, dict[str, int]]:
        """Tallies with those of this batch."""
        return {name: dict(Counter(tallies.get(name, {})) + added) for name, added in self._added.items()}


async def opened(tx: Tx, run: Run) -> Run:
    """Write a run down, once: the second time nothing is changed. The run as it stands."""
    row = (run.job_id, run.source, run.target, run.scope, run.mode, run.known, RunState.OPEN, run.started_at)
    await tx.insert(OPENED, [row])
    return await get(tx, run.job_id)


async def find(tx: Tx, ids: Iterable[int]) -> dict[int, Run]:
    """Runs by their job."""
    return {row["job_id"]: run_of(row) for row in await tx.fetch(FIND, ids=sorted(set(ids)))}


async def get(tx: Tx, job_id: int) -> Run:
    """One run."""
    found = (await find(tx, [job_id])).get(job_id)
    if found is None:
        raise Missing(f"job {job_id} has collected nothing")
    return found


async def recent(
    tx: Tx, *, source: str = "", target: str = "", before: int | None = None, limit: int = 50
) -> list[Run]:
    """Runs, the newest first; `before` the job of the last one that was shown."""
    rows = await tx.fetch(RECENT, source=source, target=target, before=before or 2**62, limit=limit)
    return [run_of(row) for row in rows]


async def proved(tx: Tx, source: str, targets: Iterable[str]) -> dict[str, datetime]:
    """By target, when the last FULL run began that read it to its end."""
    wanted = sorted(set(targets))
    rows = await tx.fetch(PROVED, source=source, targets=wanted) if wanted else ()
    return {row["target"]: utc(row["at"]) for row in rows}


async def locked(tx: Tx, job_id: int) -> Run | None:
    """One run, which nobody else changes until the transaction ends."""
    row = await tx.first(LOCK, id=job_id)
    return None if row is None else run_of(row)


async def add(tx: Tx, tally: Tally) -> None:
    """Add a batch to its run. The last thing a batch does, so that the row is locked for a moment only."""
    run = await locked(tx, tally.run.job_id)
    if run is None:
        return
    tally.announced(run.total)
    await tx.execute(
        COUNT,
        id=run.job_id,
        total=tally.total,
        pages=tally.pages,
        new=tally.new,
        changed=tally.changed,
        held=tally.held,
        tallies=json.dumps(tally.merged(run.tallies)),
        tripped=run.tripped or tally.tripped or None,
        reason=(run.reason or tally.reason or "")[:REASON_LENGTH] or None,
    )


async def close(tx: Tx, summary: Summary, *, expected: int) -> None:
    """Write down how a run ended, and how many pages its list should have had."""
    run = summary.run
    await tx.execute(
        CLOSE,
        id=run.job_id,
        state=run.state,
        reason=run.reason[:REASON_LENGTH] or None,
        listed=run.listed,
        total=run.total,
        held=run.held,
        missed=summary.missed,
        absent=summary.absent,
        pages=run.pages_read,
        expected=expected,
        now=run.closed_at,
    )


async def list_page(tx: Tx, pages: Sequence[tuple[int, Ask, Extent, int]]) -> None:
    """Remember what pages of lists told: (job, ask, extent, raw id). A page that is read again replaces itself."""
    rows = {(job_id, _key(ask)): _page_row(job_id, ask, extent, raw_id) for job_id, ask, extent, raw_id in pages}
    for job_id in {job_id for job_id, _ in rows}:
        await tx.execute(FORGET_PAGES, job_id=job_id, keys=[key for job, key in rows if job == job_id])
    await tx.insert(PAGE_ROWS, list(rows.values()))


async def listed(tx: Tx, job_id: int) -> tuple[list[ListPage], str, int | None]:
    """The pages of a run's list, by number; the stream that read the last of them, and its raw page: the evidence."""
    rows = await tx.fetch(PAGES, job_id=job_id)
    pages = [_list_page(row) for row in rows]
    return pages, rows[-1]["endpoint"] if rows else "", rows[-1]["raw_id"] if rows else None


async def forget_pages(tx: Tx, before: Any) -> int:
    """Drop what the lists of runs closed before told, in one bounded pass; of how many runs."""
    ids = [row["value"] for row in await tx.fetch(CLOSED, before=before, limit=PAGES_AT_ONCE)]
    if ids:
        await tx.execute(DROP_PAGES, ids=ids)
    return len(ids)


def run_of(row: Row) -> Run:
    """A run as its row tells it."""
    return Run(
        job_id=row["job_id"],
        source=row["source"],
        target=row["target"],
        mode=RunMode(row["mode"]),
        known=row["known"],
        started_at=utc(row["started_at"]),
        state=RunState(row["state"]),
        total=row["total"],
        pages_read=row["pages_read"],
        listed=row["listed"],
        new=row["new"],
        changed=row["changed"],
        held=row["held"],
        tallies=json.loads(row["unknown"] or "{}"),
        reason=row["reason"] or "",
        tripped=row["tripped"] or "",
        closed_at=utc(row["closed_at"]),
    )


def _key(ask: Ask) -> str:
    return blake2b(ask.name.encode(errors="replace"), digest_size=16).hexdigest()


def _page_row(job_id: int, ask: Ask, extent: Extent, raw_id: int) -> tuple[object, ...]:
    keys = json.dumps({"keys": extent.keys, "skipped": extent.skipped})
    return job_id, _key(ask), ask.endpoint, extent.page, extent.total, extent.last, keys, raw_id


def _list_page(row: Row) -> ListPage:
    told = json.loads(row["listed_keys"])
    return ListPage(tuple(told["keys"]), row["page"], row["total"], bool(row["is_last"]), told["skipped"])
