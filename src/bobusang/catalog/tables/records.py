"""Source records, their versions, what changed in each field, where it came from, and when it was last seen."""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, Table, UniqueConstraint

from bobusang.catalog.model import ProcessingStatus, SourceType
from bobusang.kit.schema import Id, Json, Payload, allowed, at, choice, key, metadata, serial

SYSTEM_LENGTH = 50
ID_LENGTH = 100
SCOPE_LENGTH = 255
FIELD_LENGTH = 255
READER_LENGTH = 100
STREAM_LENGTH = 50

# One row a thing: what is asked for every item of every page, so it is narrow and knows the digests by heart.
source_records = Table(
    "source_records",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    choice("source_type", SourceType),
    Column("source_system", key(SYSTEM_LENGTH), nullable=False),
    Column("source_id", key(ID_LENGTH), nullable=False),
    Column("version", Integer, nullable=False),
    Column("version_id", Id, nullable=False),  # source_data.id of the current version
    Column("digests", Payload, nullable=False),  # {stream: digest of what it said last}
    Column("hashes", Payload, nullable=False),  # {group: hash of its fields}
    Column("quality", Double),  # ai_data.quality_score of the current version, where an index can find it
    at("last_changed_at"),
    at("created_at"),
    allowed("source_type", SourceType),
    UniqueConstraint("source_type", "source_system", "source_id", name="uq_source_records_key"),
    Index("ix_source_records_changed", "source_system", "last_changed_at", "id"),
    Index("ix_source_records_quality", "quality", "id"),
)

# One row a version, never changed but for what is learned of it later: market_data, ai_data, processing_status.
source_data = Table(
    "source_data",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("record_id", Id, nullable=False),
    choice("source_type", SourceType),
    Column("source_system", key(SYSTEM_LENGTH), nullable=False),
    Column("source_id", key(ID_LENGTH), nullable=False),
    Column("version", Integer, nullable=False),
    Column("raw_data", Json, nullable=False),  # what the page said that made this version
    Column("normalized_data", Json, nullable=False),  # the truth: all pages together
    Column("market_data", Json),
    Column("ai_data", Json),
    Column("hash", key(64), nullable=False),
    choice("processing_status", ProcessingStatus),
    Column("workflow_id", key(100)),
    at("created_at"),
    at("updated_at"),
    at("last_changed_at"),
    allowed("source_type", SourceType),
    allowed("processing_status", ProcessingStatus),
    # Its beginning is [C]'s index over (source_type, source_system), and all of it the way to a record's history.
    UniqueConstraint("source_type", "source_system", "source_id", "version", name="uq_source_data_version"),
    Index("ix_source_data_source", "source_system", "source_id"),
    Index("ix_source_data_status", "processing_status", "created_at"),
    Index("ix_source_data_workflow", "workflow_id", "processing_status"),
)

field_changes = Table(
    "field_changes",
    metadata,
    serial(),
    Column("record_id", Id, nullable=False),
    Column("version", Integer, nullable=False),
    Column("field", key(FIELD_LENGTH), nullable=False),
    Column("group_name", key(50), nullable=False),
    Column("old_value", Payload, nullable=False),
    Column("new_value", Payload, nullable=False),
    at("changed_at"),
    Column("raw_id", Id),
    Column("reader", key(READER_LENGTH), nullable=False),
    Column("stream", key(STREAM_LENGTH), nullable=False),
    Index("ix_field_changes_record", "record_id", "version", "id"),
    Index("ix_field_changes_field", "record_id", "field", "version"),
)

data_lineage = Table(
    "data_lineage",
    metadata,
    serial(),
    Column("parent_id", Id),  # source_data.id; none for what came from a page alone
    Column("child_id", Id, nullable=False),
    Column("transformation_type", key(50), nullable=False),
    Column("transformation_metadata", Payload, nullable=False),
    Column("raw_id", Id),
    Column("reader", key(READER_LENGTH), nullable=False),
    at("created_at"),
    Index("ix_data_lineage_child", "child_id", "id"),
    Index("ix_data_lineage_parent", "parent_id", "id"),
    Index("ix_data_lineage_raw", "raw_id"),  # may this archived page be thrown away?
)

seen_scopes = Table(
    "seen_scopes",
    metadata,
    serial(),
    Column("source_system", key(SYSTEM_LENGTH), nullable=False),
    Column("name", key(SCOPE_LENGTH), nullable=False),
    UniqueConstraint("source_system", "name", name="uq_seen_scopes_name"),
)

# Touched for every item of every page: narrow, and no index over anything that a touch changes, so that on PostgreSQL
# the update stays on its page (DECISIONS 16: 142-179 thousand rows a second, in the wide row 3.7).
source_seen = Table(
    "source_seen",
    metadata,
    Column("scope_id", Id, primary_key=True, autoincrement=False),
    Column("record_id", Id, primary_key=True, autoincrement=False),
    at("last_seen_at"),
    Column("last_run", Id, nullable=False),
    Column("missed", Integer, nullable=False),
    Column("missed_run", Id, nullable=False),
    Column("interval_seconds", Integer, nullable=False),
    Index("ix_source_seen_record", "record_id"),
    sqlite_with_rowid=False,
)

# What market_data says of a record, where all three databases find it by an index: `jsonb_path_ops` has no operator
# for "has this market", and the others have no index into JSON at all.
source_markets = Table(
    "source_markets",
    metadata,
    Column("market", key(50), primary_key=True),
    Column("record_id", Id, primary_key=True, autoincrement=False),
    Column("status", key(50), nullable=False),
    at("last_sync"),  # 1970 when never: the databases disagree on where NULL is sorted
    Index("ix_source_markets_status", "market", "status", "record_id"),
    Index("ix_source_markets_sync", "market", "last_sync", "record_id"),
    Index("ix_source_markets_record", "record_id"),
)
