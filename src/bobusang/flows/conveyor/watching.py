"""Batches as people watch them: their brands by stage, and what the engine counts of each right now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import select

from bobusang.engine.rules import Count
from bobusang.flows.conveyor import rules
from bobusang.flows.conveyor.model import BatchStatus, Mode, Stage, StageStatus
from bobusang.flows.conveyor.tables import pipeline_batches
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement

CONTROL = Statement("""
    select c.*, j.is_paused from pipeline_control c left join crawling_jobs j on j.id = c.job_id
    where c.batch_id in (:batches...) order by c.id""")
COUNTS = Statement("""
    select c.job_id, s.step_name, c.created, c.succeeded, c.failed, c.skipped, c.cancelled, c.retried
    from job_steps c join workflow_steps s on s.id = c.step_id
    where c.job_id in (select job_id from pipeline_control where batch_id in (:batches...))""")
RUNNING = Statement("""
    select c.run_mode, c.stage, c.status, count(*) as brands from pipeline_control c
    join pipeline_batches b on b.batch_id = c.batch_id
    where b.status = 'RUNNING' group by c.run_mode, c.stage, c.status order by c.run_mode, c.stage, c.status""")

PAGES = ("list", "item")
"""The steps that COLLECT is measured by: a run that finds nothing new asks for no item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLine:
    """A batch in a list."""

    id: int
    batch_id: str
    mode: Mode
    status: BatchStatus
    start_time: datetime
    end_time: datetime | None
    total_brands: int
    success_brands: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCell:
    """A stage of a brand: its control row, and what the engine counts of its tasks (of COLLECT: pages). `waiting` are
    those that are not over, at work or not; `skipped` had nothing to do, or are held. After a retry from a stage on
    its `job_id` is another than that of the stages before."""

    stage: Stage
    status: StageStatus
    job_id: int | None
    item_count: int
    error: str | None
    started_at: datetime | None
    updated_at: datetime
    created: int
    succeeded: int
    skipped: int
    failed: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandRow:
    """A brand of a batch and the job that moves it, or would if it were not paused."""

    mall: str
    brand: str
    job_id: int | None
    is_paused: bool
    stages: list[StageCell]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDetail(BatchLine):
    """A batch with its brands. `done` are the tasks that are over; `left` those that are known to come, each counted
    once for every stage that it still has to go through."""

    seconds: float
    done: int
    left: int
    brands: list[BrandRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFilter:
    """Which batches; what is not given does not matter."""

    mode: Mode | None = None
    status: BatchStatus | None = None


async def listed(tx: Tx, wanted: BatchFilter, before: int | None, limit: int) -> list[BatchLine]:
    """Batches, newest first."""
    table = pipeline_batches.c
    query = select(pipeline_batches).order_by(table.id.desc()).limit(limit)
    if before is not None:
        query = query.where(table.id < before)
    if wanted.mode is not None:
        query = query.where(table.run_mode == wanted.mode)
    if wanted.status is not None:
        query = query.where(table.status == wanted.status)
    return [line_of(row) for row in await tx.fetch(query)]


async def named(tx: Tx, names: Sequence[str]) -> list[BatchLine]:
    """These batches, those of them that there are, newest first."""
    table = pipeline_batches.c
    query = select(pipeline_batches).where(table.batch_id.in_(list(names))).order_by(table.id.desc())
    return [line_of(row) for row in await tx.fetch(query)] if names else []


def line_of(row: Row) -> BatchLine:
    """A batch as its row tells it."""
    return BatchLine(**_facts(row))


async def one(tx: Tx, batch_id: str) -> BatchDetail:
    """One batch."""
    row = await tx.first(select(pipeline_batches).where(pipeline_batches.c.batch_id == batch_id))
    if row is None:
        raise Missing(f"there is no batch {batch_id}", hint="`bobusang run list` shows them", field="batch_id")
    [found] = await detailed(tx, [line_of(row)])
    return found


async def detailed(tx: Tx, lines: Sequence[BatchLine]) -> list[BatchDetail]:
    """Some batches with their brands, by two statements for all of them."""
    names = [line.batch_id for line in lines]
    if not names:
        return []
    counts: dict[int, dict[str, Count]] = {}
    for each in await tx.fetch(COUNTS, batches=names):
        counts.setdefault(each["job_id"], {})[each["step_name"]] = _count(each)
    brands: dict[str, dict[tuple[str, str], BrandRow]] = {name: {} for name in names}
    for each in await tx.fetch(CONTROL, batches=names):
        mall, brand, job_id = each["mall_name"], each["brand_name"], each["job_id"]
        new = BrandRow(mall=mall, brand=brand, job_id=job_id, is_paused=bool(each["is_paused"]), stages=[])
        known = brands[each["batch_id"]].setdefault((mall, brand), new)
        known.stages.append(_cell(each, counts.get(job_id, {})))
    return [_detail(line, list(brands[line.batch_id].values()), counts, tx.now) for line in lines]


def _detail(line: BatchLine, brands: list[BrandRow], counts: dict[int, dict[str, Count]], now: datetime) -> BatchDetail:
    asked = {cell.stage for brand in brands for cell in brand.stages}
    ids = {cell.job_id for brand in brands for cell in brand.stages}
    jobs = [counts[id] for id in ids if id in counts]
    return BatchDetail(
        **{one.name: getattr(line, one.name) for one in fields(line)},
        seconds=round(((line.end_time or now) - line.start_time).total_seconds(), 1),
        done=sum(count.ended for steps in jobs for count in steps.values()),
        left=sum(left_of(steps, asked) for steps in jobs),
        brands=brands,
    )


async def running(tx: Tx) -> list[tuple[Mode, Stage, StageStatus, int]]:
    """How many brands of running batches stand where."""
    return [
        (Mode(row["run_mode"]), Stage(row["stage"]), StageStatus(row["status"]), row["brands"])
        for row in await tx.fetch(RUNNING)
    ]


def left_of(steps: dict[str, Count], asked: Iterable[Stage]) -> int:
    """What a job still has to do, as far as it is known: a task that is open comes by every later stage."""
    order = list(Stage)
    stages = {order.index(stage) for stage in asked}
    found = 0
    for name, count in steps.items():
        place = order.index(rules.STAGE_OF.get(name, Stage.COLLECT))
        found += max(0, count.open) * (1 + sum(one > place for one in stages))
    return found


def _cell(row: Row, steps: dict[str, Count]) -> StageCell:
    stage = Stage(row["stage"])
    counted = PAGES if stage is Stage.COLLECT else (rules.COUNTED[stage],)
    total = sum((steps[name] for name in counted if name in steps), Count())
    return StageCell(
        stage=stage,
        status=StageStatus(row["status"]),
        job_id=row["job_id"],
        item_count=row["item_count"],
        error=row["error_msg"],
        started_at=utc(row["started_at"]),
        updated_at=utc(row["updated_at"]),
        created=total.created if steps else row["item_count"],
        succeeded=total.succeeded if steps else row["item_count"],  # in the archive steps are not counted any more
        skipped=total.skipped,
        failed=sum(count.failed for name, count in steps.items() if rules.STAGE_OF.get(name) is stage),
        waiting=max(0, total.open),
    )


def _count(row: Row) -> Count:
    return Count(row["created"], row["succeeded"], row["failed"], row["skipped"], row["cancelled"], row["retried"])


def _facts(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "batch_id": row["batch_id"],
        "mode": Mode(row["run_mode"]),
        "status": BatchStatus(row["status"]),
        "start_time": utc(row["start_time"]),
        "end_time": utc(row["end_time"]),
        "total_brands": row["total_brands"],
        "success_brands": row["success_brands"],
    }
