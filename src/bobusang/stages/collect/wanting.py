"""Which of the pages that a source asks for are worth fetching now: the condition of an ask, against what is known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from bobusang.catalog import records, seen
from bobusang.kit.sql import Statement
from bobusang.stages.collect import runs
from bobusang.stages.collect.model import ItemFacts, Run, RunMode
from bobusang.stages.collect.pages import readings
from bobusang.stages.collect.source import FRESH, Ask, Extent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.seen import Known
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.model import Fetched
    from bobusang.stages.collect.policy import Policy

Holds = Callable[[str, ItemFacts], bool]
"""Whether a condition (`Ask.when`) holds of an item; who declares sources knows how to read one."""

HAD = Statement("""
    select id as value from source_records where source_type = :type and source_system = :system
      and source_id in (:keys...) and created_at < :since""")

States = dict[tuple[str, str], dict[str, "Known"]]
"""(source, endpoint) → key → what is known."""


async def wanted(
    tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched], holds: Holds
) -> list[tuple[Ask, ...]]:
    """Of each page's asks those to be made, as `Collecting.wanted` says."""
    fresh = await _fresh(tx, policies, fetched)
    modes = {job_id: run.mode for job_id, run in (await runs.find(tx, {page.job_id for page in fetched})).items()}
    states = await _states(tx, policies, fetched)
    changed = await _changed(tx, policies, fetched)
    kept = []
    for page, is_fresh in zip(fetched, fresh, strict=True):
        partial = modes.get(page.job_id) is RunMode.PARTIAL
        kept.append(
            tuple(
                ask
                for ask in asks_of(page)
                if (ask.when != FRESH or is_fresh)
                and (not ask.item or _is_wanted(ask, _facts(tx, page, ask, states, changed, partial), holds))
            )
        )
    return kept


def asks_of(page: Fetched) -> list[Ask]:
    """What a page asks for."""
    return [one for one in page.found if isinstance(one, Ask)]


async def _fresh(tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched]) -> list[bool]:
    """Whether each page shows an item that we had not when its window of time began. What a run that was broken off
    has stored since then does not count as known: behind it there may be more that nobody has seen."""
    found = []
    for page in fetched:
        keys = {key for one in page.found if isinstance(one, Extent) for key in one.keys}
        since = page.ask.given.get("since")
        if not keys or since is None or not any(ask.when == FRESH for ask in asks_of(page)):
            found.append(bool(keys))
            continue
        moment = datetime.fromisoformat(str(since))
        type = policies[page.source].type
        rows = await tx.fetch(HAD, type=type, system=page.source, keys=sorted(keys), since=moment)
        found.append(len(rows) < len(keys))
    return found


def _is_wanted(ask: Ask, facts: ItemFacts, holds: Holds) -> bool:
    if facts.new and facts.partial:
        return False
    return not ask.when or holds(ask.when, facts)


def _facts(
    tx: Tx,
    page: Fetched,
    ask: Ask,
    states: States,
    changed: Mapping[tuple[str, str], frozenset[str]],
    partial: bool,
) -> ItemFacts:
    known = states[page.source, ask.endpoint].get(ask.item)
    if known is None:
        return ItemFacts(partial=partial)
    # What was gone and is back was told of long ago, whatever the clock says: what it was then is not what it is now.
    last = None if known.absent else known.last_seen.get(ask.endpoint)
    return ItemFacts(
        new=False,
        changed=changed.get((page.source, ask.item), frozenset()),
        age=None if last is None else tx.now - last,
        due=known.absent or known.is_due(tx.now),
        partial=partial,
    )


async def _states(tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched]) -> States:
    keys: dict[tuple[str, str], set[str]] = {}
    for page in fetched:
        for ask in asks_of(page):
            if ask.item:
                keys.setdefault((page.source, ask.endpoint), set()).add(ask.item)
    return {
        (source, endpoint): await seen.states(tx, source, sorted(items), [endpoint], type=policies[source].type)
        for (source, endpoint), items in keys.items()
    }


async def _changed(
    tx: Tx, policies: Mapping[str, Policy], fetched: Sequence[Fetched]
) -> dict[tuple[str, str], frozenset[str]]:
    """By (source, key): the groups in which these pages differ from what is known; only where a condition asks."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    asking = [page for page in fetched if any("changed" in ask.when for ask in asks_of(page))]
    for source in sorted({page.source for page in asking}):
        said = [
            reading
            for page in asking
            if page.source == source
            for reading in readings(page, Run(page.job_id, source, page.target, RunMode.FULL, 0, page.fetched_at))
        ]
        for change in await records.compare(tx, said, groups=policies[source].groups):
            key = source, change.reading.snapshot.key
            found[key] = found.get(key, frozenset()) | change.groups
    return found
