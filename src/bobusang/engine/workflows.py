"""Workflows: definitions stored as versions; a job finishes on the version it began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.engine import targets
from bobusang.engine.grammar.definition import HandlerShape, canonical, check_handlers, checksum
from bobusang.engine.tables import (
    crawling_workflows,
    parallel_execution_config,
    workflow_steps,
    workflow_versions,
)
from bobusang.kit import json
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.books import Books
    from bobusang.engine.grammar.definition import Definition, StepDefinition
    from bobusang.engine.handlers import Handlers
    from bobusang.kit.db import Row, Tx

CURRENT = Statement(
    "select * from crawling_workflows where workflow_name = :name for update",
    sqlite="select * from crawling_workflows where workflow_name = :name",
)
NO_LIMITS = Statement("delete from parallel_execution_config where workflow_id = :id")


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a definition."""

    id: int
    name: str
    version: int
    changed: bool


async def store(tx: Tx, books: Books, definition: Definition, *, handlers: Handlers | None = None) -> Stored:
    """Store a definition as a new version, unless it is what is stored already."""
    if handlers is not None:
        check_handlers(definition, shapes(handlers))
    name, text, mark = definition.workflow, canonical(definition), checksum(definition)
    row = await tx.first(CURRENT, name=name)
    if row is not None and row["checksum"] == mark:
        return Stored(row["id"], name, row["version"], changed=False)
    values: dict[str, Any] = {
        "source_id": None if definition.source is None else await targets.source_id(tx, definition.source),
        "workflow_type": definition.type.value,
        "workflow_definition": text,
        "checksum": mark,
        "tolerance": definition.tolerance,
        "updated_at": tx.now,
    }
    if row is None:
        version = 1
        fixed = {"workflow_name": name, "is_active": True, "version": version, "created_at": tx.now}
        workflow_id = await tx.create(insert(crawling_workflows).values(**fixed, **values))
    else:
        workflow_id, version = row["id"], row["version"] + 1
        await tx.execute(
            update(crawling_workflows).where(crawling_workflows.c.id == workflow_id).values(version=version, **values)
        )
    await _version(tx, workflow_id, version, text, mark, definition)
    if definition.parallel is not None:
        limits = definition.parallel
        await set_limits(tx, books, workflow_id, limits.jobs, limits.tasks, limits.pool)
    books.forget_plans(workflow_id)
    return Stored(workflow_id, name, version, changed=True)


async def _version(tx: Tx, workflow_id: int, version: int, text: str, mark: str, definition: Definition) -> None:
    await tx.execute(
        insert(workflow_versions).values(
            workflow_id=workflow_id, version=version, workflow_definition=text, checksum=mark, created_at=tx.now
        )
    )
    for order, step in enumerate(definition.steps, start=1):
        kind = None if step.target_type is None else await targets.type_id(tx, step.target_type)
        values = _step_columns(step) | {"target_type_id": kind, "step_order": order, "created_at": tx.now}
        await tx.execute(insert(workflow_steps).values(workflow_id=workflow_id, workflow_version=version, **values))


def _step_columns(step: StepDefinition) -> dict[str, Any]:
    return {
        "step_name": step.name,
        "step_type": step.type.value,
        "handler": step.handler,
        "mode": step.mode.value,
        "gather": step.gather,
        "error_handling": step.on_error.value,
        "max_retries": step.max_retries,
        "resource_pool": step.pool,
        "queue": None if step.queue is None else step.queue.value,
        "input_mapping": json.dumps(step.input) if step.input else None,
        "output_mapping": json.dumps(step.output) if step.output else None,
        "config": json.dumps(step.config) if step.config else None,
    }


def shapes(handlers: Handlers) -> dict[str, HandlerShape]:
    """What each handler takes, for checking a definition's mappings."""
    return {
        handler.name: HandlerShape(
            handler.name, handler.required, handler.optional or frozenset(), open=handler.optional is None
        )
        for handler in handlers
    }


async def find(tx: Tx, wanted: int | str) -> Row:
    """A workflow by id or by name."""
    table = crawling_workflows
    same = table.c.id == wanted if isinstance(wanted, int) else table.c.workflow_name == wanted
    row = await tx.first(select(table).where(same))
    if row is None:
        raise Missing(f"there is no workflow {wanted!r}", hint="`bobusang workflow list` shows them", field="workflow")
    return row


async def set_active(tx: Tx, workflow_id: int, active: bool) -> None:
    """Switch a workflow on or off; jobs that run are not touched."""
    await find(tx, workflow_id)
    table = crawling_workflows
    await tx.execute(update(table).where(table.c.id == workflow_id).values(is_active=active, updated_at=tx.now))


async def set_limits(
    tx: Tx,
    books: Books,
    workflow_id: int,
    max_parallel_jobs: int = 5,
    max_parallel_tasks: int = 10,
    resource_pool: str | None = None,
) -> None:
    """Limit how many jobs of a workflow, and tasks of one of its jobs, run at once."""
    await find(tx, workflow_id)
    for name, value in (("max_parallel_jobs", max_parallel_jobs), ("max_parallel_tasks", max_parallel_tasks)):
        if value < 1:
            raise Invalid(f"{name} is {value}, it must be at least 1", field=name)
    if resource_pool is not None and "," in resource_pool:
        raise Invalid(f"pool '{resource_pool}' has a comma in its name", field="resource_pool")
    await tx.execute(NO_LIMITS, id=workflow_id)
    await tx.execute(
        insert(parallel_execution_config).values(
            workflow_id=workflow_id,
            max_parallel_jobs=max_parallel_jobs,
            max_parallel_tasks=max_parallel_tasks,
            resource_pool=resource_pool,
        )
    )
    books.forget_plans(workflow_id)
    tx.ring("jobs")


async def remove_limits(tx: Tx, books: Books, workflow_id: int) -> None:
    """No limits any more, for jobs that start from now on."""
    await find(tx, workflow_id)
    await tx.execute(NO_LIMITS, id=workflow_id)
    books.forget_plans(workflow_id)
    tx.ring("jobs")
