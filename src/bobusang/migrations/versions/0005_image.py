"""Pictures: the places they have on products, files by content, what an address gave, what is refused.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, key

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    make_places()
    make_files()


def make_places() -> None:
    op.create_table(
        "product_images",
        sa.Column("product_id", Id, autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source_url", sa.String(length=2000), nullable=False),
        sa.Column("url_hash", key(64), nullable=False),
        sa.Column("sha256", key(64), nullable=True),
        sa.Column("state", key(20), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("rights", key(20), nullable=False),
        sa.Column("rights_source", key(50), nullable=True),
        sa.Column("updated_at", Instant, nullable=False),
        sa.CheckConstraint("position between 1 and 20", name=op.f("ck_product_images_position")),
        sa.CheckConstraint("rights in ('own', 'supplier', 'unknown')", name=op.f("ck_product_images_rights")),
        sa.CheckConstraint("state in ('PENDING', 'READY', 'REFUSED', 'FAILED')", name=op.f("ck_product_images_state")),
        sa.PrimaryKeyConstraint("product_id", "position"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_product_images_sha256", "product_images", ["sha256", "product_id"], if_not_exists=True)


def make_files() -> None:
    op.create_table(
        "image_files",
        sa.Column("made_from", key(64), nullable=False),
        sa.Column("recipe", key(60), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("media", key(30), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("phash", key(16), nullable=True),
        sa.Column("colours", key(54), nullable=True),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("made_from", "recipe"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_image_files_sha256", "image_files", ["sha256"], if_not_exists=True)
    op.create_index("ix_image_files_phash", "image_files", ["phash"], if_not_exists=True)
    op.create_table(
        "image_fetches",
        sa.Column("url_hash", key(64), nullable=False),
        sa.Column("source_url", sa.String(length=2000), nullable=False),
        sa.Column("sha256", key(64), nullable=False),
        sa.Column("etag", sa.String(length=300), nullable=True),
        sa.Column("last_modified", key(100), nullable=True),
        sa.Column("reason", sa.String(length=500), nullable=True),
        sa.Column("fetched_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("url_hash"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "image_blocks",
        sa.Column("phash", key(16), nullable=False),
        sa.Column("colours", key(54), nullable=False),
        sa.Column("reason", sa.String(length=500), nullable=False),
        sa.Column("created_by", key(100), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.PrimaryKeyConstraint("phash", "colours"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
