"""The collect stage's tables: identities, gates, raw pages, held writes, runs and counts.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    make_identities()
    make_gates()
    make_pages()
    make_writes()
    match op.get_bind().dialect.name:
        case "sqlite":
            op.execute("insert into id_blocks (name, next) values ('raw_page', 1)")
        case "postgresql":
            op.execute("create sequence raw_page_ids as bigint increment by 1000")
        case _:
            op.execute("create sequence if not exists raw_page_ids increment by 1000 nocache")


def make_identities() -> None:
    op.create_table(
        "crawl_agents",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("user_agent", sa.String(length=500), nullable=False),
        sa.Column("token", Payload, nullable=True),
        sa.Column("cookies", Payload, nullable=True),
        sa.Column("token_expires_at", Instant, nullable=True),
        sa.Column("token_renew_at", Instant, nullable=True),
        sa.Column("state", key(20), server_default="IDLE", nullable=False),
        sa.Column("health", sa.Integer(), server_default=sa.text("100"), nullable=False),
        sa.Column("leased_by", key(200), nullable=True),
        sa.Column("leased_until", Instant, nullable=True),
        sa.Column("lease_number", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("rest_until", Instant, nullable=True),
        sa.Column("throttled_in_a_row", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_throttled_at", Instant, nullable=True),
        sa.Column("forgiven_at", Instant, nullable=True),
        sa.Column("quota_left", sa.Double(), nullable=True),
        sa.Column("calls", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("successes", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("throttles", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("failures", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("last_used_at", Instant, nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint(
            "state in ('IDLE', 'ACTIVE', 'RATE_LIMITED', 'DISABLED', 'RECOVERED')", name=op.f("ck_crawl_agents_state")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("source", "place", name=op.f("uq_crawl_agents_source_place")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_gates() -> None:
    op.create_table(
        "source_gates",
        sa.Column("source", key(100), nullable=False),
        sa.Column("endpoint", key(100), nullable=False),
        sa.Column("state", key(20), server_default="CLOSED", nullable=False),
        sa.Column("window_started_at", Instant, nullable=True),
        sa.Column("window_calls", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("window_failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failures_in_a_row", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("opened_at", Instant, nullable=True),
        sa.Column("open_until", Instant, nullable=True),
        sa.Column("closed_at", Instant, nullable=True),
        sa.Column("times_opened", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("probe_number", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("probe_until", Instant, nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("blocked_until", Instant, nullable=True),
        sa.Column("blocked_in_a_row", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("forgiven_at", Instant, nullable=True),
        sa.Column("answer", key(20), server_default="go", nullable=False),
        sa.Column("cause", key(20), nullable=True),
        sa.Column("answer_until", Instant, nullable=True),
        sa.Column("answer_reason", sa.String(length=500), nullable=True),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("answer in ('go', 'wait')", name=op.f("ck_source_gates_answer")),
        sa.CheckConstraint("state in ('CLOSED', 'OPEN', 'HALF_OPEN', 'HALTED')", name=op.f("ck_source_gates_state")),
        sa.PrimaryKeyConstraint("source", "endpoint"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "gate_decisions",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("endpoint", key(100), nullable=False),
        sa.Column("answer", key(20), nullable=False),
        sa.Column("until", Instant, nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.CheckConstraint("answer in ('go', 'wait')", name=op.f("ck_gate_decisions_answer")),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_gate_decisions_source", "gate_decisions", ["source", "id"], if_not_exists=True)
    op.create_table(
        "source_decisions",
        sa.Column("source", key(100), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("why", sa.String(length=1000), nullable=False),
        sa.Column("decided_by", sa.String(length=200), nullable=False),
        sa.Column("decided_at", Instant, nullable=False),
        sa.Column("robots", Payload, nullable=True),
        sa.Column("robots_fetched_at", Instant, nullable=True),
        sa.PrimaryKeyConstraint("source"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )


def make_pages() -> None:
    op.create_table(
        "raw_pages",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("endpoint", key(100), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("url_hash", key(64), nullable=True),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("headers", Payload, nullable=True),
        sa.Column("media", sa.String(length=200), nullable=True),
        sa.Column("size", Id, nullable=False),
        sa.Column("fetched_at", Instant, nullable=False),
        sa.Column("job_id", Id, nullable=True),
        sa.Column("task_id", Id, nullable=True),
        sa.Column("etag", sa.String(length=300), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_raw_pages_sha256", "raw_pages", ["sha256"], if_not_exists=True)
    op.create_index("ix_raw_pages_source", "raw_pages", ["source", "endpoint", "fetched_at"], if_not_exists=True)
    op.create_index("ix_raw_pages_url", "raw_pages", ["url_hash", "id"], if_not_exists=True)
    op.create_table(
        "list_pages",
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("ask_key", key(64), nullable=False),
        sa.Column("endpoint", key(100), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("total", Id, nullable=True),
        sa.Column("is_last", sa.Boolean(), nullable=False),
        sa.Column("listed_keys", Payload, nullable=False),
        sa.Column("raw_id", Id, nullable=True),
        sa.PrimaryKeyConstraint("job_id", "ask_key"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "fetch_counts",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("day", key(10), nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("target", key(300), nullable=False),
        sa.Column("endpoint", key(100), nullable=False),
        sa.Column("job_id", Id, nullable=True),
        sa.Column("success", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("failure", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("retries", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("throttled", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("not_modified", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("items", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("changed", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("bytes", Id, server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_fetch_counts_day", "fetch_counts", ["day", "source", "target", "endpoint"], if_not_exists=True)
    op.create_index("ix_fetch_counts_job", "fetch_counts", ["job_id"], if_not_exists=True)


def make_writes() -> None:
    op.create_table(
        "held_writes",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("target", key(300), nullable=False),
        sa.Column("record_key", key(200), nullable=False),
        sa.Column("record_id", Id, nullable=True),
        sa.Column("stream", key(100), nullable=False),
        sa.Column("digest", key(64), nullable=True),
        sa.Column("guard", key(50), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("reading", Payload, nullable=False),
        sa.Column("before_data", Payload, nullable=True),
        sa.Column("after_data", Payload, nullable=True),
        sa.Column("raw_id", Id, nullable=True),
        sa.Column("job_id", Id, nullable=True),
        sa.Column("readings", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("state", key(20), server_default="HELD", nullable=False),
        sa.Column("open_key", key(410), nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("decided_at", Instant, nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.CheckConstraint(
            "state in ('HELD', 'APPROVED', 'REJECTED', 'SUPERSEDED')", name=op.f("ck_held_writes_state")
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("open_key", name=op.f("uq_held_writes_open_key")),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_held_writes_raw", "held_writes", ["raw_id"], if_not_exists=True)
    op.create_index(
        "ix_held_writes_record", "held_writes", ["source", "record_key", "stream", "digest"], if_not_exists=True
    )
    op.create_index("ix_held_writes_state", "held_writes", ["state", "id"], if_not_exists=True)
    op.create_table(
        "collect_runs",
        sa.Column("job_id", Id, autoincrement=False, nullable=False),
        sa.Column("source", key(100), nullable=False),
        sa.Column("target", key(300), nullable=False),
        sa.Column("scope", key(300), nullable=False),
        sa.Column("mode", key(20), nullable=False),
        sa.Column("known", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("total", Id, nullable=True),
        sa.Column("pages_expected", sa.Integer(), nullable=True),
        sa.Column("pages_read", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("listed", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("new", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("changed", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("held", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("missed", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("absent", Id, server_default=sa.text("0"), nullable=False),
        sa.Column("unknown", Payload, nullable=True),
        sa.Column("state", key(20), server_default="OPEN", nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("tripped", key(50), nullable=True),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("closed_at", Instant, nullable=True),
        sa.CheckConstraint("mode in ('FULL', 'PARTIAL')", name=op.f("ck_collect_runs_mode")),
        sa.CheckConstraint("state in ('OPEN', 'PROVED', 'UNPROVED')", name=op.f("ck_collect_runs_state")),
        sa.PrimaryKeyConstraint("job_id"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_collect_runs_scope", "collect_runs", ["source", "scope", "started_at"], if_not_exists=True)
