"""The image stage's tables: files by content, what an address gave, and what must never be shown."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, UniqueConstraint

from bobusang.catalog.tables.images import HASH_LENGTH, REASON_LENGTH, SOURCE_URL_LENGTH
from bobusang.kit.schema import Id, allowed, at, choice, key, metadata, serial

RECIPE_LENGTH = 60
MEDIA_LENGTH = 30
PHASH_LENGTH = 16
COLOURS_LENGTH = 54
ETAG_LENGTH = 300
MODIFIED_LENGTH = 100
WHO_LENGTH = 100
OF_NONE = 0
"""The product of a doubt that is about a picture, whatever shows it."""


class Doubt(StrEnum):
    """Why a person should look at a picture."""

    SHARED = "SHARED"
    """The very same stands on many unrelated products: it is refused."""
    LIKE = "LIKE"
    """It looks like pictures of unrelated products: it is shown."""
    COVER = "COVER"
    """The address of a cover that a market shows gives another picture now: the old one is shown."""


# One row for what was made of what: two originals may become the same bytes, so the content alone is no key.
# An original was made from itself by the recipe `original`.
image_files = Table(
    "image_files",
    metadata,
    Column("made_from", key(HASH_LENGTH), primary_key=True),
    Column("recipe", key(RECIPE_LENGTH), primary_key=True),
    Column("sha256", key(HASH_LENGTH), nullable=False),
    Column("media", key(MEDIA_LENGTH), nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("phash", key(PHASH_LENGTH)),  # of an original: its shape
    Column("colours", key(COLOURS_LENGTH)),  # of an original: nine fields of it
    at("created_at"),
    Index("ix_image_files_sha256", "sha256"),
    Index("ix_image_files_phash", "phash"),
)

# What an address gave the last time: nothing is fetched twice, for whichever product.
image_fetches = Table(
    "image_fetches",
    metadata,
    Column("url_hash", key(HASH_LENGTH), primary_key=True),
    Column("source_url", String(SOURCE_URL_LENGTH), nullable=False),
    Column("sha256", key(HASH_LENGTH), nullable=False),
    Column("etag", String(ETAG_LENGTH)),
    Column("last_modified", key(MODIFIED_LENGTH)),
    Column("reason", String(REASON_LENGTH)),  # why its content is no picture for a product; NULL: it may be
    at("fetched_at"),
    Index("ix_image_fetches_sha256", "sha256"),
)

# Banners and placeholders: whatever looks like one of these is refused.
image_blocks = Table(
    "image_blocks",
    metadata,
    Column("phash", key(PHASH_LENGTH), primary_key=True),
    Column("colours", key(COLOURS_LENGTH), primary_key=True),
    Column("reason", String(REASON_LENGTH), nullable=False),
    Column("created_by", key(WHO_LENGTH), nullable=False),
    at("created_at"),
)

# What a person should look at. One that was found well stays, so that nobody is asked about it twice.
image_doubts = Table(
    "image_doubts",
    metadata,
    serial(),
    choice("kind", Doubt),
    Column("sha256", key(HASH_LENGTH), nullable=False),
    Column("product_id", Id, nullable=False),
    Column("reason", String(REASON_LENGTH), nullable=False),
    at("raised_at"),
    at("allowed_at", null=True),
    Column("allowed_by", key(WHO_LENGTH)),
    allowed("kind", Doubt),
    UniqueConstraint("sha256", "kind", "product_id", name="uq_image_doubts"),
)

# Products whose pictures the next FULL looks at again, because of what a person has said. What is asked while one is
# looked at is a row of its own, and outlives it.
image_revisits = Table(
    "image_revisits",
    metadata,
    serial(),
    Column("product_id", Id, nullable=False),
    Column("refresh", Boolean, nullable=False),
    at("asked_at"),
    Index("ix_image_revisits_product_id", "product_id"),
)
