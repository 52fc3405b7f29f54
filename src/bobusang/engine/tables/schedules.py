"""Schedules and their fires."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, text, true

from bobusang.engine.calendar.misfire import Misfire, Overlap
from bobusang.engine.model import JobType, ScheduleType
from bobusang.engine.tables.targets import crawl_targets
from bobusang.engine.tables.workflows import crawling_workflows
from bobusang.kit.schema import Id, Instant, Payload, allowed, at, choice, key, metadata, serial

crawling_schedules = Table(
    "crawling_schedules",
    metadata,
    serial(),
    Column("workflow_id", Id, ForeignKey(crawling_workflows.c.id), nullable=False),
    Column("target_id", Id, ForeignKey(crawl_targets.c.id)),
    choice("schedule_type", ScheduleType),
    Column("cron_expression", String(100)),
    Column("is_active", Boolean, nullable=False, server_default=true()),
    Column("priority", Integer, nullable=False, server_default=text("5")),
    at("next_run_at", null=True),
    at("last_run_at", null=True),
    at("created_at"),
    at("updated_at"),
    at("deleted_at", null=True),
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
    at("previous_fire_at", null=True),
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
    at("created_at"),
    Index("ix_schedule_fires_created_at", "created_at"),
)
