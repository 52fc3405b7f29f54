"""Workflows: what is stored, its versions, its steps and its limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from bobusang.engine.model import ErrorHandling, JobStatus, QueueType, StepMode, StepType, WorkflowType
from bobusang.engine.tables import (
    crawl_sources,
    crawling_jobs,
    crawling_workflows,
    parallel_execution_config,
    target_types,
    workflow_steps,
    workflow_versions,
)
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views.columns import document


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many jobs, and tasks of one job, run at once; None of it where a workflow has no limits."""

    max_parallel_jobs: int
    max_parallel_tasks: int
    resource_pool: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowLine:
    """A workflow in a list."""

    id: int
    name: str
    workflow_type: WorkflowType
    version: int
    is_active: bool
    source: str | None
    tolerance: float
    limits: Limits | None
    pending_jobs: int
    running_jobs: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStep:
    """A step of the stored version."""

    id: int
    order: int
    name: str
    step_type: StepType
    handler: str
    mode: StepMode
    gather: bool
    error_handling: ErrorHandling
    max_retries: int
    resource_pool: str | None
    queue: str | None
    target_type: str | None
    input_mapping: Any
    output_mapping: Any
    config: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDetail(WorkflowLine):
    """A workflow with its definition and its steps."""

    definition: Any
    steps: list[WorkflowStep]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version as it was stored; running jobs finish on theirs."""

    version: int
    checksum: str
    definition: Any
    created_at: datetime


def _query() -> Select[Any]:
    table, limits = crawling_workflows.c, parallel_execution_config.c
    return (
        select(
            crawling_workflows,
            crawl_sources.c.name.label("source"),
            limits.max_parallel_jobs,
            limits.max_parallel_tasks,
            limits.resource_pool,
        )
        .outerjoin(crawl_sources, crawl_sources.c.id == table.source_id)
        .outerjoin(parallel_execution_config, limits.workflow_id == table.id)
    )


async def listed(tx: Tx, *, active: bool | None, text: str | None, after: int | None, limit: int) -> list[WorkflowLine]:
    """Workflows in the order they were made; `text` is looked for in their names, whatever its case."""
    table = crawling_workflows.c
    query = _query()
    if after is not None:
        query = query.where(table.id > after)
    if active is not None:
        query = query.where(table.is_active.is_(active))
    if text:
        query = query.where(func.lower(table.workflow_name).contains(text.lower(), autoescape=True))
    rows = await tx.fetch(query.order_by(table.id).limit(limit))
    live = await _live(tx, [row["id"] for row in rows])
    return [WorkflowLine(**_line(row, live)) for row in rows]


async def names(tx: Tx, limit: int = 200) -> list[str]:
    """What workflows are called, for whoever chooses one."""
    table = crawling_workflows.c
    rows = await tx.fetch(select(table.workflow_name).order_by(table.workflow_name).limit(limit))
    return [row["workflow_name"] for row in rows]


async def one(tx: Tx, workflow_id: int) -> WorkflowDetail:
    """A workflow as it is stored now."""
    row = await tx.first(_query().where(crawling_workflows.c.id == workflow_id))
    if row is None:
        raise Missing(f"there is no workflow {workflow_id}", field="workflow_id")
    return WorkflowDetail(
        **_line(row, await _live(tx, [workflow_id])),
        definition=document(row["workflow_definition"]),
        steps=await _steps(tx, workflow_id, row["version"]),
    )


async def versions(tx: Tx, workflow_id: int, before: int | None, limit: int) -> list[Version]:
    """A workflow's versions, newest first."""
    table = workflow_versions.c
    query = select(workflow_versions).where(table.workflow_id == workflow_id)
    if before is not None:
        query = query.where(table.version < before)
    rows = await tx.fetch(query.order_by(table.version.desc()).limit(limit))
    return [
        Version(
            version=row["version"],
            checksum=row["checksum"],
            definition=document(row["workflow_definition"]),
            created_at=utc(row["created_at"]),
        )
        for row in rows
    ]


async def _live(tx: Tx, ids: Sequence[int]) -> dict[tuple[int, str], int]:
    """How many jobs of each workflow are not over, by (workflow, status)."""
    if not ids:
        return {}
    table = crawling_jobs.c
    open_ = (JobStatus.PENDING.value, JobStatus.RUNNING.value)
    query = (
        select(table.workflow_id, table.status, func.count().label("jobs"))
        .where(table.status.in_(open_), table.workflow_id.in_(list(ids)))
        .group_by(table.workflow_id, table.status)
    )
    return {(row["workflow_id"], row["status"]): row["jobs"] for row in await tx.fetch(query)}


async def _steps(tx: Tx, workflow_id: int, version: int) -> list[WorkflowStep]:
    table = workflow_steps.c
    query = (
        select(workflow_steps, target_types.c.name.label("target_type"))
        .outerjoin(target_types, target_types.c.id == table.target_type_id)
        .where(table.workflow_id == workflow_id, table.workflow_version == version)
        .order_by(table.step_order)
    )
    return [
        WorkflowStep(
            id=row["id"],
            order=row["step_order"],
            name=row["step_name"],
            step_type=StepType(row["step_type"]),
            handler=row["handler"],
            mode=StepMode(row["mode"]),
            gather=bool(row["gather"]),
            error_handling=ErrorHandling(row["error_handling"]),
            max_retries=row["max_retries"],
            resource_pool=row["resource_pool"],
            queue=None if row["queue"] is None else QueueType(row["queue"]).name,
            target_type=row["target_type"],
            input_mapping=document(row["input_mapping"]),
            output_mapping=document(row["output_mapping"]),
            config=document(row["config"]),
        )
        for row in await tx.fetch(query)
    ]


def _line(row: Row, live: dict[tuple[int, str], int]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "name": row["workflow_name"],
        "workflow_type": WorkflowType(row["workflow_type"]),
        "version": row["version"],
        "is_active": bool(row["is_active"]),
        "source": row["source"],
        "tolerance": row["tolerance"],
        "limits": limits_of(row),
        "pending_jobs": live.get((row["id"], JobStatus.PENDING), 0),
        "running_jobs": live.get((row["id"], JobStatus.RUNNING), 0),
        "created_at": utc(row["created_at"]),
        "updated_at": utc(row["updated_at"]),
    }


def limits_of(row: Row) -> Limits | None:
    """A workflow's limits, from a row that has their columns."""
    if row["max_parallel_jobs"] is None:
        return None
    return Limits(
        max_parallel_jobs=row["max_parallel_jobs"],
        max_parallel_tasks=row["max_parallel_tasks"],
        resource_pool=row["resource_pool"],
    )
