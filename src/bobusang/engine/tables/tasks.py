"""Tasks, what went wrong with them, and dead letters."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, SmallInteger, String, Table, UniqueConstraint, text

from bobusang.engine.model import ReasonClass, StepType, TaskOutcome, TaskStatus
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

# Its retry index (failed, fewer than three retries) is written for each database in the first revision.
tasks = Table(
    "tasks",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("job_id", Id, nullable=False),
    Column("step_id", Id, nullable=False),
    Column("task_key", key(200), nullable=False),
    Column("target_url", String(1000)),
    Column("pool", key(100)),  # its own, beside those of its step and workflow; needed when it is driven again
    choice("task_type", StepType),
    choice("status", TaskStatus),
    choice("outcome", TaskOutcome, null=True),
    Column("retry_count", SmallInteger, nullable=False, server_default=text("0")),
    Column("sequence_number", Integer, nullable=False, server_default=text("0")),
    Column("input_data", Payload),
    Column("output_data", Payload),
    Column("signal_data", Payload),
    at("started_at", null=True),
    at("completed_at", null=True),
    Column("response_time_ms", Integer),
    Column("error_message", Payload),
    at("created_at"),
    at("updated_at"),
    UniqueConstraint("job_id", "step_id", "task_key"),
    Index("ix_tasks_job_status", "job_id", "status"),
)

task_attempts = Table(
    "task_attempts",
    metadata,
    serial(),
    Column("task_id", Id, nullable=False),
    Column("job_id", Id, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", key(20), nullable=False),
    Column("reason_class", key(20)),
    Column("error", Payload),
    Column("worker_id", Id),
    at("started_at", null=True),
    at("ended_at"),
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
    at("created_at"),
    Index("ix_dead_letters_reason", "reason_class", "created_at"),
    Index("ix_dead_letters_job", "job_id"),
    Index("ix_dead_letters_fingerprint", "fingerprint", "task_id"),
    allowed("reason_class", ReasonClass),
)
