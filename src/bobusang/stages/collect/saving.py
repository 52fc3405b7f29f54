"""Saving a batch of pages: evidence, truth, held writes, lists, brands and counts, in one transaction."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bobusang.catalog import brands, records, seen, seller_facts
from bobusang.catalog.brands import Proposal
from bobusang.catalog.model import ChangeKind
from bobusang.catalog.seen import PACE, Pace
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.stages.collect import counts, held, runs
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.model import Run, RunMode, Saved
from bobusang.stages.collect.pages import Batch, batches
from bobusang.stages.collect.runs import Tally
from bobusang.stages.collect.source import Brand, Extent, Kind, Snapshot
from bobusang.stages.collect.tables import HeldState
from bobusang.stages.collect.weighing import Weighed, weigh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.model import Change
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.model import Fetched
    from bobusang.stages.collect.policy import Policy

NOT_MODIFIED = 304
CONFIRM = "price_confirm"
FRESHNESS = {Kind.LIST: "price", Kind.ITEM: "content", Kind.PART: "stock"}
"""Which group's freshness sets the pace of which pages."""


async def save(tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched], raw_ids: Sequence[int]) -> Saved:
    """Write what pages say; `raw_ids` are those of their evidence."""
    tallies = await _tallies(tx, policies, fetched)
    types = {source: policy.type for source, policy in policies.items()}
    news: Counter[tuple[int, str]] = Counter()
    saved = Saved(pages=len(fetched))
    for batch in batches(fetched, raw_ids, tallies, types):
        policy = policies[batch.source]
        weighed = await weigh(tx, batch.source, policy, batch.sightings)
        saved += await _write(tx, batch, policy, weighed)
        news.update((batch.job_id, change.reading.stream) for _, change in weighed.write if _is_news(change))
    await _note_lists(tx, fetched, raw_ids, tallies)
    await _note_brands(tx, fetched)
    await _count(tx, policies, fetched, tallies, news)
    for job_id in sorted(tallies):
        await runs.add(tx, tallies[job_id])
    return saved


def pace_of(policy: Policy, kind: Kind) -> Pace:
    """How often items are due on such pages."""
    freshness = policy.freshness.get(FRESHNESS.get(kind, ""))
    if freshness is None:
        return PACE
    least, most = int(freshness.least.total_seconds()), int(freshness.most.total_seconds())
    return Pace(first=min(max(PACE.first, least), most), least=least, most=most)


async def _tallies(tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched]) -> dict[int, Tally]:
    """One for each run; pages of a job that planned none (one that is tried by hand) count for themselves."""
    found = await runs.find(tx, {page.job_id for page in fetched})
    for page in fetched:
        if page.job_id not in found:
            found[page.job_id] = Run(page.job_id, page.source, page.target, RunMode.FULL, 0, tx.now)
    return {job_id: Tally(run, policies[run.source].guards) for job_id, run in found.items()}


async def _write(tx: Tx, batch: Batch, policy: Policy, weighed: Weighed) -> Saved:
    changes = [change for _, change in weighed.write]
    written = await records.write(
        tx,
        changes,
        run=batch.job_id,
        now=tx.now,
        groups=policy.groups,
        pace=pace_of(policy, batch.kind),
        sighted=not batch.gone,
    )
    await seller_facts.learn(tx, batch.source, changes)
    for tally, change in weighed.write:
        tally.new += change.kind is ChangeKind.NEW
        tally.changed += change.kind is ChangeKind.CHANGED
    if weighed.holds:
        await _see_held(tx, batch, weighed)
        await held.hold(tx, weighed.holds, weighed.open)
    await held.supersede(tx, weighed.moot)
    if weighed.confirmed:
        await held.decide(tx, [id for id, _ in weighed.confirmed], HeldState.APPROVED, CONFIRM)
        await audit.record_all(tx, *(_confirmed(id, change) for id, change in weighed.confirmed))
    return Saved(
        items=len(batch.sightings),
        new=written.new,
        changed=written.changed,
        same=written.same,
        held=len(weighed.holds),
        dropped=weighed.dropped,
    )


async def _see_held(tx: Tx, batch: Batch, weighed: Weighed) -> None:
    """What is held was seen nonetheless: its record is not missing."""
    scopes: dict[str, list[int]] = {}
    for hold in weighed.holds:
        if hold.change.record_id and not batch.gone:
            scopes.setdefault(hold.change.reading.scope, []).append(hold.change.record_id)
    for name, ids in sorted(scopes.items()):
        await seen.touch(tx, await seen.scope(tx, batch.source, name), ids, run=batch.job_id, now=tx.now)


async def _note_lists(tx: Tx, fetched: Sequence[Fetched], raw_ids: Sequence[int], tallies: Mapping[int, Tally]) -> None:
    told = [
        (page.job_id, page.ask, one, raw_id)
        for page, raw_id in zip(fetched, raw_ids, strict=True)
        for one in page.found
        if isinstance(one, Extent)
    ]
    for job_id, _, extent, _ in told:
        tallies[job_id].pages += 1
        tallies[job_id].announced(extent.total)
    if told:
        await runs.list_page(tx, told)


async def _note_brands(tx: Tx, fetched: Sequence[Fetched]) -> None:
    found: dict[str, list[Proposal]] = {}
    for page in fetched:
        for one in page.found:
            if isinstance(one, Brand):
                found.setdefault(page.source, []).append(Proposal(one.key, one.name_ko, one.name_en, one.url))
    for mall, proposals in sorted(found.items()):
        await brands.propose(tx, mall, proposals)


async def _count(
    tx: Tx,
    policies: Mapping[str, Policy],
    fetched: Sequence[Fetched],
    tallies: Mapping[int, Tally],
    news: Mapping[tuple[int, str], int],
) -> None:
    """Append one row for each endpoint of each run."""
    sums: dict[Place, Counts] = {}
    for page in fetched:
        place = Place(page.source, tallies[page.job_id].run.target, page.ask.endpoint, page.job_id)
        sums[place] = sums.get(place, Counts()) + _counts(page)
    for source in sorted({place.source for place in sums}):
        told = [
            (place, one + Counts(changed=news.get((place.job_id or 0, place.endpoint), 0)))
            for place, one in sums.items()
            if place.source == source
        ]
        await counts.add(tx, told, zone=policies[source].window.zone)


def _counts(page: Fetched) -> Counts:
    return Counts(
        success=1,
        not_modified=int(page.status == NOT_MODIFIED),
        items=sum(isinstance(one, Snapshot | Brand) for one in page.found),
        bytes=page.size,
    )


def _is_news(change: Change) -> bool:
    return change.kind is not ChangeKind.SAME


def _confirmed(id: int, change: Change) -> Entry:
    before = {one.field: one.old for one in change.fields}
    after = {one.field: one.new for one in change.fields}
    return Entry(CONFIRM, "held.confirm", Subject("held_write", id), {"fields": before}, {"fields": after})
