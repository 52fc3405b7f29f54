"""The platform's tables: outbox and what became of its events, audit log, alerts, replies to be given again,
rebuilds of the search index.

An event is written once into `outbox`, in the transaction that changed the data. The relay moves it, in one short
transaction, into one row of `deliveries` for each subscription that wants it, so `outbox` holds only what nobody has
looked at yet and needs no count of who has had what. A copied payload costs less than the shared row would: two
relays that each deliver the last copy of an event cannot see each other, and would both leave the shared row behind.

`delivery_keys` has one row for each (subscription, key) with something to deliver. It is what is claimed, leased and
put off, so the events of a key stay in order and waiting costs one row, however many events wait behind it.

The ordering key is called `event_key`, for `key` is a reserved word of MariaDB.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table, Text

from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial
from bobusang.platform.notifier import Level


class SubscriptionState(StrEnum):
    """Whether a subscriber is being sent anything; while paused its deliveries are kept."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"


class DeliveryState(StrEnum):
    """Still to be delivered, or given up until a person re-drives it."""

    PENDING = "PENDING"
    DEAD = "DEAD"


class Owed(StrEnum):
    """The message about an alert that has not been sent yet."""

    OPENED = "OPENED"
    REMINDER = "REMINDER"
    RECOVERY = "RECOVERY"
    NOTHING = "NOTHING"


outbox = Table(
    "outbox",
    metadata,
    serial(),
    Column("topic", key(100), nullable=False),
    Column("event_key", key(200), nullable=False),
    Column("payload", Payload, nullable=False),
    Column("headers", Payload),
    at("created_at"),
    sqlite_autoincrement=True,  # an emptied table must not give the ids of old events to new ones
)

subscriptions = Table(
    "subscriptions",
    metadata,
    serial(),
    Column("name", key(100), nullable=False, unique=True),
    Column("topics", String(1000), nullable=False),
    Column("url", String(1000), nullable=False),
    Column("secret", String(500)),
    choice("state", SubscriptionState, default=SubscriptionState.ACTIVE),
    Column("paused_reason", String(500)),
    # A subscriber that cannot be reached, or asked for a rest, is left alone as a whole until then.
    at("hold_until", null=True),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("last_error", String(500)),
    at("created_at"),
    at("updated_at"),
    allowed("state", SubscriptionState),
    sqlite_autoincrement=True,
)

deliveries = Table(
    "deliveries",
    metadata,
    # In this order: a primary key that begins with the subscription tempts each of the three databases to find the
    # events of a few keys by walking over all that the subscription has waiting (25 s instead of 4 ms on MariaDB).
    Column("event_id", Id, primary_key=True, autoincrement=False),
    Column("subscription_id", Id, ForeignKey("subscriptions.id", ondelete="CASCADE"), primary_key=True),
    Column("topic", key(100), nullable=False),
    Column("event_key", key(200), nullable=False),
    Column("payload", Payload, nullable=False),
    Column("headers", Payload),
    at("created_at"),
    choice("state", DeliveryState),
    at("since"),  # in this state
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("last_error", String(500)),
    allowed("state", DeliveryState),
    # The first events of a key, in order, without walking over its dead ones.
    Index("ix_deliveries_order", "subscription_id", "state", "event_key", "event_id"),
    # What has been waiting, or dead, for too long. (With the state in front it would be taken for a way to the events.)
    Index("ix_deliveries_since", "since"),
)

delivery_keys = Table(
    "delivery_keys",
    metadata,
    Column("subscription_id", Id, ForeignKey("subscriptions.id", ondelete="CASCADE"), primary_key=True),
    Column("event_key", key(200), primary_key=True),
    at("next_at"),  # a claim moves it to the end of its lease, a failure to the end of the back-off
    Column("token", key(32)),
    Index("ix_delivery_keys_due", "subscription_id", "next_at"),
)

audit_log = Table(
    "audit_log",
    metadata,
    serial(),
    at("at"),
    Column("actor", String(200), nullable=False),
    Column("action", key(100), nullable=False),
    Column("subject_type", key(100), nullable=False),
    Column("subject_id", key(200), nullable=False),
    Column("before_data", Payload),
    Column("after_data", Payload),
    Index("ix_audit_log_subject", "subject_type", "subject_id", "id"),
    Index("ix_audit_log_at", "at"),
    sqlite_autoincrement=True,
)

alerts = Table(
    "alerts",
    metadata,
    serial(),
    Column("alert_key", key(200), nullable=False, unique=True),
    Column("rule", key(100), nullable=False),
    choice("level", Level),
    Column("title", String(300), nullable=False),
    Column("text", Text, nullable=False),
    Column("link", String(1000)),
    Column("fields", Payload),
    at("opened_at"),
    at("last_notified_at", null=True),
    at("resolved_at", null=True),
    Column("count", Integer, nullable=False, server_default="1"),
    choice("owed", Owed),
    allowed("level", Level),
    allowed("owed", Owed),
    Index("ix_alerts_owed", "owed"),
    Index("ix_alerts_resolved", "resolved_at"),
)

# What was answered to a request that named itself, so that the same request sent twice is done once.
api_replies = Table(
    "api_replies",
    metadata,
    Column("actor", key(100), primary_key=True),
    Column("name", key(200), primary_key=True),  # the Idempotency-Key
    Column("digest", key(64), nullable=False),  # of method, path and body
    Column("status", Integer, nullable=False),
    Column("headers", Payload, nullable=False),
    Column("body", Payload, nullable=False),
    at("created_at"),
    Index("ix_api_replies_created", "created_at"),
)

# The last rebuild of an index that was asked for: who leads does it, everybody sees how far it is.
search_rebuilds = Table(
    "search_rebuilds",
    metadata,
    Column("name", key(100), primary_key=True),
    Column("number", Id, nullable=False),  # grows with each that is asked for; 0: none ever was
    Column("phase", key(20), nullable=False),
    Column("done", Id, nullable=False),
    Column("total", Id, nullable=False),
    Column("error", Text),  # why it failed
    at("asked_at"),
    at("ended_at", null=True),
)
