"""The convert stage's tables: conversions, the market's master lists, translation memory and glossary."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Boolean, Column, Index, Integer, Table, UniqueConstraint, false, text

from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial

MARKET_LENGTH = 50
LANGUAGE_LENGTH = 10
TERM_LENGTH = 200
KIND_LENGTH = 50


class State(StrEnum):
    """Whether a product may go on to the market."""

    READY = "READY"
    HELD = "HELD"


class Origin(StrEnum):
    """Who translated."""

    GLOSSARY = "glossary"
    MEMORY = "memory"
    MODEL = "model"
    PERSON = "person"


# `data` is the last that was ready: a product that is held later keeps what its listing was made of.
conversions = Table(
    "conversions",
    metadata,
    Column("product_id", Id, primary_key=True, autoincrement=False),
    Column("market", key(MARKET_LENGTH), primary_key=True),
    Column("generation", Integer, nullable=False, server_default=text("1")),  # grows when it begins anew
    Column("source_version", Integer, nullable=False),  # looked at last
    Column("data_version", Integer),  # the source version of `data`
    Column("converter_version", key(50), nullable=False),
    Column("data", Payload),
    choice("state", State),
    Column("reasons", Payload, nullable=False),
    at("created_at"),
    at("updated_at"),
    Column("stamp", key(64), nullable=False, server_default=""),  # of the mappings, lists and words it was made by
    allowed("state", State),
    Index("ix_conversions_state", "market", "state", "product_id"),
)

market_masters = Table(
    "market_masters",
    metadata,
    serial(),
    Column("market", key(MARKET_LENGTH), nullable=False),
    Column("kind", key(50), nullable=False),
    Column("version", Integer, nullable=False),
    Column("checksum", key(64), nullable=False),
    Column("row_count", Integer, nullable=False),
    Column("content", Payload, nullable=False),
    at("created_at"),
    UniqueConstraint("market", "kind", "version", name="uq_market_masters_version"),
    sqlite_autoincrement=True,
)

translation_memory = Table(
    "translation_memory",
    metadata,
    serial(),
    Column("source_lang", key(LANGUAGE_LENGTH), nullable=False),
    Column("target_lang", key(LANGUAGE_LENGTH), nullable=False),
    Column("source_hash", key(64), nullable=False),
    Column("source_text", Payload, nullable=False),
    Column("target_text", Payload, nullable=False),
    choice("origin", Origin),
    Column("model", key(100)),
    Column("cost_micros", Id, nullable=False, server_default=text("0")),
    at("created_at"),
    at("used_at", null=True),
    allowed("origin", Origin),
    UniqueConstraint("source_lang", "target_lang", "source_hash", name="uq_translation_memory_source"),
    Index("ix_translation_memory_origin", "origin", "id"),  # what people have said, among all that models have
    sqlite_autoincrement=True,
)

glossary_terms = Table(
    "glossary_terms",
    metadata,
    serial(),
    Column("source_lang", key(LANGUAGE_LENGTH), nullable=False),
    Column("target_lang", key(LANGUAGE_LENGTH), nullable=False),
    Column("term", key(TERM_LENGTH), nullable=False),
    Column("translation", key(TERM_LENGTH), nullable=False),
    Column("kind", key(KIND_LENGTH), nullable=False),
    Column("case_sensitive", Boolean, nullable=False, server_default=false()),
    at("created_at"),
    UniqueConstraint("source_lang", "target_lang", "term", name="uq_glossary_terms_term"),
    sqlite_autoincrement=True,
)
