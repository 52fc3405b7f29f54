"""The queue: lanes and budgets, and the places where an entry can stand."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
    text,
)

from bobusang.engine.model import HeldReason
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

lanes = Table(
    "lanes",
    metadata,
    serial(),
    Column("handler", key(100), nullable=False),
    Column("job_id", Id, nullable=False, server_default=text("0")),  # 0: shared by all jobs
    Column("pools", key(300), nullable=False, server_default=text("''")),
    UniqueConstraint("handler", "job_id", "pools"),
    Index("ix_lanes_job", "job_id"),
    sqlite_autoincrement=True,  # workers remember lanes; a new one must not look like one that is gone
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
    Column("rate", Double),  # tokens a second
    Column("burst", Double),
    Column("tokens", Double, nullable=False, server_default=text("0")),
    at("refilled_at", null=True),
    Column("max_in_flight", Integer),
    Column("counts_batches", Boolean, nullable=False, server_default=false()),
    at("blocked_until", null=True),
    Column("reason", String(500)),
    at("updated_at"),
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
    at("run_at"),
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
    at("until", null=True),
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
    at("claimed_at"),
    at("deadline_at"),
    sqlite_autoincrement=True,  # never give a token twice
)

waits = Table(
    "waits",
    metadata,
    Column("wait_key", key(200), primary_key=True),
    Column("task_id", Id),
    Column("signal_data", Payload),
    at("signalled_at", null=True),
    at("created_at"),
    Index("ix_waits_created_at", "created_at"),
)
