"""The handlers `fetch`, `parse` and `store`: what a step of that type runs when it names no handler of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import records
from bobusang.catalog.model import Reading, Snapshot, SourceType
from bobusang.connectors.sources.declared.expression import Format
from bobusang.engine import targets
from bobusang.engine.handlers import Handler
from bobusang.engine.model import NewTask
from bobusang.engine.outcome import Done, Outcome
from bobusang.flows.collect.asks import pools_of
from bobusang.flows.collect.fetching import Collected, fetched, first_outcome
from bobusang.flows.collect.run import source_of
from bobusang.flows.generic.plan import Plain, ask_of, digest, most_pages, next_reader, page_of, reader_of
from bobusang.kit.encoding import decoded
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import Ask, Extent, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bobusang.engine.handlers import Handlers
    from bobusang.engine.model import Task
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.fetcher import Visit


def register(handlers: Handlers, collector: Collector) -> None:
    """Add the handlers."""
    generic = Generic(collector)
    handlers.add(Handler("fetch", generic.fetch, generic.archive, batch=8, concurrency=2))
    handlers.add(Handler("parse", generic.parse, batch=20))
    handlers.add(Handler("store", generic.store, generic.keep, batch=20))


class Generic:
    """All three, for one process."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def fetch(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Ask for pages through the gate; each hands its page to the next step and asks for the one after it."""
        return [await self._fetched(task) for task in batch]

    async def archive(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Index the raw pages."""
        pages = [done.page for _, done in owned if isinstance(done, Collected) and done.page is not None]
        if pages:
            await self._collector.service.archive.index(tx, pages)

    async def parse(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Read archived pages into rows."""
        return [await self._parsed(task) for task in batch]

    async def store(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Say what will be kept; it is written when the task is finished."""
        return [Done({"stored": len(list(_readings(task)))}) for task in batch]

    async def keep(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Write rows as records: versions only where something changed."""
        for task, _ in owned:
            changes = await records.compare(tx, list(_readings(task)), groups={})
            await records.write(tx, changes, run=task.job_id, now=tx.now)

    async def _fetched(self, task: Task) -> Outcome:
        source = await self._source(task)
        visit = (await self._collector.fetcher.visit(source, [ask_of(task, source.base)]))[0]
        outcome = first_outcome(visit, self._collector.db.clock.now())
        if not isinstance(outcome, Done):
            return outcome
        page = {"url": visit.ask.url, "raw": visit.sha256, "media": visit.media, "page": page_of(task)}
        return Collected(page, spawn=tuple(_next(task, visit, page, source.name)), page=fetched(source, task, visit))

    async def _source(self, task: Task) -> Plain:
        """The place a task asks, at the address that is known of it; the job may name one where none is."""
        name = source_of(task.run)
        async with self._collector.db.read() as tx:
            known = await targets.address(tx, name)
        given = str(task.run.input.get("base_url") or "")
        if known and given and given.rstrip("/") != known.rstrip("/"):
            raise Invalid(f"source '{name}' is at {known}, not at {given}", hint="leave base_url out", field="base_url")
        if not (known or given):
            hint = "give the source one, or the job an input base_url"
            raise Invalid(f"source '{name}' has no address", hint=hint, field="base_url")
        return Plain(name, known or given, self._collector.plain, next_reader(task))

    async def _parsed(self, task: Task) -> Outcome:
        reader, given = reader_of(task.step), task.input
        if not isinstance(given, dict) or "raw" not in given:
            raise Invalid(f"step '{task.step.name}' got no page to parse", hint="let a FETCH step go before it")
        body = await self._collector.blobs.get(str(given["raw"]))
        text = "" if reader.format is Format.JSON else decoded(body, str(given.get("media") or "")).text
        url = str(given.get("url") or "")
        items = reader.rows(Page(Ask(url), body, url=url, text=text))
        return Done({"items": items, "count": len(items), "url": url, "raw": given["raw"]})


def _next(task: Task, visit: Visit, page: dict[str, Any], source: str) -> Iterator[NewTask]:
    """The page to the next step; and the page after it, unless this one is empty, repeats the last or is enough."""
    number = page_of(task)
    keys = next((one.keys for one in visit.found if isinstance(one, Extent)), ())
    seen = digest({"keys": list(keys)})
    before = task.input.get("before") if isinstance(task.input, dict) else None
    is_over = visit.found and (not keys or seen == before)
    if task.run.plan.after(task.step) is not None and not is_over:
        yield NewTask(page, key=f"page:{number}")
    if not is_over and number < most_pages(task.step):
        yield NewTask(
            {"page": number + 1, "before": seen},
            key=f"page:{number + 1}",
            step=task.step.name,
            pool=pools_of(source, task.step.name),
            raw=True,
        )


def _readings(task: Task) -> Iterator[Reading]:
    """The rows of a STORE task as readings; `key` of its config names the field that tells them apart."""
    given = task.input if isinstance(task.input, dict) else {}
    config, source = task.step.config, source_of(task.run)
    kind = SourceType(config.get("record_type", SourceType.ANALYTICS))
    reader = f"{task.run.plan.name}@{task.run.plan.version}"
    for row in given.get("items") or ():
        key = str(row.get(config["key"]) or "") if "key" in config else digest(row)
        if key:
            known = {name: value for name, value in row.items() if value is not None}
            unknown = tuple(name for name, value in row.items() if value is None)
            snapshot = Snapshot(source, key[:200], known, unknown, type=kind)
            yield Reading(snapshot, task.step.name, reader, scope=f"{task.run.plan.name}:{task.step.name}")
