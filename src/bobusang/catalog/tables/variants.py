"""The options and variants of a product for a market: what the mall calls them beside what the market is told."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, Boolean, Column, Integer, String, Table, UniqueConstraint, false

from bobusang.catalog.tables.products import NAME_LENGTH
from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

MARKET_LENGTH = 50


class Axis(StrEnum):
    """What an option is a choice of."""

    COLOR = "color"
    SIZE = "size"


class StockKind(StrEnum):
    """What the mall claims of a variant's stock; unknown is neither none nor some."""

    COUNT = "count"
    IN = "in"
    OUT = "out"
    UNKNOWN = "unknown"


# Source code, source text and market text are three columns and never stand for one another: where the translated
# colour was the key, 5,320 good listings were deleted.
product_options = Table(
    "product_options",
    metadata,
    serial(),
    Column("product_id", Id, nullable=False),
    Column("market", key(MARKET_LENGTH), nullable=False),
    choice("axis", Axis),
    Column("source_key", key(NAME_LENGTH), nullable=False),  # the code, else the text: what it is found again by
    Column("source_code", key(NAME_LENGTH)),
    Column("source_text", String(NAME_LENGTH), nullable=False),
    Column("market_text", String(NAME_LENGTH), nullable=False),
    Column("master_id", Id),
    Column("position", Integer, nullable=False),
    Column("details", Payload, nullable=False),  # measurements, as the market wants them
    Column("gone", Boolean, nullable=False, server_default=false()),
    at("created_at"),
    at("updated_at"),
    allowed("axis", Axis),
    UniqueConstraint("product_id", "market", "axis", "source_key", name="uq_product_options_key"),
    sqlite_autoincrement=True,
)

product_variants = Table(
    "product_variants",
    metadata,
    serial(),
    Column("product_id", Id, nullable=False),
    Column("market", key(MARKET_LENGTH), nullable=False),
    Column("source_key", key(NAME_LENGTH), nullable=False),
    Column("source_code", key(NAME_LENGTH)),
    Column("source_text", String(NAME_LENGTH), nullable=False),
    Column("color_key", key(NAME_LENGTH), nullable=False),  # product_options.source_key
    Column("size_key", key(NAME_LENGTH), nullable=False),
    choice("stock_kind", StockKind),
    Column("stock_count", Integer),
    Column("price", BigInteger),  # the mall's, where an option has one of its own
    Column("filler", Boolean, nullable=False, server_default=false()),  # only the market's grid asks for it
    Column("gone", Boolean, nullable=False, server_default=false()),
    at("created_at"),
    at("updated_at"),
    allowed("stock_kind", StockKind),
    UniqueConstraint("product_id", "market", "source_key", name="uq_product_variants_key"),
    sqlite_autoincrement=True,
)
