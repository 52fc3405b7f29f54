"""The collect stage's tables: identities, gates and their decisions, raw pages, held writes, runs and counts.

`token` and `cookies` of `crawl_agents` are secrets: no view shows them and no log has them.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Boolean, Column, Double, Index, Integer, String, Table, UniqueConstraint, false, text

from bobusang.catalog.tables.images import Rights
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial


class IdentityState(StrEnum):
    """Where an identity stands (drawn in `identity.py`)."""

    IDLE = "IDLE"
    ACTIVE = "ACTIVE"
    RATE_LIMITED = "RATE_LIMITED"
    DISABLED = "DISABLED"
    RECOVERED = "RECOVERED"


class BreakerState(StrEnum):
    """Where a breaker stands (drawn in `breaker.py`)."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"
    HALTED = "HALTED"


class AnswerWord(StrEnum):
    """What the gate said."""

    GO = "go"
    WAIT = "wait"


class HeldState(StrEnum):
    """What became of a write that a guard stopped."""

    HELD = "HELD"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    SUPERSEDED = "SUPERSEDED"


class RunMode(StrEnum):
    """Everything, or only price and stock of what is known."""

    FULL = "FULL"
    PARTIAL = "PARTIAL"


class RunState(StrEnum):
    """Whether a run has shown its list to be complete."""

    OPEN = "OPEN"
    PROVED = "PROVED"
    UNPROVED = "UNPROVED"


def _count(name: str) -> Column[int]:
    return Column(name, Id, nullable=False, server_default=text("0"))


crawl_agents = Table(
    "crawl_agents",
    metadata,
    serial(),
    Column("source", key(100), nullable=False),
    Column("place", Integer, nullable=False),  # 0 … size − 1; what lies beyond a pool that shrank is left alone
    Column("user_agent", String(500), nullable=False),
    Column("token", Payload),
    Column("cookies", Payload),
    at("token_expires_at", null=True),
    at("token_renew_at", null=True),
    choice("state", IdentityState, default=IdentityState.IDLE),
    Column("health", Integer, nullable=False, server_default=text("100")),
    Column("leased_by", key(200)),
    at("leased_until", null=True),
    _count("lease_number"),  # the fencing token: grows with every lease
    at("rest_until", null=True),
    Column("throttled_in_a_row", Integer, nullable=False, server_default=text("0")),
    at("last_throttled_at", null=True),
    at("forgiven_at", null=True),  # a throttling after this is the first in a row again
    Column("quota_left", Double),  # as the limiter said when it was last asked; an estimate, never a permission
    _count("calls"),
    _count("successes"),
    _count("throttles"),
    _count("failures"),
    at("last_used_at", null=True),
    at("created_at"),
    at("updated_at"),
    UniqueConstraint("source", "place"),
    allowed("state", IdentityState),
    sqlite_autoincrement=True,  # the limiter's buckets are named by it
)

# One row a source (endpoint '') for what concerns all of it, and one an endpoint that has had trouble.
source_gates = Table(
    "source_gates",
    metadata,
    Column("source", key(100), primary_key=True),
    Column("endpoint", key(100), primary_key=True),
    choice("state", BreakerState, default=BreakerState.CLOSED),
    at("window_started_at", null=True),
    Column("window_calls", Integer, nullable=False, server_default=text("0")),
    Column("window_failures", Integer, nullable=False, server_default=text("0")),
    Column("failures_in_a_row", Integer, nullable=False, server_default=text("0")),
    at("opened_at", null=True),
    at("open_until", null=True),
    at("closed_at", null=True),
    Column("times_opened", Integer, nullable=False, server_default=text("0")),
    _count("probe_number"),
    at("probe_until", null=True),
    Column("reason", String(500)),  # why it is open or halted
    at("blocked_until", null=True),  # the server asked for a rest
    Column("blocked_in_a_row", Integer, nullable=False, server_default=text("0")),
    at("forgiven_at", null=True),
    # The last answer; another one is a change, and is written into gate_decisions.
    choice("answer", AnswerWord, default=AnswerWord.GO),
    Column("cause", key(20)),
    at("answer_until", null=True),
    Column("answer_reason", String(500)),
    at("updated_at"),
    allowed("state", BreakerState),
    allowed("answer", AnswerWord),
)

gate_decisions = Table(
    "gate_decisions",
    metadata,
    serial(),
    at("at"),
    Column("source", key(100), nullable=False),
    Column("endpoint", key(100), nullable=False),
    choice("answer", AnswerWord),
    at("until", null=True),
    Column("reason", String(500), nullable=False),
    Index("ix_gate_decisions_source", "source", "id"),
    allowed("answer", AnswerWord),
    sqlite_autoincrement=True,
)

source_decisions = Table(
    "source_decisions",
    metadata,
    Column("source", key(100), primary_key=True),
    Column("enabled", Boolean, nullable=False, server_default=false()),
    Column("why", String(1000), nullable=False),
    Column("decided_by", String(200), nullable=False),
    at("decided_at"),
    Column("robots", Payload),
    at("robots_fetched_at", null=True),
    choice("rights", Rights, null=True),  # by what right its pictures are shown; NULL: nobody has said
)

raw_pages = Table(
    "raw_pages",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # of the sequence raw_page_ids
    Column("source", key(100), nullable=False),
    Column("endpoint", key(100), nullable=False),
    Column("url", String(2000), nullable=False),
    Column("url_hash", key(64)),  # SHA-256 of the address: an index over 2,000 characters is more than MariaDB makes
    Column("sha256", key(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", Payload),
    Column("media", String(200)),
    Column("size", Id, nullable=False),
    at("fetched_at"),
    Column("job_id", Id),
    Column("task_id", Id),
    Column("etag", String(300)),
    Index("ix_raw_pages_sha256", "sha256"),
    Index("ix_raw_pages_url", "url_hash", "id"),
    Index("ix_raw_pages_source", "source", "endpoint", "fetched_at"),
    Index("ix_raw_pages_task", "task_id"),
)

held_writes = Table(
    "held_writes",
    metadata,
    serial(),
    Column("source", key(100), nullable=False),
    Column("target", key(300), nullable=False),
    Column("record_key", key(200), nullable=False),
    Column("record_id", Id),
    Column("stream", key(100), nullable=False),
    Column("digest", key(64)),  # of what was read, so that a rejected reading is known again
    Column("guard", key(50), nullable=False),
    Column("reason", String(500), nullable=False),
    Column("reading", Payload, nullable=False),
    Column("before_data", Payload),
    Column("after_data", Payload),
    Column("raw_id", Id),
    Column("job_id", Id),
    Column("readings", Integer, nullable=False, server_default=text("1")),
    choice("state", HeldState, default=HeldState.HELD),
    Column("open_key", key(410), unique=True),  # `source/stream/record_key` while HELD, else NULL: one open a record
    at("created_at"),
    at("decided_at", null=True),
    Column("decided_by", String(200)),
    Index("ix_held_writes_state", "state", "id"),
    Index("ix_held_writes_record", "source", "record_key", "stream", "digest"),
    Index("ix_held_writes_raw", "raw_id"),
    allowed("state", HeldState),
    sqlite_autoincrement=True,
)

collect_runs = Table(
    "collect_runs",
    metadata,
    Column("job_id", Id, primary_key=True, autoincrement=False),
    Column("source", key(100), nullable=False),
    Column("target", key(300), nullable=False),
    Column("scope", key(300), nullable=False),
    choice("mode", RunMode),
    _count("known"),
    Column("total", Id),  # as the source announced it; NULL: it did not
    Column("pages_expected", Integer),
    Column("pages_read", Integer, nullable=False, server_default=text("0")),
    _count("listed"),
    _count("new"),
    _count("changed"),
    _count("held"),
    _count("missed"),  # not in the proved list, for the first time
    _count("absent"),  # missed so often that they are no longer listed
    Column("unknown", Payload),  # field → how many pages could not be read for it
    choice("state", RunState, default=RunState.OPEN),
    Column("reason", String(500)),
    Column("tripped", key(50)),  # the guard that holds all further changes of this run
    at("started_at"),
    at("closed_at", null=True),
    Index("ix_collect_runs_scope", "source", "scope", "started_at"),
    Index("ix_collect_runs_target", "source", "target", "job_id"),
    allowed("mode", RunMode),
    allowed("state", RunState),
)

# What each page of a run's list told, by the ask that brought it; the proof of coverage is made of it (coverage.py).
list_pages = Table(
    "list_pages",
    metadata,
    Column("job_id", Id, primary_key=True, autoincrement=False),
    Column("ask_key", key(64), primary_key=True),  # digest of the ask's name: a page read again replaces itself
    Column("endpoint", key(100), nullable=False),
    Column("page", Integer, nullable=False),
    Column("total", Id),  # as this page announced it
    Column("is_last", Boolean, nullable=False),
    Column("listed_keys", Payload, nullable=False),
    Column("raw_id", Id),
)

fetch_counts = Table(
    "fetch_counts",
    metadata,
    serial(),
    at("at"),
    Column("day", key(10), nullable=False),  # YYYY-MM-DD of the source's own zone
    Column("source", key(100), nullable=False),
    Column("target", key(300), nullable=False),
    Column("endpoint", key(100), nullable=False),
    Column("job_id", Id),
    _count("success"),
    _count("failure"),
    _count("retries"),
    _count("throttled"),
    _count("not_modified"),
    _count("items"),
    _count("changed"),
    _count("bytes"),
    Index("ix_fetch_counts_day", "day", "source", "target", "endpoint"),
    Index("ix_fetch_counts_job", "job_id"),
    Index("ix_fetch_counts_source", "source", "at"),
    sqlite_autoincrement=True,
)
