"""The pictures of a product: which one stands at which place, in what state, and whose it is."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import CheckConstraint, Column, Index, Integer, String, Table

from bobusang.catalog.tables.records import SYSTEM_LENGTH
from bobusang.kit.schema import Id, allowed, at, choice, key, metadata

PLACES = 20
"""How many pictures a product may have: BUYMA's limit, the largest of our markets' that is known."""
SOURCE_URL_LENGTH = 2000
HASH_LENGTH = 64
REASON_LENGTH = 500


class ImageState(StrEnum):
    """Whether a picture can be shown. PENDING is tried again, FAILED could not be had, REFUSED must not be shown."""

    PENDING = "PENDING"
    READY = "READY"
    REFUSED = "REFUSED"
    FAILED = "FAILED"


class Rights(StrEnum):
    """By what right we show a picture; a false declaration is punished by the market, so it is never guessed."""

    OWN = "own"
    SUPPLIER = "supplier"
    UNKNOWN = "unknown"


# READY pictures hold the first places without a gap, so that a place is what the market is told; the others follow.
product_images = Table(
    "product_images",
    metadata,
    Column("product_id", Id, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("source_url", String(SOURCE_URL_LENGTH), nullable=False),
    Column("url_hash", key(HASH_LENGTH), nullable=False),
    Column("sha256", key(HASH_LENGTH)),  # of the original
    choice("state", ImageState),
    Column("reason", String(REASON_LENGTH)),
    choice("rights", Rights),
    Column("rights_source", key(SYSTEM_LENGTH)),  # the mall or person whose word it is
    at("updated_at"),
    allowed("state", ImageState),
    allowed("rights", Rights),
    CheckConstraint(f"position between 1 and {PLACES}", name="position"),
    Index("ix_product_images_sha256", "sha256", "product_id"),
)
