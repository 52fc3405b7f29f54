"""The handler `collect.fetch`: a batch of asks is visited, and what the pages say commits with their tasks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar

from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Done, Outcome, Park, Retry, Snooze
from bobusang.flows.collect import sharing
from bobusang.flows.collect.asks import STEP_OF, ask_of, new_tasks
from bobusang.flows.collect.run import source_of, target_of
from bobusang.flows.collect.waiting import SOON, put_off
from bobusang.stages.collect import counts
from bobusang.stages.collect.counts import Counts, Place
from bobusang.stages.collect.fetcher import absolute
from bobusang.stages.collect.model import Fetched
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.source import Ask, Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.model import NewTask, Task
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.fetcher import Visit
    from bobusang.stages.collect.responses import Verdict
    from bobusang.stages.collect.source import Kind, Source

    Made = tuple[Source, Task, Visit]
    """A visit, for whom, and where."""


class Collected(Done, frozen=True):
    """Done, with the page whose contents are saved in the finishing transaction."""

    page: Fetched | None = None


class Fetching:
    """Both halves of the handler, for one process."""

    steps: ClassVar[Mapping[Kind, str]] = STEP_OF
    """Which step fetches which kind of page."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Visit; tasks of one source and endpoint together."""
        groups: dict[tuple[str, str], list[Task]] = defaultdict(list)
        for task in batch:
            groups[source_of(task.run), ask_of(task.input).endpoint].append(task)
        outcomes: dict[int, Outcome] = {}
        made: list[Made] = []
        for (name, _), tasks in groups.items():
            source = self._collector.source(name)
            if await self._collector.sharing.hinders(name, source.policy):
                until = self._collector.db.clock.now() + SOON
                outcomes |= {task.id: Snooze(until, sharing.REASON) for task in tasks}
                continue
            visits = await self._collector.fetcher.visit(source, [ask_of(task.input) for task in tasks])
            now = self._collector.db.clock.now()
            outcomes |= {task.id: first_outcome(visit, now) for task, visit in zip(tasks, visits, strict=True)}
            made += [(source, task, visit) for task, visit in zip(tasks, visits, strict=True)]
        read = [(task, fetched(source, task, visit)) for source, task, visit in made if outcomes[task.id] is _READ]
        outcomes |= await self._collected(read)
        await self._note(made, outcomes)
        return [outcomes[task.id] for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Write what the pages of the tasks still owned say."""
        pages = [done.page for _, done in owned if isinstance(done, Collected) and done.page is not None]
        if pages:
            await self._collector.service.save(tx, pages)

    async def _collected(self, read: Sequence[tuple[Task, Fetched]]) -> dict[int, Outcome]:
        """What was read, with the asks of each page that are wanted."""
        asks = await self._wanted([page for _, page in read])
        return {
            task.id: Collected(
                output=_told(page),
                spawn=(
                    *new_tasks(asked := self.further(task, page, wanted), page.source, self.steps),
                    *self.onward(page, asked),
                ),
                page=page,
            )
            for (task, page), wanted in zip(read, asks, strict=True)
        }

    async def _wanted(self, pages: Sequence[Fetched]) -> Sequence[tuple[Ask, ...]]:
        """Most batches are of pages that ask for no other: of those nothing need be known."""
        if not any(isinstance(one, Ask) for page in pages for one in page.found):
            return [()] * len(pages)
        async with self._collector.db.read() as tx:
            return await self._collector.service.wanted(tx, pages, self._collector.holds)

    def further(self, task: Task, page: Fetched, asks: Sequence[Ask]) -> Sequence[Ask]:
        """Of the pages that a page asks for, those that are fetched; a probe only asks whether the source answers."""
        return () if task.run.input.get("probe") else asks

    def onward(self, page: Fetched, asks: Sequence[Ask]) -> tuple[NewTask, ...]:
        """Whatever else a page sets going; `asks` are the pages that are fetched for it. Collecting alone: nothing."""
        return ()

    async def _note(self, made: Sequence[Made], outcomes: dict[int, Outcome]) -> None:
        """Count what did not succeed, and keep pages that could not be read for whoever mends the reader."""
        drifted = [fetched(source, task, visit) for source, task, visit in made if visit.drifted]
        told = _tell(made, outcomes)
        if not told and not drifted:
            return
        zones = {source.name: source.policy.window.zone for source, _, _ in made}

        async def work(tx: Tx) -> None:
            for name, zone in sorted(zones.items()):
                mine = [(place, one) for place, one in told.items() if place.source == name]
                if mine:
                    await counts.add(tx, mine, zone=zone)
            if drifted:
                await self._collector.service.archive.index(tx, drifted, good=False)

        await self._collector.db.transact(work)


_READ = Done()
"""Stands for a page that was read until its asks are known."""


def first_outcome(visit: Visit, now: datetime) -> Outcome:
    """What becomes of a task, as far as its visit alone tells."""
    if visit.wait is not None:
        return put_off(visit.wait.until, now, visit.wait.reason)
    assert visit.verdict is not None
    if visit.drifted:
        return Park(ReasonClass.DRIFTED, visit.drifted)
    if visit.verdict.reaction in (Reaction.READ, Reaction.GONE):
        return _READ
    return outcome_of(visit.verdict, now)


def outcome_of(verdict: Verdict, now: datetime) -> Outcome:
    """What becomes of a task whose request was not answered with a page."""
    match verdict.reaction:
        case Reaction.RETRY:
            return Retry(verdict.reason, after=verdict.retry_after)
        case Reaction.FAIL:
            return Park(ReasonClass.REJECTED, verdict.reason)
        case _:
            # Throttled, not known any more, breaker open, halted: the gate has blocked what must wait.
            return Snooze(now + SOON, verdict.reason)


def fetched(source: Source, task: Task, visit: Visit) -> Fetched:
    """A visit as the service saves it."""
    answer = visit.answer
    assert answer is not None
    assert visit.at is not None
    return Fetched(
        source=source.name,
        target=target_of(task.run).name,
        ask=visit.ask,
        found=visit.found,
        reader=source.version,
        sha256=visit.sha256,
        url=absolute(source, visit.ask.url),
        fetched_at=visit.at,
        status=answer.status,
        headers=answer.headers,
        media=visit.media,
        size=len(answer.body),
        job_id=task.job_id,
        task_id=task.id,
    )


def _told(page: Fetched) -> dict[str, object]:
    """What a person sees of a task that is done."""
    return {"items": sum(1 for one in page.found if isinstance(one, Snapshot)), "raw": page.sha256}


def _tell(made: Sequence[Made], outcomes: dict[int, Outcome]) -> dict[Place, Counts]:
    """What is to be counted of visits that brought no page."""
    told: dict[Place, Counts] = {}
    for source, task, visit in made:
        one = _counted(task, visit, outcomes[task.id])
        if one is not None:
            place = Place(source.name, target_of(task.run).name, visit.ask.endpoint, task.job_id)
            told[place] = told.get(place, Counts()) + one
    return told


def _counted(task: Task, visit: Visit, outcome: Outcome) -> Counts | None:
    if visit.verdict is None:
        return None
    match visit.verdict.reaction, outcome:
        case Reaction.COOLDOWN_IDENTITY, _:
            return Counts(throttled=1)
        case Reaction.RENEW_IDENTITY, _:
            return Counts(retries=1)
        case _, Retry() if task.attempt < task.step.max_retries:
            return Counts(retries=1)
        case _, Retry():  # the last attempt: the engine puts it among the dead letters
            return Counts(failure=1)
        case _, Park():
            return Counts(failure=1)
    return None
