"""What the engine knows of itself, measured now and then and kept in one small table, so that looking costs nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.model import QueueType, ready_ms
from bobusang.engine.tables import engine_statistics
from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Tx

HOUR = timedelta(hours=1)

READY = Statement("""
    select l.handler, r.queue, r.priority, count(*) as depth, min(r.due) as due
    from queue_ready r join lanes l on l.id = r.lane group by l.handler, r.queue, r.priority""")
DELAYED = Statement("select count(*) as depth from queue_delayed")
HELD = Statement("select reason, count(*) as depth from queue_held group by reason")
CLAIMED = Statement("select count(*) as batches, coalesce(sum(size), 0) as tasks from queue_claims")
DEAD = Statement("select reason_class, count(*) as depth from dead_letters group by reason_class")
WORKERS = Statement("select count(*) as depth from workers where beat_at > :since")
RECENT = Statement("""
    select w.workflow_name, j.status, count(*) as jobs, sum(j.processed_items) as items, sum(j.retry_count) as retries
    from crawling_jobs j join crawling_workflows w on w.id = j.workflow_id
    where j.completed_at >= :since group by w.workflow_name, j.status""")
SPANS = Statement("""
    select w.workflow_name, j.started_at, j.completed_at from crawling_jobs j
    join crawling_workflows w on w.id = j.workflow_id
    where j.completed_at >= :since and j.started_at is not null order by j.completed_at desc limit 2000""")
CLEAR = Statement("delete from engine_statistics")
ALL = Statement("select name, label, value, measured_at from engine_statistics order by name, label")
ROWS = Bulk(engine_statistics, ("name", "label", "value", "measured_at"))

Figures = dict[tuple[str, str], float]


async def measure(tx: Tx, alive_for: timedelta) -> Figures:
    """Count and time; nothing is written."""
    figures: Figures = {}
    now_ms = tx.now.timestamp() * 1000
    for row in await tx.fetch(READY):
        queue = QueueType(row["queue"]).name
        _add(figures, "queue_depth", queue, row["depth"])
        _add(figures, "handler_depth", row["handler"], row["depth"])
        waited = max(0.0, (now_ms - ready_ms(row["due"], row["queue"], row["priority"])) / 1000)
        label = ("oldest_wait_seconds", queue)
        figures[label] = max(figures.get(label, 0.0), waited)
    for queue in (kind.name for kind in QueueType):
        figures.setdefault(("queue_depth", queue), 0)
        figures.setdefault(("oldest_wait_seconds", queue), 0)
    _add(figures, "delayed", "", (await tx.fetch(DELAYED))[0]["depth"])
    for row in await tx.fetch(HELD):
        _add(figures, "held", row["reason"], row["depth"])
    claimed = (await tx.fetch(CLAIMED))[0]
    _add(figures, "running_tasks", "", int(claimed["tasks"]))
    for row in await tx.fetch(DEAD):
        _add(figures, "dead_letters", row["reason_class"], row["depth"])
    _add(figures, "workers", "", (await tx.fetch(WORKERS, since=tx.now - alive_for))[0]["depth"])
    await _jobs(tx, figures)
    return figures


async def _jobs(tx: Tx, figures: Figures) -> None:
    """The last hour of each workflow."""
    since = tx.now - HOUR
    items: dict[str, float] = {}
    retries: dict[str, float] = {}
    for row in await tx.fetch(RECENT, since=since):
        name = row["workflow_name"]
        _add(figures, f"jobs_{row['status'].lower()}", name, row["jobs"])
        items[name] = items.get(name, 0) + int(row["items"] or 0)
        retries[name] = retries.get(name, 0) + int(row["retries"] or 0)
    for name, count in items.items():
        done = figures.get(("jobs_success", name), 0)
        failed = figures.get(("jobs_failed", name), 0)
        figures["job_success_rate", name] = done / (done + failed) if done + failed else 1.0
        figures["items_processed", name] = count
        figures["retry_rate", name] = retries[name] / count if count else 0.0
    spans: dict[str, list[float]] = {}
    for row in await tx.fetch(SPANS, since=since):
        seconds = (utc(row["completed_at"]) - utc(row["started_at"])).total_seconds()
        spans.setdefault(row["workflow_name"], []).append(seconds)
    for name, seconds in spans.items():
        figures["job_seconds_average", name] = sum(seconds) / len(seconds)


def _add(figures: Figures, name: str, label: str, value: float) -> None:
    figures[name, label] = figures.get((name, label), 0) + value


async def store(tx: Tx, figures: Mapping[tuple[str, str], float]) -> None:
    """Replace what was known."""
    await tx.execute(CLEAR)
    await tx.insert(ROWS, [(name, label, float(value), tx.now) for (name, label), value in figures.items()])


async def stored(tx: Tx) -> Figures:
    """What was measured last."""
    return {(row["name"], row["label"]): row["value"] for row in await tx.fetch(ALL)}
