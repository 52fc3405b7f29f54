"""The handlers of an import: `sheet.plan` cuts a file into pages, `sheet.rows` stores them, `sheet.close` proves it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bobusang.catalog import seen
from bobusang.connectors.sources.declared import sheet
from bobusang.connectors.sources.sheets import opening
from bobusang.connectors.sources.sheets.cutting import Cutter, Scattered
from bobusang.connectors.sources.sheets.grid import letters
from bobusang.engine import jobs
from bobusang.engine.model import JobStatus, NewTask
from bobusang.engine.outcome import Done, Fail, Outcome
from bobusang.flows.collect.fetching import Collected
from bobusang.flows.collect.steps import written
from bobusang.flows.sheets import supplying
from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Invalid, Verdict
from bobusang.stages.collect import closing, files, runs, saving
from bobusang.stages.collect.intake_tables import FileState
from bobusang.stages.collect.model import Fetched, Run, RunMode
from bobusang.stages.collect.source import Ask, Kind, Page, Snapshot, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.connectors.sources.declared.shop import Declared
    from bobusang.engine.hooks import JobMoved
    from bobusang.engine.model import Task
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.files import SupplierFile

WORKFLOW = "supplier_sheet"
ROWS = "rows"
TARGET = Target("file", "all")
"""All files of a supplier are one list: what the next one lacks was in the last one."""
PAGES_AT_ONCE = 20
MEDIA = "application/json"


@dataclass(frozen=True, slots=True)
class Cut:
    """A file that was cut into pages."""

    pages: tuple[str, ...]
    products: int
    refused: int
    rows: int


class Importing:
    """All three, for one process."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def plan(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Cut each file into pages, and begin its run."""
        return [await self._planned(task) for task in batch]

    async def rows(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Read pages; what they say is stored when their tasks are finished."""
        return [await self._read(task) for task in batch]

    async def save(self, tx: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
        """Write what the pages of the tasks still owned say, as what any page says is written."""
        for task, done in owned:
            if isinstance(done, Collected) and done.page is not None:
                policy = self._shop(task).policy
                raw_ids = await self._collector.service.archive.index(tx, [done.page])
                await saving.save(tx, {done.page.source: policy}, [done.page], raw_ids)

    async def close(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Prove what the files have listed."""
        return [await self._closed(task) for task in batch]

    def _shop(self, task: Task) -> Declared:
        given = task.run.input
        return supplying.shop(self._collector, str(given["source"]), given.get("mapping"))

    async def _planned(self, task: Task) -> Outcome:
        file = await self._file(task)
        if file.state is not FileState.IMPORTING or file.job_id != task.job_id:
            return Fail(f"file {file.id} is {file.state}, and not this job's")
        try:
            shop = self._shop(task)
            cut = await self._cut(task, file, shop)
        except BobusangError as error:
            if error.verdict is not Verdict.FAIL:
                raise
            why = str(error)
            await self._collector.db.transact(lambda tx: _failed(tx, file.id, task.job_id, why))
            return Fail(why)

        async def work(tx: Tx) -> None:
            begun = Run(task.job_id, shop.name, TARGET.name, RunMode.FULL, 0, tx.now)
            scope = await seen.scope(tx, shop.name, begun.scope)
            known = (await seen.counts(tx, scope, task.job_id)).known
            await runs.opened(tx, Run(task.job_id, shop.name, TARGET.name, RunMode.FULL, known, tx.now))
            locked = await files.get(tx, file.id, lock=True)
            report = {**locked.report, "pages": cut.pages}
            states = {"rows": cut.rows, "refused": cut.refused, "report": report}
            await files.move(tx, locked, FileState.IMPORTING, allowed=(FileState.IMPORTING,), **states)

        await self._collector.db.transact(work)
        complete = shop.files is not None and shop.files.complete
        total = cut.products + cut.refused if complete else None
        last = len(cut.pages)
        tasks = tuple(
            NewTask(
                {"rows": address, "page": at, "total": total, "last": complete and at == last},
                key=f"rows:{at}",
                step=ROWS,
                raw=True,
            )
            for at, address in enumerate(cut.pages, 1)
        )
        return Done({"pages": last, "products": cut.products, "rows": cut.rows, "refused": cut.refused}, spawn=tasks)

    async def _cut(self, task: Task, file: SupplierFile, shop: Declared) -> Cut:
        """Keep the pages of a file, some at a time: a large one is never in memory twice."""
        data = await self._collector.blobs.get(file.sha256)
        cutter = await asyncio.to_thread(_opened, shop, file, data)
        del data
        kept: list[str] = []
        try:
            await self._keep(cutter, task.job_id, kept)
        except Scattered:
            await self._collector.blobs.delete(kept)
            kept.clear()
            await self._keep(cutter, task.job_id, kept)
        if not kept:
            raise Invalid("the file lists no product", hint="look at its preview")
        tally = cutter.tally
        return Cut(tuple(kept), tally.products, len(tally.unkeyed), tally.rows)

    async def _keep(self, cutter: Cutter, job: int, kept: list[str]) -> None:
        pages = cutter.pages()

        def some() -> list[bytes]:
            return [cutter.encoded(rows, job=job) for rows in islice(pages, PAGES_AT_ONCE)]

        while found := await asyncio.to_thread(some):
            kept += await self._collector.blobs.put_many([(page, MEDIA) for page in found])

    async def _read(self, task: Task) -> Outcome:
        shop, given = self._shop(task), task.input
        body = await self._collector.blobs.get(given["rows"])
        file = task.run.input
        stream = next(iter(shop.streams.values()))
        ask = Ask(
            f"/{quote(str(file['name']))}",
            Kind.LIST,
            stream.name,
            given={name: given[name] for name in ("page", "total", "last")},
            key=f"{stream.name}:{given['page']}",
        )
        now = self._collector.db.clock.now()
        page = await asyncio.to_thread(_fetched, shop, Page(ask, body, fetched_at=now), file, task)
        return Collected({"items": sum(isinstance(one, Snapshot) for one in page.found)}, spawn=(), page=page)

    async def _closed(self, task: Task) -> Outcome:
        shop = self._shop(task)
        file = await self._file(task)

        async def work(tx: Tx) -> dict[str, Any]:
            failed = await jobs.lost(tx, task.job_id, ROWS)
            told = written(await closing.close(tx, shop.policy, task.job_id, failed=failed))
            locked = await files.get(tx, file.id, lock=True)
            report = {name: value for name, value in locked.report.items() if name != "pages"}
            if locked.state is FileState.IMPORTING:
                values = {"accepted": told["listed"], "report": {**report, "import": told}}
                await files.move(tx, locked, FileState.DONE, allowed=(FileState.IMPORTING,), **values)
            return told

        told = await self._collector.db.transact(work)
        await self._collector.blobs.delete([address for address in file.report.get("pages", ()) if address])
        return Done(output=told)

    async def _file(self, task: Task) -> SupplierFile:
        async with self._collector.db.read() as tx:
            return await files.get(tx, int(task.run.input["file"]))


def _opened(shop: Declared, file: SupplierFile, data: bytes) -> Cutter:
    assert shop.files is not None
    # Only what was looked through is imported, and its bytes are named by their digest.
    grid = opening.opened(data, file.name, sheet=shop.files.sheet, encoding=shop.files.encoding, weighed=True)
    cutter = Cutter(shop, grid)
    if cutter.lacking:
        names = ", ".join(cutter.lacking)
        raise Invalid(f"no column of the file is {names}", hint="say which one it is in the preview", field="columns")
    return cutter


def _fetched(shop: Declared, page: Page, file: Any, task: Task) -> Fetched:
    """A page as it is saved: its evidence is the file, the sheet, and the row and column of every value."""
    stream = shop.stream_of(page)
    looked = sheet.looked(shop, stream, page)
    rows = looked.rows
    places = {name: [at for at in map(looked.table.at, tried) if at > 0] for name, tried in stream.cells.items()}
    columns = {name: letters(rows.columns[at[0] - 1]) for name, at in places.items() if at}
    first, last = rows.rows[0][0], max(row[0] for row in rows.rows)
    name = quote(str(file["name"]))
    return Fetched(
        source=shop.name,
        target=TARGET.name,
        ask=page.ask,
        found=tuple(looked.found),
        reader=shop.version,
        sha256=str(file["sha256"]),
        url=f"file:{shop.name}/{name}#{quote(rows.sheet)}!{first}:{last}",
        fetched_at=page.fetched_at,  # type: ignore[arg-type]
        headers={
            "file": str(file["file"]),
            "name": str(file["name"]),
            "sheet": rows.sheet,
            "columns": json.dumps(columns),
            "rows": json.dumps(looked.first),
        },
        media="application/octet-stream",
        size=len(page.body),
        job_id=task.job_id,
        task_id=task.id,
    )


async def _failed(tx: Tx, file_id: int, job_id: int, why: str) -> None:
    locked = await files.get(tx, file_id, lock=True)
    if locked.state is FileState.IMPORTING and locked.job_id == job_id:
        report = {**locked.report, "error": why[:500]}
        await files.move(tx, locked, FileState.FAILED, allowed=(FileState.IMPORTING,), report=report)


async def on_job(tx: Tx, moved: JobMoved) -> None:
    """A job that ended badly leaves its file to be imported again."""
    if moved.run.plan.name == WORKFLOW and moved.status in (JobStatus.FAILED, JobStatus.CANCELLED):
        file_id = await files.of_job(tx, moved.run.job_id)
        if file_id is not None:
            await _failed(tx, file_id, moved.run.job_id, f"its job was {moved.status.lower()}")
