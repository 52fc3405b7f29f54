"""Jobs, their executions, steps and counters, and the archive."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, String, Table, false, text

from bobusang.engine.model import DependencyType, ExecutionStatus, JobStatus, JobType, StepState
from bobusang.kit.schema import Id, Json, Payload, allowed, at, choice, key, metadata, serial


def _job_columns() -> list[Column[Any]]:
    """Shared by jobs and their archive."""
    return [
        Column("schedule_id", Id),
        Column("workflow_id", Id, nullable=False),
        Column("target_id", Id),
        choice("job_type", JobType, default=JobType.FULL),
        choice("status", JobStatus),
        at("scheduled_at", null=True),
        at("started_at", null=True),
        at("completed_at", null=True),
        Column("total_items", Integer, nullable=False, server_default=text("0")),
        Column("processed_items", Integer, nullable=False, server_default=text("0")),
        Column("success_count", Integer, nullable=False, server_default=text("0")),
        Column("failed_count", Integer, nullable=False, server_default=text("0")),
        Column("error_summary", Payload),
        at("created_at"),
        at("updated_at"),
        Column("workflow_version", Integer, nullable=False),
        Column("priority", Integer, nullable=False, server_default=text("5")),
        Column("queue", SmallInteger, nullable=False, server_default=text("1")),
        Column("skipped_count", Integer, nullable=False, server_default=text("0")),
        Column("cancelled_count", Integer, nullable=False, server_default=text("0")),
        Column("retry_count", Integer, nullable=False, server_default=text("0")),
        Column("input", Payload),
    ]


crawling_jobs = Table(
    "crawling_jobs",
    metadata,
    serial(),
    *_job_columns(),
    Column("dedup_key", key(200), unique=True),
    Column("is_paused", Boolean, nullable=False, server_default=false()),
    Column("pause_reason", String(500)),  # set when a task halted its job
    Column("is_doomed", Boolean, nullable=False, server_default=false()),  # a task of a FAIL step has failed
    Index("ix_crawling_jobs_status", "status", "id"),
    Index("ix_crawling_jobs_workflow", "workflow_id", "status"),
    Index("ix_crawling_jobs_schedule", "schedule_id", "status"),
    Index("ix_crawling_jobs_target", "target_id", "id"),
    Index("ix_crawling_jobs_created_at", "created_at"),
    Index("ix_crawling_jobs_completed_at", "completed_at"),
    allowed("status", JobStatus),
    allowed("job_type", JobType),
    sqlite_autoincrement=True,  # the archive keeps the ids of old jobs
)

crawling_jobs_archive = Table(
    "crawling_jobs_archive",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    *_job_columns(),
    Column("step_results", Json),
    at("archived_at"),
    Index("ix_crawling_jobs_archive_completed_at", "completed_at"),
)

job_dependencies = Table(
    "job_dependencies",
    metadata,
    Column("job_id", Id, ForeignKey(crawling_jobs.c.id, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("depends_on_job_id", Id, primary_key=True, autoincrement=False),
    choice("dependency_type", DependencyType),
    Index("ix_job_dependencies_on", "depends_on_job_id"),
    allowed("dependency_type", DependencyType),
)

workflow_executions = Table(
    "workflow_executions",
    metadata,
    serial(),
    Column("workflow_id", Id, nullable=False),
    Column("job_id", Id, ForeignKey(crawling_jobs.c.id, ondelete="CASCADE"), nullable=False, unique=True),
    Column("current_step", key(100)),
    choice("status", ExecutionStatus),
    Column("context", Json),
    Column("step_results", Json),
    at("started_at", null=True),
    at("completed_at", null=True),
    at("created_at"),
    allowed("status", ExecutionStatus),
)

job_steps = Table(
    "job_steps",
    metadata,
    Column("job_id", Id, ForeignKey(crawling_jobs.c.id, ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("step_id", Id, primary_key=True, autoincrement=False),
    Column("step_order", Integer, nullable=False),
    choice("state", StepState, default=StepState.PENDING),
    *(
        Column(name, Integer, nullable=False, server_default=text("0"))
        for name in ("created", "succeeded", "failed", "skipped", "cancelled", "retried")
    ),
    at("started_at", null=True),
    at("completed_at", null=True),
    allowed("state", StepState),
)

# Appended by whoever makes or ends tasks, folded into job_steps by a duty: a counter row that every worker updates
# would be the hottest row of the database (DECISIONS 7). No foreign keys on hot tables: each insert would lock its job.
job_deltas = Table(
    "job_deltas",
    metadata,
    serial(),
    Column("job_id", Id, nullable=False),
    Column("step_id", Id, nullable=False),
    *(
        Column(name, Integer, nullable=False, server_default=text("0"))
        for name in ("created", "succeeded", "failed", "skipped", "cancelled", "retried")
    ),
    Index("ix_job_deltas_job", "job_id"),
)

job_contexts = Table(
    "job_contexts",
    metadata,
    serial(),
    Column("job_id", Id, nullable=False),
    Column("patch", Payload, nullable=False),
    Index("ix_job_contexts_job", "job_id"),
)

# Jobs whose entries have to be taken out of the queue: paused, cancelled or failed early.
job_sweeps = Table(
    "job_sweeps",
    metadata,
    Column("job_id", Id, primary_key=True, autoincrement=False),
    at("next_at"),
)
