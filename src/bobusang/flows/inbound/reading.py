"""The handler `inbound.read`: webhooks that were stored are read, and what they say commits with what became of them.

An event is read once: whoever comes second finds it read. An event that ends the program whenever it is read is tried
by itself, some times, and then set aside.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bobusang.engine.model import NewTask
from bobusang.engine.outcome import Done, Outcome
from bobusang.kit.errors import BobusangError, Missing
from bobusang.stages.collect import counts, events
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.events import Ended, Kept, Marks
from bobusang.stages.collect.inbound import Event, happened, unpacked
from bobusang.stages.collect.intake_tables import EventState
from bobusang.stages.collect.model import Fetched
from bobusang.stages.collect.pages import is_gone
from bobusang.stages.collect.source import Ask, Kind, Page, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.engine.model import Task
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.source import Source

AT_ONCE = 100
ALONE_AFTER, GIVEN_UP_AFTER = 2, 5
"""Tries that came to no end: from so many on an event is read by itself, after so many not again."""
STEP = "read"
KIND = "webhook"
MEDIA = "application/json"


@dataclass(frozen=True, slots=True)
class Heard:
    """An event that was read: what it says, or why it could not be read."""

    kept: Kept
    event: Event | None = None
    found: tuple[Snapshot, ...] = ()
    size: int = 0
    problem: str = ""
    note: str = ""


class Listened(Done, frozen=True):
    """Done, with the events that the finishing transaction saves."""

    source: str = ""
    heard: tuple[Heard, ...] = ()


@dataclass(slots=True)
class _Segment:
    """Pages that can be saved together: none says of a record that it is no more while another says that it is."""

    pages: list[Fetched] = field(default_factory=list)
    gone: dict[str, bool] = field(default_factory=dict)

    def takes(self, snapshots: Iterable[Snapshot]) -> bool:
        return all(self.gone.get(one.key, is_gone(one)) is is_gone(one) for one in snapshots)

    def add(self, page: Fetched, snapshots: Iterable[Snapshot]) -> None:
        self.pages.append(page)
        self.gone |= {one.key: is_gone(one) for one in snapshots}


class Reading:
    """Both halves of the handler, for one process."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Read what waits, the oldest first; a task for each further part."""
        return [await self._read(str(task.input["source"])) for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Write what the events say that nobody has read meanwhile, and what became of them."""
        for task, done in owned:
            if isinstance(done, Listened) and done.heard:
                await self._save(tx, task, done)

    async def _read(self, name: str) -> Outcome:
        async with self._collector.db.read() as tx:
            waiting = await events.take(tx, name, limit=AT_ONCE)
        if not waiting:
            return Done(output={"events": 0}, spawn=())
        if waiting[0].attempts >= ALONE_AFTER:
            waiting = waiting[:1]
        await self._collector.db.transact(lambda tx: events.begin(tx, [one.id for one in waiting]))
        heard = tuple([await self._heard(name, kept) for kept in waiting])
        onward = NewTask({"source": name}, key=f"after.{waiting[-1].id}", step=STEP, raw=True)
        failed = sum(1 for one in heard if one.problem)
        return Listened(output={"events": len(heard), "failed": failed}, spawn=(onward,), source=name, heard=heard)

    async def _heard(self, name: str, kept: Kept) -> Heard:
        if kept.attempts >= GIVEN_UP_AFTER:
            return Heard(kept, problem=f"reading it came to no end {kept.attempts} times; the log says why")
        try:
            source = self._collector.source(name)
            body = await self._collector.blobs.get(kept.sha256)
            return await asyncio.to_thread(_heard, source, kept, body)
        except Missing as error:
            return Heard(kept, problem=str(error))

    async def _save(self, tx: Tx, task: Task, done: Listened) -> None:
        still = await events.still(tx, [one.kept.id for one in done.heard])
        heard = [one for one in done.heard if one.kept.id in still]
        source = self._collector.sources.get(done.source)
        keys = {snapshot.key for one in heard for snapshot in one.found}
        marks = await Marks.load(tx, done.source, keys)
        segments, ended, failed = [_Segment()], list[Ended](), 0
        for one in heard:
            if one.problem or one.event is None or source is None:
                ended.append(Ended(one.kept, EventState.FAILED, one.problem or "its source is no more"))
                failed += 1
                continue
            at, stream = happened(one.event.at, one.kept.received_at), one.event.stream
            news = tuple(each for each in one.found if marks.take(each.key, stream, at, gone=is_gone(each)))
            ended.append(Ended(one.kept, EventState.DONE, one.note or _late(one, news)))
            if not segments[-1].takes(news):
                segments.append(_Segment())
            if news:
                segments[-1].add(_fetched(source, task, one, news), news)
        for segment in segments:
            if segment.pages:
                await self._collector.service.save(tx, segment.pages)
        await marks.save(tx)
        await events.end(tx, ended)
        if failed and source is not None:
            place = Place(done.source, target_of(done.source), KIND, task.job_id)
            await counts.add(tx, [(place, Counts(failure=failed))], zone=source.policy.window.zone)


def target_of(source: str) -> str:
    """What the webhooks of a source are collected for, in its counts."""
    return f"{KIND}:{source}"


def _heard(source: Source, kept: Kept, data: bytes) -> Heard:
    """What an event says. Whatever is wrong with it is told of, and is nobody else's trouble."""
    assert source.inbound is not None
    headers, body = unpacked(data)
    page = Page(Ask(f"/in/{source.name}"), body, headers=headers, fetched_at=kept.received_at)
    try:
        event = source.inbound.event(page)
        if not event.stream:
            return Heard(kept, event, note=f"no stream reads '{event.name}'")
        ask = Ask(page.ask.url, Kind.LIST, event.stream, "POST", given={"event": kept.event})
        found = source.read(replace(page, ask=ask))
        return Heard(kept, event, tuple(one for one in found if isinstance(one, Snapshot)), len(body))
    except BobusangError as error:
        return Heard(kept, problem=str(error))
    except RecursionError:
        return Heard(kept, problem="it is nested too deep to be read")


def _late(heard: Heard, news: Sequence[Snapshot]) -> str:
    late = len(heard.found) - len(news)
    return f"{late} of {len(heard.found)} came late: something newer was known of them" if late else ""


def _fetched(source: Source, task: Task, heard: Heard, news: tuple[Snapshot, ...]) -> Fetched:
    """An event as the service saves it: each record by itself, as an item's own page. No list is shown by it, so
    nothing can be missing from it."""
    assert heard.event is not None
    url = f"/in/{source.name}#{heard.kept.event}"
    return Fetched(
        source=source.name,
        target=target_of(source.name),
        ask=Ask(url, Kind.ITEM, heard.event.stream, "POST"),
        found=news,
        reader=source.version,
        sha256=heard.kept.sha256,
        url=url,
        fetched_at=heard.kept.received_at,
        media=MEDIA,
        size=heard.size,
        job_id=task.job_id,
        task_id=task.id,
    )
