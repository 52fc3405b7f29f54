"""The other handlers of collecting: `collect.plan` begins a run, `collect.close` proves what it has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.engine import jobs
from bobusang.engine.outcome import Done, Outcome
from bobusang.flows.collect import followed
from bobusang.flows.collect.asks import new_tasks
from bobusang.flows.collect.run import mode_of, source_of, target_of
from bobusang.stages.collect.source import WINDOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.model import Summary
    from bobusang.stages.collect.source import Ask

LIST, ITEM = "list", "item"


class Steps:
    """Planning and closing, for one process."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def plan(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Begin the run of each job; planning twice begins it once."""
        return [await self._planned(task) for task in batch]

    async def close(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """End the run of each job: was its whole list seen, and what is missing from it?"""
        return [await self._closed(task) for task in batch]

    async def _planned(self, task: Task) -> Outcome:
        source = self._collector.source(source_of(task.run))
        target, mode = target_of(task.run), mode_of(task.run)

        async def work(tx: Tx) -> list[Ask]:
            await self._collector.prepare(tx, source.name)
            return await self._collector.service.plan(tx, source, target, mode, task.job_id)

        asks = await self._collector.db.transact(work)
        if task.run.input.get("probe"):
            asks = asks[:1]
        return Done(output={"asks": len(asks)}, spawn=new_tasks(asks, source.name))

    async def _closed(self, task: Task) -> Outcome:
        async def work(tx: Tx) -> Summary:
            failed = await jobs.lost(tx, task.job_id, LIST)
            if target_of(task.run).kind == WINDOW:  # what happened to an item whose page could not be read is not known
                failed += await jobs.lost(tx, task.job_id, ITEM)
            summary = await self._collector.service.close(tx, task.job_id, failed=failed)
            source = self._collector.sources.get(source_of(task.run))
            if source is not None:  # a supplier whose columns a person settled has none, and is followed by nobody
                await followed.closed(tx, source, task.run, summary)
            return summary

        told = written(await self._collector.db.transact(work))
        return Done(output=told, context={"observed": {"seen": told["listed"], "changed": told["changed"]}})


def written(summary: Summary) -> dict[str, Any]:
    """How a run ended, as a person reads it."""
    run = summary.run
    return {
        "state": run.state.value,
        "reason": run.reason,
        "listed": run.listed,
        "known": run.known,
        "total": run.total,
        "new": run.new,
        "changed": min(run.changed + run.new, run.listed),
        "held": run.held,
        "missed": summary.missed,
        "absent": summary.absent,
    }
