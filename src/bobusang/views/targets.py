"""What is crawled: targets, and which workflow runs for which type of target."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select

from bobusang.engine.tables import (
    crawl_sources,
    crawl_targets,
    crawling_workflows,
    target_types,
    target_workflow_mappings,
)
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views.columns import below, document


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A brand, a seller, a keyword, a category: what one job is for."""

    id: int
    type: str
    key: str
    name: str | None
    source: str | None
    data: Any
    is_active: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMapping:
    """Targets of this type run this workflow when the condition holds; the highest priority is asked first."""

    target_type: str
    workflow_id: int
    workflow: str
    condition: str | None
    priority: int


def _query() -> Select[Any]:
    table = crawl_targets.c
    return (
        select(crawl_targets, target_types.c.name.label("type"), crawl_sources.c.name.label("source"))
        .join(target_types, target_types.c.id == table.target_type_id)
        .outerjoin(crawl_sources, crawl_sources.c.id == table.source_id)
    )


async def listed(
    tx: Tx, *, kind: str | None, source: str | None, text: str | None, before: int | None, limit: int
) -> list[Target]:
    """Targets, newest first; `text` is how their key begins."""
    table = crawl_targets.c
    query = _query().where(*below(table.id, before))
    if kind is not None:
        query = query.where(target_types.c.name == kind)
    if source is not None:
        query = query.where(crawl_sources.c.name == source)
    if text:
        query = query.where(table.target_key.startswith(text, autoescape=True))
    return [_target(row) for row in await tx.fetch(query.order_by(table.id.desc()).limit(limit))]


async def one(tx: Tx, target_id: int) -> Target:
    """One target."""
    row = await tx.first(_query().where(crawl_targets.c.id == target_id))
    if row is None:
        raise Missing(f"there is no target {target_id}", field="target_id")
    return _target(row)


def _mappings() -> Select[Any]:
    table = target_workflow_mappings.c
    return (
        select(target_workflow_mappings, target_types.c.name.label("target_type"), crawling_workflows.c.workflow_name)
        .join(target_types, target_types.c.id == table.target_type_id)
        .join(crawling_workflows, crawling_workflows.c.id == table.workflow_id)
    )


async def mappings(tx: Tx, limit: int) -> list[TargetMapping]:
    """Which workflow runs for which type, in the order they are asked."""
    table = target_workflow_mappings.c
    query = _mappings().order_by(target_types.c.name, table.priority.desc(), table.workflow_id).limit(limit)
    return [_mapping(row) for row in await tx.fetch(query)]


async def mapping(tx: Tx, kind: str, workflow_id: int) -> TargetMapping:
    """The mapping of one type to one workflow."""
    same = (target_types.c.name == kind, target_workflow_mappings.c.workflow_id == workflow_id)
    row = await tx.first(_mappings().where(*same))
    if row is None:
        raise Missing(f"targets of type '{kind}' are not mapped to workflow {workflow_id}", field="target_type")
    return _mapping(row)


def _mapping(row: Row) -> TargetMapping:
    return TargetMapping(
        target_type=row["target_type"],
        workflow_id=row["workflow_id"],
        workflow=row["workflow_name"],
        condition=row["condition_expression"],
        priority=row["priority"],
    )


def _target(row: Row) -> Target:
    return Target(
        id=row["id"],
        type=row["type"],
        key=row["target_key"],
        name=row["name"],
        source=row["source"],
        data=document(row["data"]),
        is_active=bool(row["is_active"]),
        created_at=utc(row["created_at"]),
        updated_at=utc(row["updated_at"]),
    )
