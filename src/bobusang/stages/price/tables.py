"""The price stage's tables: rates of exchange, dated rows of what things cost, other offers, policies and quotes."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, UniqueConstraint, false, text, true

from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial
from bobusang.stages.price.model import Decision, FxState, Search
from bobusang.stages.price.rates import FeeKind, Leg

SOURCE_LENGTH = 300
REASON_LENGTH = 500
MODEL_LENGTH = 100
SELLER_LENGTH = 200
WORD_LENGTH = 50
CATEGORY_LENGTH = 200


def _word(name: str, length: int = WORD_LENGTH) -> Column[str]:
    return Column(name, key(length), nullable=False, server_default="")


def _exact(name: str) -> Column[str]:
    """A decimal as text: no database rounds it."""
    return Column(name, key(40), nullable=False)


def _amount(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Id, nullable=null, server_default=None if null else text("0"))


fx_quotes = Table(
    "fx_quotes",
    metadata,
    serial(),
    Column("base", key(3), nullable=False),
    Column("quote", key(3), nullable=False),
    _exact("rate"),
    _exact("spread"),
    Column("source", key(SOURCE_LENGTH), nullable=False),
    at("quoted_at"),
    choice("state", FxState, default=FxState.TRUSTED),
    Column("reason", String(REASON_LENGTH), nullable=False, server_default=""),
    Column("decided_by", String(200)),
    at("decided_at", null=True),
    at("created_at"),
    UniqueConstraint("base", "quote", "source", "quoted_at"),
    allowed("state", FxState),
    Index("ix_fx_quotes_pair", "base", "quote", "state", "quoted_at"),
    Index("ix_fx_quotes_state", "state", "id"),
    sqlite_autoincrement=True,
)

market_fees = Table(
    "market_fees",
    metadata,
    serial(),
    Column("market", key(WORD_LENGTH), nullable=False),
    choice("kind", FeeKind),
    _word("tier"),
    _word("category", CATEGORY_LENGTH),
    Column("valid_from", key(10), nullable=False),
    _exact("rate"),
    _amount("amount"),
    Column("currency", key(3), nullable=False),
    Column("source", String(SOURCE_LENGTH), nullable=False),
    UniqueConstraint("market", "kind", "tier", "category", "valid_from", name="uq_market_fees_row"),
    allowed("kind", FeeKind),
    sqlite_autoincrement=True,  # the highest number tells that rows have changed
)

freight_rates = Table(
    "freight_rates",
    metadata,
    serial(),
    choice("leg", Leg),
    Column("route", key(WORD_LENGTH), nullable=False),
    _word("category", CATEGORY_LENGTH),
    Column("up_to_grams", Integer, nullable=False),
    Column("valid_from", key(10), nullable=False),
    _amount("amount"),
    Column("currency", key(3), nullable=False),
    Column("source", String(SOURCE_LENGTH), nullable=False),
    UniqueConstraint("leg", "route", "category", "up_to_grams", "valid_from", name="uq_freight_rates_row"),
    allowed("leg", Leg),
    sqlite_autoincrement=True,  # the highest number tells that rows have changed
)

duty_rates = Table(
    "duty_rates",
    metadata,
    serial(),
    Column("country", key(2), nullable=False),
    _word("category", CATEGORY_LENGTH),
    _word("material"),
    _word("construction"),
    Column("valid_from", key(10), nullable=False),
    _exact("rate"),
    _amount("least"),
    Column("is_exemptable", Boolean, nullable=False, server_default=true()),
    _amount("up_to"),
    Column("source", String(SOURCE_LENGTH), nullable=False),
    UniqueConstraint(
        "country", "category", "material", "construction", "up_to", "valid_from", name="uq_duty_rates_row"
    ),
    sqlite_autoincrement=True,  # the highest number tells that rows have changed
)

import_taxes = Table(
    "import_taxes",
    metadata,
    serial(),
    Column("country", key(2), nullable=False),
    Column("valid_from", key(10), nullable=False),
    _exact("taxable_share"),
    _amount("exempt_up_to"),
    _exact("consumption_rate"),
    _amount("clearance"),
    Column("currency", key(3), nullable=False),
    Column("source", String(SOURCE_LENGTH), nullable=False),
    UniqueConstraint("country", "valid_from"),
    sqlite_autoincrement=True,  # the highest number tells that rows have changed
)

price_policies = Table(
    "price_policies",
    metadata,
    serial(),
    Column("market", key(WORD_LENGTH), nullable=False),
    _word("account", 100),  # '': all accounts of the market without a row of their own
    Column("policy", Payload, nullable=False),
    Column("decided_by", String(200), nullable=False),
    at("decided_at"),
    UniqueConstraint("market", "account"),
)

competitor_prices = Table(
    "competitor_prices",
    metadata,
    serial(),
    Column("market", key(WORD_LENGTH), nullable=False),
    Column("model", key(MODEL_LENGTH), nullable=False),  # normalised: rivals.model_key
    choice("search", Search, default=Search.NEVER),
    _amount("total", null=True),  # of the last search that succeeded; a failed one leaves it
    Column("currency", key(3)),
    Column("seller", String(SELLER_LENGTH), nullable=False, server_default=""),
    Column("title", String(500), nullable=False, server_default=""),
    _amount("offers"),
    _amount("comparable"),
    Column("excluded", Payload),
    at("found_at", null=True),
    at("checked_at", null=True),
    Column("failures", Integer, nullable=False, server_default=text("0")),  # in a row
    Column("interval_seconds", Integer, nullable=False),
    at("due_at"),
    UniqueConstraint("market", "model"),
    allowed("search", Search),
    Index("ix_competitor_prices_due", "market", "due_at", "id"),
)

price_quotes = Table(
    "price_quotes",
    metadata,
    serial(),
    Column("product_id", Id, nullable=False),
    Column("sku", key(200), nullable=False),
    Column("market", key(WORD_LENGTH), nullable=False),
    Column("account", key(100), nullable=False),
    choice("decision", Decision),
    Column("reason", key(40), nullable=False),
    Column("detail", String(REASON_LENGTH), nullable=False, server_default=""),
    _amount("price", null=True),
    _amount("floor", null=True),
    _amount("ceiling", null=True),
    _amount("confirmed", null=True),  # what the market had at that time
    Column("currency", key(3), nullable=False),
    Column("is_below_floor", Boolean, nullable=False, server_default=false()),
    Column("fx_quote_id", Id),
    Column("competitor", Payload),
    Column("steps", Payload, nullable=False),
    Column("rules", key(20), nullable=False),
    at("created_at"),
    Index("ix_price_quotes_product", "product_id", "market", "account", "id"),
    Index("ix_price_quotes_sku", "sku", "id"),
    Index("ix_price_quotes_below", "is_below_floor", "id"),
    sqlite_autoincrement=True,
)
