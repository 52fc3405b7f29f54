"""The engine's tables. Names and columns follow design [E]; what a fast queue needs besides stands with its reason.

`crawling_tasks` and `crawling_queues` are views (see `views.py`): a task row is written twice in its life, when made
and when ended, and a queue row is gone once claimed (ADR 2).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from bobusang.engine.misfire import Misfire, Overlap
from bobusang.engine.model import (
    DependencyType,
    ErrorHandling,
    ExecutionStatus,
    HeldReason,
    JobStatus,
    JobType,
    ReasonClass,
    ScheduleType,
    StepMode,
    StepState,
    StepType,
    TaskOutcome,
    TaskStatus,
    WorkflowType,
)
from bobusang.kit.schema import Id, Instant, Json, Payload, allowed, choice, key, metadata


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True, autoincrement=True)


def _at(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Instant, nullable=null)


# --- what is crawled -------------------------------------------------------------------------------------------------

crawl_sources = Table(
    "crawl_sources",
    metadata,
    _id(),
    Column("name", key(100), nullable=False, unique=True),
    Column("base_url", String(1000)),
    Column("settings", Json),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    _at("created_at"),
    _at("updated_at"),
)

target_types = Table(
    "target_types",
    metadata,
    _id(),
    Column("name", key(100), nullable=False, unique=True),
    Column("description", String(500)),
    _at("created_at"),
)

crawl_targets = Table(
    "crawl_targets",
    metadata,
    _id(),
    Column("source_id", Id, ForeignKey(crawl_sources.c.id)),
    Column("target_type_id", Id, ForeignKey(target_types.c.id), nullable=False),
    Column("target_key", key(200), nullable=False),
    Column("name", String(200)),
    Column("data", Json),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    _at("created_at"),
    _at("updated_at"),
    UniqueConstraint("source_id", "target_type_id", "target_key"),
)

# --- workflows -------------------------------------------------------------------------------------------------------

crawling_workflows = Table(
    "crawling_workflows",
    metadata,
    _id(),
    Column("source_id", Id, ForeignKey(crawl_sources.c.id)),
    Column("workflow_name", key(100), nullable=False, unique=True),
    choice("workflow_type", WorkflowType),
    Column("workflow_definition", Json, nullable=False),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("version", Integer, nullable=False),
    Column("checksum", key(64), nullable=False),
    Column("tolerance", Float, nullable=False, server_default=text("0")),
    _at("created_at"),
    _at("updated_at"),
    allowed("workflow_type", WorkflowType),
)

workflow_versions = Table(
    "workflow_versions",
    metadata,
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("workflow_definition", Json, nullable=False),
    Column("checksum", key(64), nullable=False),
    _at("created_at"),
)

workflow_steps = Table(
    "workflow_steps",
    metadata,
    _id(),
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
    _at("created_at"),
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

# --- schedules -------------------------------------------------------------------------------------------------------

crawling_schedules = Table(
    "crawling_schedules",
    metadata,
    _id(),
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), nullable=False),
    Column("target_id", Id, ForeignKey(crawl_targets.c.id)),
    choice("schedule_type", ScheduleType),
    Column("cron_expression", String(100)),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("priority", Integer, nullable=False, server_default=text("5")),
    _at("next_run_at", null=True),
    _at("last_run_at", null=True),
    _at("created_at"),
    _at("updated_at"),
    _at("deleted_at", null=True),
    Column("name", key(100), nullable=False),
    Column("live_name", key(100), unique=True),  # the name while not deleted, NULL afterwards: a name is free again
    Column("timezone", key(64), nullable=False, server_default=text("'UTC'")),
    choice("misfire", Misfire, default=Misfire.ONCE),
    Column("misfire_window_s", Integer, nullable=False, server_default=text("86400")),
    Column("misfire_cap", Integer, nullable=False, server_default=text("10")),
    choice("overlap", Overlap, default=Overlap.SKIP),
    Column("jitter_s", Integer, nullable=False, server_default=text("0")),
    choice("job_type", JobType, default=JobType.FULL),
    Column("input", Payload),
    Column("interval_s", Integer),
    Column("min_interval_s", Integer),
    Column("max_interval_s", Integer),
    _at("previous_fire_at", null=True),
    Index("ix_crawling_schedules_due", "is_active", "next_run_at"),
    allowed("schedule_type", ScheduleType),
    allowed("misfire", Misfire),
    allowed("overlap", Overlap),
    allowed("job_type", JobType),
)

schedule_fires = Table(
    "schedule_fires",
    metadata,
    Column("schedule_id", Id, primary_key=True, autoincrement=False),
    Column("fire_at", Instant, primary_key=True),
    Column("decision", key(20), nullable=False),
    Column("job_id", Id),
    _at("created_at"),
    Index("ix_schedule_fires_created_at", "created_at"),
)

# --- jobs ------------------------------------------------------------------------------------------------------------


def _job_columns() -> list[Column[Any]]:
    """Shared by jobs and their archive."""
    return [
        Column("schedule_id", Id),
        Column("workflow_id", Id, nullable=False),
        Column("target_id", Id),
        choice("job_type", JobType, default=JobType.FULL),
        choice("status", JobStatus),
        _at("scheduled_at", null=True),
        _at("started_at", null=True),
        _at("completed_at", null=True),
        Column("total_items", Integer, nullable=False, server_default=text("0")),
        Column("processed_items", Integer, nullable=False, server_default=text("0")),
        Column("success_count", Integer, nullable=False, server_default=text("0")),
        Column("failed_count", Integer, nullable=False, server_default=text("0")),
        Column("error_summary", Payload),
        _at("created_at"),
        _at("updated_at"),
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
    _id(),
    *_job_columns(),
    Column("dedup_key", key(200), unique=True),
    Column("is_paused", Boolean, nullable=False, server_default=false()),
    Column("is_doomed", Boolean, nullable=False, server_default=false()),  # a task of a FAIL step has failed
    Index("ix_crawling_jobs_status", "status", "id"),
    Index("ix_crawling_jobs_workflow", "workflow_id", "status"),
    Index("ix_crawling_jobs_schedule", "schedule_id", "status"),
    Index("ix_crawling_jobs_created_at", "created_at"),
    Index("ix_crawling_jobs_completed_at", "completed_at"),
    allowed("status", JobStatus),
    allowed("job_type", JobType),
)

crawling_jobs_archive = Table(
    "crawling_jobs_archive",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    *_job_columns(),
    Column("step_results", Json),
    _at("archived_at"),
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
    _id(),
    Column("workflow_id", Id, nullable=False),
    Column("job_id", Id, ForeignKey(crawling_jobs.c.id, ondelete="CASCADE"), nullable=False, unique=True),
    Column("current_step", key(100)),
    choice("status", ExecutionStatus),
    Column("context", Json),
    Column("step_results", Json),
    _at("started_at", null=True),
    _at("completed_at", null=True),
    _at("created_at"),
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
    _at("started_at", null=True),
    _at("completed_at", null=True),
    allowed("state", StepState),
)

# Appended by whoever makes or ends tasks, folded into job_steps by a duty: a counter row that every worker updates
# would be the hottest row of the database (DECISIONS 7). No foreign keys on hot tables: each insert would lock its job.
job_deltas = Table(
    "job_deltas",
    metadata,
    _id(),
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
    _id(),
    Column("job_id", Id, nullable=False),
    Column("patch", Payload, nullable=False),
    Index("ix_job_contexts_job", "job_id"),
)

# Jobs whose entries have to be taken out of the queue: paused, cancelled or failed early.
job_sweeps = Table(
    "job_sweeps",
    metadata,
    Column("job_id", Id, primary_key=True, autoincrement=False),
    _at("next_at"),
)

# --- tasks -----------------------------------------------------------------------------------------------------------

tasks = Table(
    "tasks",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("job_id", Id, nullable=False),
    Column("step_id", Id, nullable=False),
    Column("task_key", key(200), nullable=False),
    Column("target_url", String(1000)),
    choice("task_type", StepType),
    choice("status", TaskStatus),
    choice("outcome", TaskOutcome, null=True),
    Column("retry_count", SmallInteger, nullable=False, server_default=text("0")),
    Column("sequence_number", Integer, nullable=False, server_default=text("0")),
    Column("input_data", Payload),
    Column("output_data", Payload),
    Column("signal_data", Payload),
    _at("started_at", null=True),
    _at("completed_at", null=True),
    Column("response_time_ms", Integer),
    Column("error_message", Payload),
    _at("created_at"),
    _at("updated_at"),
    UniqueConstraint("job_id", "step_id", "task_key"),
    Index("ix_tasks_job_status", "job_id", "status"),
)

task_attempts = Table(
    "task_attempts",
    metadata,
    _id(),
    Column("task_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", key(20), nullable=False),
    Column("reason_class", key(20)),
    Column("error", Payload),
    Column("worker_id", Id),
    _at("started_at", null=True),
    _at("ended_at"),
    Index("ix_task_attempts_task", "task_id"),
    Index("ix_task_attempts_ended_at", "ended_at"),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("task_id", Id, primary_key=True, autoincrement=False),
    Column("job_id", Id, nullable=False),
    Column("step_id", Id, nullable=False),
    Column("workflow_id", Id, nullable=False),
    Column("lane", Id, nullable=False),
    Column("queue", SmallInteger, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("dispatches", SmallInteger, nullable=False),
    choice("reason_class", ReasonClass),
    Column("error", Payload),
    Column("fingerprint", key(64), nullable=False),
    _at("created_at"),
    Index("ix_dead_letters_reason", "reason_class", "created_at"),
    Index("ix_dead_letters_job", "job_id"),
    allowed("reason_class", ReasonClass),
)

# --- the queue -------------------------------------------------------------------------------------------------------

lanes = Table(
    "lanes",
    metadata,
    _id(),
    Column("handler", key(100), nullable=False),
    Column("job_id", Id, nullable=False, server_default=text("0")),  # 0: shared by all jobs
    Column("pools", key(300), nullable=False, server_default=text("''")),
    UniqueConstraint("handler", "job_id", "pools"),
    Index("ix_lanes_job", "job_id"),
)

lane_pools = Table(
    "lane_pools",
    metadata,
    Column("pool", key(100), primary_key=True),
    Column("lane", Id, ForeignKey(lanes.c.id, ondelete="CASCADE"), primary_key=True, autoincrement=False),
)

budgets = Table(
    "budgets",
    metadata,
    Column("pool", key(100), primary_key=True),
    Column("rate", Float),  # tokens a second
    Column("burst", Float),
    Column("tokens", Float, nullable=False, server_default=text("0")),
    _at("refilled_at", null=True),
    Column("max_in_flight", Integer),
    Column("counts_batches", Boolean, nullable=False, server_default=false()),
    _at("blocked_until", null=True),
    Column("reason", String(500)),
    _at("updated_at"),
)


def _entry_columns() -> list[Column[Any]]:
    """What an entry carries wherever it stands."""
    return [
        Column("job_id", Id, nullable=False),
        Column("lane", Id, nullable=False),
        Column("queue", SmallInteger, nullable=False),
        Column("priority", SmallInteger, nullable=False),
        Column("attempt", SmallInteger, nullable=False),
        Column("dispatches", SmallInteger, nullable=False),
    ]


queue_ready = Table(
    "queue_ready",
    metadata,
    Column("task_id", Id, primary_key=True, autoincrement=False),
    Column("due", Id, nullable=False),
    *_entry_columns(),
    Index("ix_queue_ready_claim", "lane", "due", "task_id"),
)

queue_delayed = Table(
    "queue_delayed",
    metadata,
    Column("task_id", Id, primary_key=True, autoincrement=False),
    _at("run_at"),
    Column("reason", String(200)),
    *_entry_columns(),
    Index("ix_queue_delayed_run_at", "run_at", "task_id"),
    Index("ix_queue_delayed_job", "job_id"),
)

queue_held = Table(
    "queue_held",
    metadata,
    Column("task_id", Id, primary_key=True, autoincrement=False),
    Column("step_id", Id, nullable=False),
    choice("reason", HeldReason),
    Column("wait_key", key(200)),
    _at("until", null=True),
    *_entry_columns(),
    Index("ix_queue_held_job", "job_id", "reason", "step_id"),
    Index("ix_queue_held_until", "until"),
    allowed("reason", HeldReason),
)

# One row a claimed batch, with its entries inside: 1 insert and 1 delete instead of 500 of each (ADR 2).
queue_claims = Table(
    "queue_claims",
    metadata,
    Column("token", Id, primary_key=True, autoincrement=True),
    Column("worker_id", Id, nullable=False),
    Column("lane", Id, nullable=False),
    Column("size", Integer, nullable=False),
    Column("entries", Payload, nullable=False),
    _at("claimed_at"),
    _at("deadline_at"),
    sqlite_autoincrement=True,  # never give a token twice
)

waits = Table(
    "waits",
    metadata,
    Column("wait_key", key(200), primary_key=True),
    Column("task_id", Id),
    Column("signal", Payload),
    _at("signalled_at", null=True),
    _at("created_at"),
    Index("ix_waits_created_at", "created_at"),
)

# --- who works -------------------------------------------------------------------------------------------------------

workers = Table(
    "workers",
    metadata,
    _id(),
    Column("name", String(200), nullable=False),
    _at("started_at"),
    _at("beat_at"),
    Column("draining", Boolean, nullable=False, server_default=false()),
    sqlite_autoincrement=True,  # a restarted process must not look like its predecessor
)

leaders = Table(
    "leaders",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("holder", key(100), nullable=False),
    Column("term", Id, nullable=False),
    _at("expires_at"),
)

engine_statistics = Table(
    "engine_statistics",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("label", key(200), primary_key=True),
    Column("value", Float, nullable=False),
    _at("measured_at"),
)

id_blocks = Table(
    "id_blocks",
    metadata,
    Column("name", key(50), primary_key=True),
    Column("next", Id, nullable=False),
)
