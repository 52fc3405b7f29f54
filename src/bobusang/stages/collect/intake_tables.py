"""What comes in other than by our asking: suppliers' files and webhooks; and how far a source was followed in time."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Column, Index, Integer, String, Table, UniqueConstraint, text

from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

SOURCE_LENGTH = 50
ERROR_LENGTH = 500


class FileState(StrEnum):
    """What became of a supplier's file."""

    RECEIVED = "RECEIVED"
    PREVIEWED = "PREVIEWED"
    IMPORTING = "IMPORTING"
    DONE = "DONE"
    FAILED = "FAILED"
    DISCARDED = "DISCARDED"


class EventState(StrEnum):
    """What became of a webhook that a supplier sent."""

    RECEIVED = "RECEIVED"
    DONE = "DONE"
    FAILED = "FAILED"


# Up to when a source was followed by windows of time; moved when a window is stored, never before.
sync_marks = Table(
    "sync_marks",
    metadata,
    Column("source", key(SOURCE_LENGTH), primary_key=True),
    Column("stream", key(SOURCE_LENGTH), primary_key=True),
    Column("target", key(255), primary_key=True, server_default=""),
    at("until"),
    at("updated_at"),
)

supplier_files = Table(
    "supplier_files",
    metadata,
    serial(),
    Column("supplier", key(SOURCE_LENGTH), nullable=False),
    Column("name", String(255), nullable=False),
    Column("sha256", key(64), nullable=False),
    Column("size", Id, nullable=False),
    choice("state", FileState, default=FileState.RECEIVED),
    Column("sheet", String(100), nullable=False, server_default=""),
    Column("rows", Integer, nullable=False, server_default=text("0")),
    Column("accepted", Integer, nullable=False, server_default=text("0")),
    Column("refused", Integer, nullable=False, server_default=text("0")),
    Column("mapping", Payload),
    Column("report", Payload),
    Column("job_id", Id),
    Column("created_by", String(100), nullable=False),
    at("created_at"),
    at("updated_at"),
    Index("ix_supplier_files_supplier", "supplier", "id"),
    Index("ix_supplier_files_content", "supplier", "sha256"),
    Index("ix_supplier_files_state", "state", "id"),
    allowed("state", FileState),
    sqlite_autoincrement=True,
)

inbound_events = Table(
    "inbound_events",
    metadata,
    serial(),
    Column("source", key(SOURCE_LENGTH), nullable=False),
    Column("event", key(200), nullable=False),
    Column("sha256", key(64), nullable=False),
    choice("state", EventState, default=EventState.RECEIVED),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("error", String(ERROR_LENGTH)),
    at("received_at"),
    at("done_at", null=True),
    UniqueConstraint("source", "event"),
    Index("ix_inbound_events_state", "state", "id"),
    allowed("state", EventState),
    sqlite_autoincrement=True,
)
