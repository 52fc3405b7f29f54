"""Workflows: definitions by version, their steps, limits, and which targets they suit."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Integer,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from bobusang.engine.model import ErrorHandling, StepMode, StepType, WorkflowType
from bobusang.engine.tables.targets import crawl_sources, target_types
from bobusang.kit.schema import Id, Json, allowed, at, choice, key, metadata, serial

crawling_workflows = Table(
    "crawling_workflows",
    metadata,
    serial(),
    Column("source_id", Id, ForeignKey(crawl_sources.c.id)),
    Column("workflow_name", key(100), nullable=False, unique=True),
    choice("workflow_type", WorkflowType),
    Column("workflow_definition", Json, nullable=False),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("version", Integer, nullable=False),
    Column("checksum", key(64), nullable=False),
    Column("tolerance", Double, nullable=False, server_default=text("0")),
    at("created_at"),
    at("updated_at"),
    allowed("workflow_type", WorkflowType),
)

workflow_versions = Table(
    "workflow_versions",
    metadata,
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("workflow_definition", Json, nullable=False),
    Column("checksum", key(64), nullable=False),
    at("created_at"),
)

workflow_steps = Table(
    "workflow_steps",
    metadata,
    serial(),
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), nullable=False),
    Column("workflow_version", Integer, nullable=False),
    Column("step_order", Integer, nullable=False),
    Column("step_name", key(100), nullable=False),
    choice("step_type", StepType),
    Column("target_type_id", Id, ForeignKey(target_types.c.id)),
    Column("input_mapping", Json),
    Column("output_mapping", Json),
    choice("error_handling", ErrorHandling, default=ErrorHandling.RETRY),
    Column("max_retries", Integer, nullable=False, server_default=text("3")),
    Column("handler", key(100), nullable=False),
    choice("mode", StepMode, default=StepMode.STREAM),
    Column("gather", Boolean, nullable=False, server_default=false()),
    Column("resource_pool", key(50)),
    Column("queue", SmallInteger),
    Column("config", Json),
    at("created_at"),
    UniqueConstraint("workflow_id", "workflow_version", "step_order"),
    UniqueConstraint("workflow_id", "workflow_version", "step_name"),
    allowed("step_type", StepType),
    allowed("error_handling", ErrorHandling),
    allowed("mode", StepMode),
)

target_workflow_mappings = Table(
    "target_workflow_mappings",
    metadata,
    Column("target_type_id", Id, ForeignKey(target_types.c.id), primary_key=True, autoincrement=False),
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), primary_key=True, autoincrement=False),
    Column("condition_expression", String(1000)),
    Column("priority", Integer, nullable=False, server_default=text("0")),
)

parallel_execution_config = Table(
    "parallel_execution_config",
    metadata,
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), primary_key=True, autoincrement=False),
    Column("max_parallel_jobs", Integer, nullable=False, server_default=text("5")),
    Column("max_parallel_tasks", Integer, nullable=False, server_default=text("10")),
    Column("resource_pool", key(50)),
)
