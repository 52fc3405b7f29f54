"""Following a source in time: what has happened since the last time, window by window; the whole of it at first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import jobs, targets, workflows
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import DependencyType, JobType
from bobusang.flows.collect import starting
from bobusang.flows.collect.followed import WHOLE, Place
from bobusang.flows.collect.register import WORKFLOW
from bobusang.flows.collect.starting import Started, Wanted
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Statement
from bobusang.stages.collect import marks, runs
from bobusang.stages.collect.marks import OLDEST, PERIOD
from bobusang.stages.collect.model import RunMode
from bobusang.stages.collect.source import WINDOW, Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.marks import Span
    from bobusang.stages.collect.source import Followed, Source

NOT_COLLECTED_BY = ("index", "item", WINDOW)

LAST = Statement("""
    select id, completed_at from crawling_jobs where target_id = :target order by id desc limit 1""")
OF_KIND = Statement("""
    select t.target_key as value from crawl_targets t
    join crawl_sources s on s.id = t.source_id join target_types k on k.id = t.target_type_id
    where s.name = :source and k.name = :kind and t.is_active = true order by t.id""")


async def start(
    tx: Tx,
    engine: Engine,
    collector: Collector,
    name: str,
    wanted: Sequence[Wanted] = (),
    *,
    key: str = "",
    period: timedelta = PERIOD,
    refresh: timedelta | None = None,
) -> list[Started]:
    """Follow a source, or what is wanted of it: one job for each window, in their order, or a FULL run of what has no
    mark yet or cannot be followed. What is being followed already is not begun again.

    `period` is how often it is followed. With `refresh` nothing is only followed for longer than that: what would not
    have been collected whole for longer by the next time is collected whole now. Raises Conflict when the source is
    off, or has nothing to follow yet.
    """
    source = await starting.ready(tx, collector, name)
    places = _wanted(source, wanted) if wanted else await _every(tx, source)
    whole = dict.fromkeys(await _unfollowed(tx, source, wanted))
    known = await marks.of_source(tx, name)
    old = set() if refresh is None else await _old(tx, name, places, refresh - period)
    found: list[Started] = []
    for place in places:
        mark = known.get((place.stream.stream, place.target))
        if mark is None or tx.now - mark > OLDEST or place.whole in old:
            whole[place.whole] = None
        else:
            windows = marks.spans(mark, tx.now, most=place.stream.most, period=period)
            found += await _followed(tx, engine, source, place, windows)
    for each in whole:
        found.append(await _whole(tx, engine, collector, name, Wanted(*each), key))
    if not found:
        raise Conflict(f"{name} has nothing to follow yet", hint=_first(source))
    return found


def _wanted(source: Source, wanted: Sequence[Wanted]) -> list[Place]:
    """The streams by which what is wanted can be followed."""
    places = [Place(stream, one.key if stream.kind else "") for one in wanted for stream in source.followed]
    asked = {(one.kind, one.key) for one in wanted}
    return [place for place in dict.fromkeys(places) if place.whole in asked]


async def _every(tx: Tx, source: Source) -> list[Place]:
    return [place for each in source.followed for place in await _places(tx, source, each)]


async def _unfollowed(tx: Tx, source: Source, wanted: Sequence[Wanted]) -> list[tuple[str, str]]:
    """What has to be collected whole each time: of what is wanted what no stream follows, or all of a source without
    windows."""
    if wanted:
        followed = {place.whole for place in _wanted(source, wanted)}
        return [(one.kind, one.key) for one in wanted if (one.kind, one.key) not in followed]
    return [] if source.followed else await _everything(tx, source)


async def _old(tx: Tx, name: str, places: Sequence[Place], age: timedelta) -> set[tuple[str, str]]:
    """What was not collected whole for longer than that."""
    wholes = {Target(*place.whole).name: place.whole for place in places}
    at = await runs.proved(tx, name, wholes)
    return {whole for target, whole in wholes.items() if target not in at or tx.now - at[target] > age}


async def _places(tx: Tx, source: Source, stream: Followed) -> list[Place]:
    if not stream.kind:
        return [Place(stream)]
    return [Place(stream, row["value"]) for row in await tx.fetch(OF_KIND, source=source.name, kind=stream.kind)]


async def _everything(tx: Tx, source: Source) -> list[tuple[str, str]]:
    """What a source without windows is collected by: its lists, or all targets of it that are known."""
    kinds = getattr(source, "target_kinds", ())
    if WHOLE[0] in kinds:
        return [WHOLE]
    return [
        (kind, row["value"])
        for kind in kinds
        if kind not in NOT_COLLECTED_BY
        for row in await tx.fetch(OF_KIND, source=source.name, kind=kind)
    ]


async def _whole(tx: Tx, engine: Engine, collector: Collector, name: str, wanted: Wanted, key: str) -> Started:
    known = await targets.known(tx, kind=wanted.kind, key=wanted.key, source=name)
    last = await tx.first(LAST, target=known[0]) if known else None
    if last is not None and last["completed_at"] is None:
        return Started(last["id"], Target(wanted.kind, wanted.key).name, is_new=False)
    [found] = await starting.start(tx, engine, collector, name, [wanted], mode=RunMode.FULL, key=key)
    return found


async def _followed(tx: Tx, engine: Engine, source: Source, place: Place, windows: Sequence[Span]) -> list[Started]:
    """A job for each window, the next only after the one before it has succeeded: a mark leaps over nothing."""
    target_id = await targets.put(tx, kind=WINDOW, key=place.window, source=source.name)
    name = Target(WINDOW, place.window).name
    last = await tx.first(LAST, target=target_id)
    if last is not None and last["completed_at"] is None:
        return [Started(last["id"], name, is_new=False)]
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    found: list[Started] = []
    before = last["id"] if last is not None else 0
    for span in windows:
        new = NewJob(
            workflow_id,
            target_id=target_id,
            job_type=JobType.FULL,
            input={"data": place.data(span), "sync": place.told(span)},
            key=f"sync:{target_id}:{before}",  # whoever starts it at the same time finds the same job
            after=[(found[-1].job_id, DependencyType.SUCCESS)] if found else (),
        )
        made = await jobs.create(tx, engine.books, engine.hooks, new)
        found.append(Started(made[0], name, is_new=made[1]))
        before = made[0]
    return found


def _first(source: Source) -> str:
    kinds = sorted({one.kind for one in source.followed if one.kind}) or ["brand"]
    return (
        f"collect a {' or a '.join(kinds)} of it first: `bobusang collect full {source.name} --target {kinds[0]}:KEY`"
    )
