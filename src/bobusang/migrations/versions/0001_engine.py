"""The engine's tables, the outbox, subscriptions, audit log, alerts and API keys.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Json, Payload, key

revision = "0001"
down_revision = None

RETRYABLE = "status = 'FAILED' and retry_count < 3"
HOT = ("queue_ready", "queue_claims", "job_deltas", "outbox", "deliveries", "delivery_keys")


def upgrade() -> None:
    make_targets_and_workflows()
    make_schedules()
    make_jobs()
    make_tasks()
    make_queue()
    make_workers()
    make_platform()
    make_keys()
    match op.get_bind().dialect.name:
        case "sqlite":
            _finish_sqlite()
        case "postgresql":
            _finish_postgres()
        case _:
            _finish_mariadb()


def _finish_sqlite() -> None:
    op.execute("insert into id_blocks (name, next) values ('task', 1)")
    op.execute(f"create index ix_tasks_retry on tasks (status, retry_count) where {RETRYABLE}")


def _finish_postgres() -> None:
    op.execute("create sequence task_ids as bigint increment by 1000")
    op.execute(f"create index ix_tasks_retry on tasks (status, retry_count) where {RETRYABLE}")
    for table in HOT:  # rows come and go here all the time: vacuum often and without resting
        settings = "autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0"
        op.execute(f"alter table {table} set ({settings})")


def _finish_mariadb() -> None:
    op.execute("create sequence if not exists task_ids increment by 1000 nocache")
    # There is no partial index here: the column is NULL, and so its index untouched, for all but failed tasks.
    op.execute(
        "alter table tasks add column if not exists retryable smallint "
        f"generated always as (if({RETRYABLE}, retry_count, null)) virtual, "
        "add index if not exists ix_tasks_retry (retryable)"
    )


def make_targets_and_workflows() -> None:
    op.create_table(
        "crawl_sources",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("base_url", sa.String(length=1000), nullable=True),
        sa.Column("settings", Json, nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name=op.f("uq_crawl_sources_name")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "target_types",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("description", sa.String(length=500), nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name=op.f("uq_target_types_name")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "crawl_targets",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source_id", Id, nullable=True),
        sa.Column("target_type_id", Id, nullable=False),
        sa.Column("target_key", key(200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column("data", Json, nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["crawl_sources.id"], name=op.f("fk_crawl_targets_source_id")),
        sa.ForeignKeyConstraint(["target_type_id"], ["target_types.id"], name=op.f("fk_crawl_targets_target_type_id")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "source_id",
            "target_type_id",
            "target_key",
            name=op.f("uq_crawl_targets_source_id_target_type_id_target_key"),
        ),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "crawling_workflows",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source_id", Id, nullable=True),
        sa.Column("workflow_name", key(100), nullable=False),
        sa.Column("workflow_type", key(20), nullable=False),
        sa.Column("workflow_definition", Json, nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("checksum", key(64), nullable=False),
        sa.Column("tolerance", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(
            "workflow_type in ('FULL_SCAN', 'INCREMENTAL', 'TARGETED')",
            name=op.f("ck_crawling_workflows_workflow_type"),
        ),
        sa.ForeignKeyConstraint(["source_id"], ["crawl_sources.id"], name=op.f("fk_crawling_workflows_source_id")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("workflow_name", name=op.f("uq_crawling_workflows_workflow_name")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "parallel_execution_config",
        sa.Column("workflow_id", Id, autoincrement=False, nullable=False),
        sa.Column("max_parallel_jobs", sa.Integer(), server_default=sa.text("5"), nullable=False),
        sa.Column("max_parallel_tasks", sa.Integer(), server_default=sa.text("(10)"), nullable=False),
        sa.Column("resource_pool", key(50), nullable=True),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["crawling_workflows.id"], name=op.f("fk_parallel_execution_config_workflow_id")
        ),
        sa.PrimaryKeyConstraint("workflow_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "target_workflow_mappings",
        sa.Column("target_type_id", Id, autoincrement=False, nullable=False),
        sa.Column("workflow_id", Id, autoincrement=False, nullable=False),
        sa.Column("condition_expression", sa.String(length=1000), nullable=True),
        sa.Column("priority", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["target_type_id"], ["target_types.id"], name=op.f("fk_target_workflow_mappings_target_type_id")
        ),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["crawling_workflows.id"], name=op.f("fk_target_workflow_mappings_workflow_id")
        ),
        sa.PrimaryKeyConstraint("target_type_id", "workflow_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "workflow_steps",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("workflow_version", sa.Integer(), nullable=False),
        sa.Column("step_order", sa.Integer(), nullable=False),
        sa.Column("step_name", key(100), nullable=False),
        sa.Column("step_type", key(20), nullable=False),
        sa.Column("target_type_id", Id, nullable=True),
        sa.Column("input_mapping", Json, nullable=True),
        sa.Column("output_mapping", Json, nullable=True),
        sa.Column("error_handling", key(20), server_default="RETRY", nullable=False),
        sa.Column("max_retries", sa.Integer(), server_default=sa.text("3"), nullable=False),
        sa.Column("handler", key(100), nullable=False),
        sa.Column("mode", key(20), server_default="stream", nullable=False),
        sa.Column("gather", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("resource_pool", key(50), nullable=True),
        sa.Column("queue", sa.SmallInteger(), nullable=True),
        sa.Column("config", Json, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.CheckConstraint(
            "error_handling in ('RETRY', 'SKIP', 'FAIL')", name=op.f("ck_workflow_steps_error_handling")
        ),
        sa.CheckConstraint("mode in ('stream', 'barrier')", name=op.f("ck_workflow_steps_mode")),
        sa.CheckConstraint(
            "step_type in ('FETCH', 'PARSE', 'TRANSFORM', 'VALIDATE', 'STORE')",
            name=op.f("ck_workflow_steps_step_type"),
        ),
        sa.ForeignKeyConstraint(["target_type_id"], ["target_types.id"], name=op.f("fk_workflow_steps_target_type_id")),
        sa.ForeignKeyConstraint(["workflow_id"], ["crawling_workflows.id"], name=op.f("fk_workflow_steps_workflow_id")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "workflow_id",
            "workflow_version",
            "step_name",
            name=op.f("uq_workflow_steps_workflow_id_workflow_version_step_name"),
        ),
        sa.UniqueConstraint(
            "workflow_id",
            "workflow_version",
            "step_order",
            name=op.f("uq_workflow_steps_workflow_id_workflow_version_step_order"),
        ),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "workflow_versions",
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("workflow_definition", Json, nullable=False),
        sa.Column("checksum", key(64), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["crawling_workflows.id"], name=op.f("fk_workflow_versions_workflow_id")
        ),
        sa.PrimaryKeyConstraint("workflow_id", "version"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )


def make_schedules() -> None:
    op.create_table(
        "schedule_fires",
        sa.Column("schedule_id", Id, autoincrement=False, nullable=False),
        sa.Column("fire_at", Instant, nullable=False),
        sa.Column("decision", key(20), nullable=False),
        sa.Column("job_id", Id, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("schedule_id", "fire_at"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_schedule_fires_created_at", "schedule_fires", ["created_at"], if_not_exists=True)
    op.create_table(
        "crawling_schedules",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("target_id", Id, nullable=True),
        sa.Column("schedule_type", key(20), nullable=False),
        sa.Column("cron_expression", sa.String(length=100), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("priority", sa.Integer(), server_default=sa.text("5"), nullable=False),
        sa.Column("next_run_at", Instant, nullable=True),
        sa.Column("last_run_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("deleted_at", Instant, nullable=True),
        sa.Column("name", key(100), nullable=False),
        sa.Column("live_name", key(100), nullable=True),
        sa.Column("timezone", key(64), server_default=sa.text("'UTC'"), nullable=False),
        sa.Column("misfire", key(20), server_default="ONCE", nullable=False),
        sa.Column("misfire_window_s", sa.Integer(), server_default=sa.text("(86400)"), nullable=False),
        sa.Column("misfire_cap", sa.Integer(), server_default=sa.text("(10)"), nullable=False),
        sa.Column("overlap", key(20), server_default="SKIP", nullable=False),
        sa.Column("jitter_s", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("job_type", key(20), server_default="FULL", nullable=False),
        sa.Column("input", Payload, nullable=True),
        sa.Column("interval_s", sa.Integer(), nullable=True),
        sa.Column("min_interval_s", sa.Integer(), nullable=True),
        sa.Column("max_interval_s", sa.Integer(), nullable=True),
        sa.Column("previous_fire_at", Instant, nullable=True),
        sa.CheckConstraint("job_type in ('FULL', 'INCREMENTAL', 'RETRY')", name=op.f("ck_crawling_schedules_job_type")),
        sa.CheckConstraint("misfire in ('SKIP', 'ONCE', 'ALL')", name=op.f("ck_crawling_schedules_misfire")),
        sa.CheckConstraint(
            "overlap in ('SKIP', 'BUFFER_ONE', 'ALLOW', 'CANCEL_OTHER')", name=op.f("ck_crawling_schedules_overlap")
        ),
        sa.CheckConstraint(
            "schedule_type in ('FIXED', 'DYNAMIC', 'MANUAL')", name=op.f("ck_crawling_schedules_schedule_type")
        ),
        sa.ForeignKeyConstraint(["target_id"], ["crawl_targets.id"], name=op.f("fk_crawling_schedules_target_id")),
        sa.ForeignKeyConstraint(
            ["workflow_id"], ["crawling_workflows.id"], name=op.f("fk_crawling_schedules_workflow_id")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("live_name", name=op.f("uq_crawling_schedules_live_name")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_crawling_schedules_due", "crawling_schedules", ["is_active", "next_run_at"], if_not_exists=True)


def make_jobs() -> None:
    op.create_table(
        "crawling_jobs",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("schedule_id", Id, nullable=True),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("target_id", Id, nullable=True),
        sa.Column("job_type", key(20), server_default="FULL", nullable=False),
        sa.Column("status", key(20), nullable=False),
        sa.Column("scheduled_at", Instant, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("completed_at", Instant, nullable=True),
        sa.Column("total_items", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("processed_items", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("success_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error_summary", Payload, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("workflow_version", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), server_default=sa.text("5"), nullable=False),
        sa.Column("queue", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("skipped_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancelled_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("retry_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("input", Payload, nullable=True),
        sa.Column("dedup_key", key(200), nullable=True),
        sa.Column("is_paused", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("pause_reason", sa.String(length=500), nullable=True),
        sa.Column("is_doomed", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.CheckConstraint("job_type in ('FULL', 'INCREMENTAL', 'RETRY')", name=op.f("ck_crawling_jobs_job_type")),
        sa.CheckConstraint(
            "status in ('PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'CANCELLED')", name=op.f("ck_crawling_jobs_status")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dedup_key", name=op.f("uq_crawling_jobs_dedup_key")),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_crawling_jobs_completed_at", "crawling_jobs", ["completed_at"], if_not_exists=True)
    op.create_index("ix_crawling_jobs_created_at", "crawling_jobs", ["created_at"], if_not_exists=True)
    op.create_index("ix_crawling_jobs_schedule", "crawling_jobs", ["schedule_id", "status"], if_not_exists=True)
    op.create_index("ix_crawling_jobs_status", "crawling_jobs", ["status", "id"], if_not_exists=True)
    op.create_index("ix_crawling_jobs_workflow", "crawling_jobs", ["workflow_id", "status"], if_not_exists=True)
    op.create_table(
        "crawling_jobs_archive",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("schedule_id", Id, nullable=True),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("target_id", Id, nullable=True),
        sa.Column("job_type", key(20), server_default="FULL", nullable=False),
        sa.Column("status", key(20), nullable=False),
        sa.Column("scheduled_at", Instant, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("completed_at", Instant, nullable=True),
        sa.Column("total_items", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("processed_items", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("success_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("error_summary", Payload, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.Column("workflow_version", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), server_default=sa.text("5"), nullable=False),
        sa.Column("queue", sa.SmallInteger(), server_default=sa.text("1"), nullable=False),
        sa.Column("skipped_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancelled_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("retry_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("input", Payload, nullable=True),
        sa.Column("step_results", Json, nullable=True),
        sa.Column("archived_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index(
        "ix_crawling_jobs_archive_completed_at", "crawling_jobs_archive", ["completed_at"], if_not_exists=True
    )
    op.create_table(
        "job_contexts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("patch", Payload, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_job_contexts_job", "job_contexts", ["job_id"], if_not_exists=True)
    op.create_table(
        "job_deltas",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("step_id", Id, nullable=False),
        sa.Column("created", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("succeeded", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("skipped", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancelled", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("retried", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_job_deltas_job", "job_deltas", ["job_id"], if_not_exists=True)
    op.create_table(
        "job_sweeps",
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("next_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("job_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "job_dependencies",
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("depends_on_job_id", Id, autoincrement=False, nullable=False),
        sa.Column("dependency_type", key(20), nullable=False),
        sa.CheckConstraint(
            "dependency_type in ('FINISH', 'SUCCESS')", name=op.f("ck_job_dependencies_dependency_type")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["crawling_jobs.id"], name=op.f("fk_job_dependencies_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "depends_on_job_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_job_dependencies_on", "job_dependencies", ["depends_on_job_id"], if_not_exists=True)
    op.create_table(
        "job_steps",
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("step_id", Id, autoincrement=False, nullable=False),
        sa.Column("step_order", sa.Integer(), nullable=False),
        sa.Column("state", key(20), server_default="PENDING", nullable=False),
        sa.Column("created", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("succeeded", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("skipped", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("cancelled", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("retried", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("completed_at", Instant, nullable=True),
        sa.CheckConstraint("state in ('PENDING', 'RUNNING', 'DONE')", name=op.f("ck_job_steps_state")),
        sa.ForeignKeyConstraint(["job_id"], ["crawling_jobs.id"], name=op.f("fk_job_steps_job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "step_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "workflow_executions",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("current_step", key(100), nullable=True),
        sa.Column("status", key(20), nullable=False),
        sa.Column("context", Json, nullable=True),
        sa.Column("step_results", Json, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("completed_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.CheckConstraint(
            "status in ('RUNNING', 'COMPLETED', 'FAILED', 'PAUSED')", name=op.f("ck_workflow_executions_status")
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["crawling_jobs.id"], name=op.f("fk_workflow_executions_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("job_id", name=op.f("uq_workflow_executions_job_id")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )


def make_tasks() -> None:
    op.create_table(
        "dead_letters",
        sa.Column("task_id", Id, autoincrement=False, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("step_id", Id, nullable=False),
        sa.Column("workflow_id", Id, nullable=False),
        sa.Column("lane", Id, nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("dispatches", sa.SmallInteger(), nullable=False),
        sa.Column("reason_class", key(20), nullable=False),
        sa.Column("error", Payload, nullable=True),
        sa.Column("fingerprint", key(64), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.CheckConstraint(
            "reason_class in ('TRANSPORT', 'TIMEOUT', 'CRASHED', 'INVALID', 'REJECTED', 'DRIFTED', 'BUG')",
            name=op.f("ck_dead_letters_reason_class"),
        ),
        sa.PrimaryKeyConstraint("task_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_dead_letters_job", "dead_letters", ["job_id"], if_not_exists=True)
    op.create_index("ix_dead_letters_reason", "dead_letters", ["reason_class", "created_at"], if_not_exists=True)
    op.create_table(
        "task_attempts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("task_id", Id, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("outcome", key(20), nullable=False),
        sa.Column("reason_class", key(20), nullable=True),
        sa.Column("error", Payload, nullable=True),
        sa.Column("worker_id", Id, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("ended_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_task_attempts_ended_at", "task_attempts", ["ended_at"], if_not_exists=True)
    op.create_index("ix_task_attempts_task", "task_attempts", ["task_id"], if_not_exists=True)
    op.create_table(
        "tasks",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("step_id", Id, nullable=False),
        sa.Column("task_key", key(200), nullable=False),
        sa.Column("target_url", sa.String(length=1000), nullable=True),
        sa.Column("pool", key(100), nullable=True),
        sa.Column("task_type", key(20), nullable=False),
        sa.Column("status", key(20), nullable=False),
        sa.Column("outcome", key(20), nullable=True),
        sa.Column("retry_count", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("sequence_number", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("input_data", Payload, nullable=True),
        sa.Column("output_data", Payload, nullable=True),
        sa.Column("signal_data", Payload, nullable=True),
        sa.Column("started_at", Instant, nullable=True),
        sa.Column("completed_at", Instant, nullable=True),
        sa.Column("response_time_ms", sa.Integer(), nullable=True),
        sa.Column("error_message", Payload, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("job_id", "step_id", "task_key", name=op.f("uq_tasks_job_id_step_id_task_key")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_tasks_job_status", "tasks", ["job_id", "status"], if_not_exists=True)


def make_queue() -> None:
    op.create_table(
        "budgets",
        sa.Column("pool", key(100), nullable=False),
        sa.Column("rate", sa.Double(), nullable=True),
        sa.Column("burst", sa.Double(), nullable=True),
        sa.Column("tokens", sa.Double(), server_default=sa.text("0"), nullable=False),
        sa.Column("refilled_at", Instant, nullable=True),
        sa.Column("max_in_flight", sa.Integer(), nullable=True),
        sa.Column("counts_batches", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("blocked_until", Instant, nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("updated_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("pool"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "lanes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("handler", key(100), nullable=False),
        sa.Column("job_id", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("pools", key(300), server_default=sa.text("('')"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("handler", "job_id", "pools", name=op.f("uq_lanes_handler_job_id_pools")),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_lanes_job", "lanes", ["job_id"], if_not_exists=True)
    op.create_table(
        "queue_claims",
        sa.Column("token", Id, autoincrement=True, nullable=False),
        sa.Column("worker_id", Id, nullable=False),
        sa.Column("lane", Id, nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("entries", Payload, nullable=False),
        sa.Column("claimed_at", Instant, nullable=False),
        sa.Column("deadline_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("token"),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "queue_delayed",
        sa.Column("task_id", Id, autoincrement=False, nullable=False),
        sa.Column("run_at", Instant, nullable=False),
        sa.Column("reason", sa.String(length=200), nullable=True),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("lane", Id, nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("dispatches", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("task_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_queue_delayed_job", "queue_delayed", ["job_id"], if_not_exists=True)
    op.create_index("ix_queue_delayed_run_at", "queue_delayed", ["run_at", "task_id"], if_not_exists=True)
    op.create_table(
        "queue_held",
        sa.Column("task_id", Id, autoincrement=False, nullable=False),
        sa.Column("step_id", Id, nullable=False),
        sa.Column("reason", key(20), nullable=False),
        sa.Column("wait_key", key(200), nullable=True),
        sa.Column("until", Instant, nullable=True),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("lane", Id, nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("dispatches", sa.SmallInteger(), nullable=False),
        sa.CheckConstraint("reason in ('PAUSED', 'BARRIER', 'WAIT')", name=op.f("ck_queue_held_reason")),
        sa.PrimaryKeyConstraint("task_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_queue_held_job", "queue_held", ["job_id", "reason", "step_id"], if_not_exists=True)
    op.create_index("ix_queue_held_until", "queue_held", ["until"], if_not_exists=True)
    op.create_table(
        "queue_ready",
        sa.Column("task_id", Id, autoincrement=False, nullable=False),
        sa.Column("due", Id, nullable=False),
        sa.Column("job_id", Id, nullable=False),
        sa.Column("lane", Id, nullable=False),
        sa.Column("queue", sa.SmallInteger(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("attempt", sa.SmallInteger(), nullable=False),
        sa.Column("dispatches", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("task_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_queue_ready_claim", "queue_ready", ["lane", "due", "task_id"], if_not_exists=True)
    op.create_table(
        "waits",
        sa.Column("wait_key", key(200), nullable=False),
        sa.Column("task_id", Id, nullable=True),
        sa.Column("signal_data", Payload, nullable=True),
        sa.Column("signalled_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("wait_key"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_waits_created_at", "waits", ["created_at"], if_not_exists=True)
    op.create_table(
        "lane_pools",
        sa.Column("pool", key(100), nullable=False),
        sa.Column("lane", Id, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["lane"], ["lanes.id"], name=op.f("fk_lane_pools_lane"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("pool", "lane"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )


def make_workers() -> None:
    op.create_table(
        "engine_statistics",
        sa.Column("name", key(100), nullable=False),
        sa.Column("label", key(200), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("measured_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("name", "label"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "id_blocks",
        sa.Column("name", key(50), nullable=False),
        sa.Column("next", Id, nullable=False),
        sa.PrimaryKeyConstraint("name"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "leaders",
        sa.Column("name", key(100), nullable=False),
        sa.Column("holder", key(100), nullable=False),
        sa.Column("term", Id, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("name"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "workers",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("beat_at", Instant, nullable=False),
        sa.Column("draining", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )


def make_platform() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("alert_key", key(200), nullable=False),
        sa.Column("rule", key(100), nullable=False),
        sa.Column("level", key(20), nullable=False),
        sa.Column("title", sa.String(length=300), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("link", sa.String(length=1000), nullable=True),
        sa.Column("fields", Payload, nullable=True),
        sa.Column("opened_at", Instant, nullable=False),
        sa.Column("last_notified_at", Instant, nullable=True),
        sa.Column("resolved_at", Instant, nullable=True),
        sa.Column("count", sa.Integer(), server_default="1", nullable=False),
        sa.Column("owed", key(20), nullable=False),
        sa.CheckConstraint("level in ('OK', 'INFO', 'WARNING', 'CRITICAL')", name=op.f("ck_alerts_level")),
        sa.CheckConstraint("owed in ('OPENED', 'REMINDER', 'RECOVERY', 'NOTHING')", name=op.f("ck_alerts_owed")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("alert_key", name=op.f("uq_alerts_alert_key")),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_alerts_owed", "alerts", ["owed"], if_not_exists=True)
    op.create_index("ix_alerts_resolved", "alerts", ["resolved_at"], if_not_exists=True)
    op.create_table(
        "audit_log",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("action", key(100), nullable=False),
        sa.Column("subject_type", key(100), nullable=False),
        sa.Column("subject_id", key(200), nullable=False),
        sa.Column("before_data", Payload, nullable=True),
        sa.Column("after_data", Payload, nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_audit_log_at", "audit_log", ["at"], if_not_exists=True)
    op.create_index("ix_audit_log_subject", "audit_log", ["subject_type", "subject_id", "id"], if_not_exists=True)
    op.create_table(
        "outbox",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("topic", key(100), nullable=False),
        sa.Column("event_key", key(200), nullable=False),
        sa.Column("payload", Payload, nullable=False),
        sa.Column("headers", Payload, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "subscriptions",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("topics", sa.String(length=1000), nullable=False),
        sa.Column("url", sa.String(length=1000), nullable=False),
        sa.Column("secret", sa.String(length=500), nullable=True),
        sa.Column("state", key(20), server_default="ACTIVE", nullable=False),
        sa.Column("paused_reason", sa.String(length=500), nullable=True),
        sa.Column("hold_until", Instant, nullable=True),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.String(length=500), nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("state in ('ACTIVE', 'PAUSED')", name=op.f("ck_subscriptions_state")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", name=op.f("uq_subscriptions_name")),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_table(
        "deliveries",
        sa.Column("event_id", Id, autoincrement=False, nullable=False),
        sa.Column("subscription_id", Id, nullable=False),
        sa.Column("topic", key(100), nullable=False),
        sa.Column("event_key", key(200), nullable=False),
        sa.Column("payload", Payload, nullable=False),
        sa.Column("headers", Payload, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("state", key(20), nullable=False),
        sa.Column("since", Instant, nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_error", sa.String(length=500), nullable=True),
        sa.CheckConstraint("state in ('PENDING', 'DEAD')", name=op.f("ck_deliveries_state")),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscriptions.id"], name=op.f("fk_deliveries_subscription_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("event_id", "subscription_id"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index(
        "ix_deliveries_order", "deliveries", ["subscription_id", "state", "event_key", "event_id"], if_not_exists=True
    )
    op.create_index("ix_deliveries_since", "deliveries", ["since"], if_not_exists=True)
    op.create_table(
        "delivery_keys",
        sa.Column("subscription_id", Id, nullable=False),
        sa.Column("event_key", key(200), nullable=False),
        sa.Column("next_at", Instant, nullable=False),
        sa.Column("token", key(32), nullable=True),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscriptions.id"], name=op.f("fk_delivery_keys_subscription_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("subscription_id", "event_key"),
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
    op.create_index("ix_delivery_keys_due", "delivery_keys", ["subscription_id", "next_at"], if_not_exists=True)


def make_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("role", key(20), nullable=False),
        sa.Column("hash", key(64), nullable=False),
        sa.Column("prefix", key(20), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("last_used_at", Instant, nullable=True),
        sa.Column("revoked_at", Instant, nullable=True),
        sa.CheckConstraint("role in ('viewer', 'operator', 'admin')", name=op.f("ck_api_keys_role")),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash", name=op.f("uq_api_keys_hash")),
        sqlite_autoincrement=True,
        if_not_exists=True,
        mariadb_default_charset="utf8mb4",
    )
