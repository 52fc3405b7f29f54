"""What is crawled: sources, types of target, targets, and which workflow suits a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.engine.grammar.condition import compile_condition
from bobusang.engine.tables import (
    crawl_sources,
    crawl_targets,
    crawling_workflows,
    target_types,
    target_workflow_mappings,
)
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Row, Tx

CANDIDATES = Statement("""
    select m.workflow_id, m.condition_expression from target_workflow_mappings m
    join crawling_workflows w on w.id = m.workflow_id
    where m.target_type_id = :type_id and w.is_active = true order by m.priority desc, m.workflow_id""")


async def source_id(tx: Tx, name: str, base_url: str | None = None) -> int:
    """The source of that name, made if need be."""
    row = await tx.first(select(crawl_sources.c.id).where(crawl_sources.c.name == _name(name, "source")))
    if row is not None:
        found: int = row["id"]
        return found
    return await tx.create(
        insert(crawl_sources).values(name=name, base_url=base_url, is_active=True, created_at=tx.now, updated_at=tx.now)
    )


async def address(tx: Tx, name: str) -> str:
    """Where a source lives; empty when nobody has said."""
    row = await tx.first(select(crawl_sources.c.base_url).where(crawl_sources.c.name == name))
    return "" if row is None else row["base_url"] or ""


async def type_id(tx: Tx, name: str) -> int:
    """The type of target of that name, made if need be."""
    row = await tx.first(select(target_types.c.id).where(target_types.c.name == _name(name, "target type")))
    if row is not None:
        found: int = row["id"]
        return found
    return await tx.create(insert(target_types).values(name=name, created_at=tx.now))


async def put(
    tx: Tx,
    *,
    kind: str,
    key: str,
    source: str | None = None,
    name: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> int:
    """Make a target or renew what is known of it."""
    table = crawl_targets.c
    source_ref = None if source is None else await source_id(tx, source)
    type_ref = await type_id(tx, kind)
    values = {"name": name, "data": json.payload(dict(data or {}), limit=1 << 16, name="data"), "updated_at": tx.now}
    same_source = table.source_id.is_(None) if source_ref is None else table.source_id == source_ref
    same = (same_source, table.target_type_id == type_ref, table.target_key == _name(key, "key", 200))
    found = await tx.first(select(table.id).where(*same))
    if found is None:
        fixed = {"source_id": source_ref, "target_type_id": type_ref, "target_key": key, "is_active": True}
        return await tx.create(insert(crawl_targets).values(**fixed, **values, created_at=tx.now))
    target_id: int = found["id"]
    await tx.execute(update(crawl_targets).where(table.id == target_id).values(**values))
    return target_id


async def known(tx: Tx, *, kind: str, key: str, source: str) -> tuple[int, dict[str, Any]] | None:
    """The id and data of the target of a source that is known by this kind and key; None: there is none."""
    table = crawl_targets.c
    query = (
        select(table.id, table.data)
        .join(target_types, target_types.c.id == table.target_type_id)
        .join(crawl_sources, crawl_sources.c.id == table.source_id)
        .where(crawl_sources.c.name == source, target_types.c.name == kind, table.target_key == key)
    )
    row = await tx.first(query)
    return None if row is None else (row["id"], json.loads(row["data"] or "{}"))


async def map_workflow(tx: Tx, *, kind: str, workflow_id: int, condition: str | None = None, priority: int = 0) -> None:
    """Say that targets of a type run this workflow when the condition holds; the highest priority is asked first."""
    compile_condition(condition or "")
    if await tx.first(select(crawling_workflows.c.id).where(crawling_workflows.c.id == workflow_id)) is None:
        raise Missing(f"there is no workflow {workflow_id}", field="workflow_id")
    type_ref = await type_id(tx, kind)
    table = target_workflow_mappings
    same = (table.c.target_type_id == type_ref, table.c.workflow_id == workflow_id)
    values = {"condition_expression": condition, "priority": priority}
    if await tx.first(select(table.c.workflow_id).where(*same)) is None:
        await tx.execute(insert(table).values(target_type_id=type_ref, workflow_id=workflow_id, **values))
    else:
        await tx.execute(update(table).where(*same).values(**values))


async def workflow_for(tx: Tx, target_id: int) -> int:
    """The workflow that suits a target: the first mapping of its type whose condition holds."""
    target = await _target(tx, target_id)
    known = json.loads(target["data"]) if target["data"] else {}
    facts = {**known, "key": target["target_key"], "name": target["name"]}
    names = {"target": facts, "source": target["source"], **facts}
    for row in await tx.fetch(CANDIDATES, type_id=target["target_type_id"]):
        if compile_condition(row["condition_expression"] or "").holds(names):
            found: int = row["workflow_id"]
            return found
    raise Conflict(
        f"no workflow suits target {target_id} ('{target['target_key']}')",
        hint="map one to its type: `bobusang workflow map`",
    )


async def _target(tx: Tx, target_id: int) -> Row:
    query = (
        select(crawl_targets, crawl_sources.c.name.label("source"))
        .outerjoin(crawl_sources, crawl_sources.c.id == crawl_targets.c.source_id)
        .where(crawl_targets.c.id == target_id)
    )
    row = await tx.first(query)
    if row is None:
        raise Missing(f"there is no target {target_id}", field="target_id")
    return row


def _name(text: str, what: str, limit: int = 100) -> str:
    if not text or len(text) > limit or "\0" in text:
        raise Invalid(f"a {what} has 1 to {limit} characters and no NUL", field=what)
    return text
