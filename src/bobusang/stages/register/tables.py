"""The register stage's tables: accounts, listings, calls from intent to read-back, holds, webhooks and the call ledger.

An account names its secrets, it never holds them. A call is its own receipt: each of its times is a column.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Boolean, Column, Index, Integer, LargeBinary, String, Table, UniqueConstraint, text, true
from sqlalchemy.dialects.mysql import LONGBLOB

from bobusang.kit.schema import Id, Instant, Payload, allowed, at, choice, key, metadata, serial
from bobusang.stages.register.diffing import Kind
from bobusang.stages.register.market import Cause, Family
from bobusang.stages.register.model import State

GOODS_LENGTH = 310
Raw = LargeBinary().with_variant(LONGBLOB(), "mysql", "mariadb")


class CallState(StrEnum):
    """INTENT ─▶ ACCEPTED | UNKNOWN ─▶ CONFIRMED | REJECTED; LOST asks a person; CANCELLED and SUPERSEDED are over."""

    INTENT = "INTENT"
    ACCEPTED = "ACCEPTED"
    UNKNOWN = "UNKNOWN"
    LOST = "LOST"
    CONFIRMED = "CONFIRMED"
    REJECTED = "REJECTED"
    CANCELLED = "CANCELLED"
    SUPERSEDED = "SUPERSEDED"

    @property
    def is_open(self) -> bool:
        return self in (CallState.INTENT, CallState.ACCEPTED, CallState.UNKNOWN, CallState.LOST)


class HoldState(StrEnum):
    """What became of a send that a guard stopped."""

    HELD = "HELD"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    SUPERSEDED = "SUPERSEDED"


class InboxState(StrEnum):
    """What became of a webhook."""

    RECEIVED = "RECEIVED"
    APPLIED = "APPLIED"
    STALE = "STALE"
    UNMATCHED = "UNMATCHED"
    UNREADABLE = "UNREADABLE"
    CONFLICT = "CONFLICT"
    OTHER = "OTHER"
    FORGED = "FORGED"


market_accounts = Table(
    "market_accounts",
    metadata,
    serial(),
    Column("market", key(50), nullable=False),
    Column("name", key(100), nullable=False),
    Column("buying_area", key(20), nullable=False),
    Column("shipping_area", key(20), nullable=False),
    Column("shipping_methods", Payload, nullable=False),
    Column("shop_name", String(100), nullable=False, server_default=""),
    Column("duty", key(20), nullable=False, server_default=""),
    Column("fee_tier", key(50), nullable=False, server_default=""),
    Column("token_ref", String(200), nullable=False, server_default=""),
    Column("secret_ref", String(200), nullable=False, server_default=""),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("stopped_why", String(500), nullable=False, server_default=""),
    at("blocked_until", null=True),  # the market asked for a rest
    Column("policy", Payload, nullable=False),
    at("created_at"),
    at("updated_at"),
    Column("seller_name", String(100), nullable=False, server_default=""),
    Column("shipping_charge", Id),
    UniqueConstraint("market", "name"),
    sqlite_autoincrement=True,
)

listings = Table(
    "listings",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # of the sequence listing_ids
    Column("account_id", Id, nullable=False),
    Column("product_id", Id, nullable=False),
    Column("sku", key(310), nullable=False),
    Column("reference", key(40), unique=True),  # issued once, just before the first send; never again
    Column("market_id", key(40)),
    choice("state", State, default=State.NEW),
    Column("confirmed", Payload),
    Column("market_updated", key(40), nullable=False, server_default=""),
    Column("drift", Payload),
    Column("open_call", Id),
    Column("refusal_cause", key(20)),
    Column("refusal_digest", key(64)),
    at("refusal_until", null=True),
    Column("refusal_words", String(500)),
    Column("day", key(10)),
    Column("day_price", Id),
    Column("available_until", key(10)),
    at("confirmed_at", null=True),
    at("created_at"),
    at("updated_at"),
    Column("shipping_charge", Id),  # beside the price, as the market tells it
    at("closed_at", null=True),  # by a person, and until one opens it again
    Column("closed_by", String(200)),
    Column("closed_why", String(500)),
    at("unseen_at", null=True),  # since when people know that nobody has seen its source for long
    Column("retired", Id, nullable=False, server_default=text("0")),  # its own id once its product began anew, else 0
    UniqueConstraint("account_id", "product_id", "retired"),
    UniqueConstraint("account_id", "market_id"),
    Index("ix_listings_state", "account_id", "state", "id"),
    Index("ix_listings_until", "account_id", "available_until"),
    Index("ix_listings_sku", "sku"),
    Index("ix_listings_refused", "refusal_cause"),
    Index("ix_listings_closed", "closed_at"),
    Index("ix_listings_unseen", "unseen_at"),
    allowed("state", State),
)

market_calls = Table(
    "market_calls",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),  # of the sequence market_call_ids
    Column("listing_id", Id, nullable=False),
    Column("account_id", Id, nullable=False),
    Column("run_id", key(100), nullable=False),
    choice("kind", Kind),
    choice("family", Family),
    Column("urgency", Integer, nullable=False),
    Column("path", String(200), nullable=False),
    Column("payload", Payload, nullable=False),
    Column("draft", Payload, nullable=False),
    choice("state", CallState, default=CallState.INTENT),
    Column("open_key", Id, unique=True),  # the listing while the call is open: two at once cannot be
    Column("token", Id, nullable=False, server_default=text("1")),  # whoever holds an older one changes nothing
    Column("sends", Integer, nullable=False, server_default=text("1")),
    at("due_at"),  # when the same is sent again, unless the market has spoken
    Column("request_uid", key(100)),
    Column("answer", Payload),
    Column("problems", Payload),
    choice("cause", Cause, null=True),
    Column("drift", Payload),
    Column("quote", key(100), nullable=False, server_default=""),
    at("seen_at", null=True),
    at("changed_at", null=True),
    at("decided_at", null=True),
    at("created_at"),
    at("sent_at", null=True),
    at("accepted_at", null=True),
    at("confirmed_at", null=True),
    at("read_back_at", null=True),
    at("updated_at"),
    Index("ix_market_calls_listing", "listing_id", "id"),
    Index("ix_market_calls_due", "account_id", "state", "due_at"),
    Index("ix_market_calls_run", "account_id", "run_id", "kind"),
    Index("ix_market_calls_kind", "account_id", "kind", "created_at"),
    allowed("kind", Kind),
    allowed("family", Family),
    allowed("state", CallState),
    allowed("cause", Cause),
)

listing_holds = Table(
    "listing_holds",
    metadata,
    serial(),
    Column("account_id", Id, nullable=False),
    Column("listing_id", Id, nullable=False),
    Column("run_id", key(100), nullable=False),
    Column("guard", key(50), nullable=False),
    Column("reason", String(500), nullable=False),
    Column("digest", key(64), nullable=False),
    choice("state", HoldState, default=HoldState.HELD),
    Column("open_key", key(80), unique=True),  # `listing/guard` while HELD, else NULL
    Column("times", Integer, nullable=False, server_default=text("1")),
    at("created_at"),
    at("updated_at"),
    at("decided_at", null=True),
    Column("decided_by", String(200)),
    Index("ix_listing_holds_state", "account_id", "state", "id"),
    Index("ix_listing_holds_listing", "listing_id", "state"),
    Index("ix_listing_holds_run", "account_id", "run_id", "guard"),
    Index("ix_listing_holds_open", "state", "id"),
    allowed("state", HoldState),
    sqlite_autoincrement=True,
)

webhook_inbox = Table(
    "webhook_inbox",
    metadata,
    serial(),
    Column("account_id", Id, nullable=False),
    Column("dedupe", key(64), nullable=False),  # of verdict, event and body: a forgery must not shadow the real one
    Column("headers", Payload, nullable=False),
    Column("body", Raw, nullable=False),
    Column("genuine", Boolean, nullable=False),
    choice("state", InboxState, default=InboxState.RECEIVED),
    Column("times", Integer, nullable=False, server_default=text("1")),
    Column("listing_id", Id),
    Column("call_id", Id),
    Column("note", String(500), nullable=False, server_default=""),
    at("received_at"),
    at("applied_at", null=True),
    UniqueConstraint("account_id", "dedupe"),
    Index("ix_webhook_inbox_state", "account_id", "state", "id"),
    allowed("state", InboxState),
    sqlite_autoincrement=True,
)

call_ledger = Table(
    "call_ledger",
    metadata,
    Column("account_id", Id, primary_key=True, autoincrement=False),
    Column("slot", Instant, primary_key=True),
    Column("family", key(20), primary_key=True),
    Column("calls", Integer, nullable=False),
    allowed("family", Family),
)

# Which product an account sells of goods that several malls have: claimed in the transaction that decides to send.
listing_claims = Table(
    "listing_claims",
    metadata,
    Column("account_id", Id, primary_key=True, autoincrement=False),
    Column("goods", key(GOODS_LENGTH), primary_key=True),  # brand and model number
    Column("product_id", Id, nullable=False),
    Column("mall", key(100), nullable=False),
    at("claimed_at"),
    Index("ix_listing_claims_product", "account_id", "product_id"),
)
TABLES = (market_accounts, listings, market_calls, listing_holds, webhook_inbox, call_ledger, listing_claims)
