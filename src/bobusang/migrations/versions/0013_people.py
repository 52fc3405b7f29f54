"""People: users with a password, sessions, one-time links, what each of them chose; and figures minute by minute.

Every statement may be run again: MariaDB commits each of them by itself, so an upgrade may have died half-way.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bobusang.kit.schema import Id, Instant, Payload, key

revision = "0013"
down_revision = "0012"

ROLE = "role in ('viewer', 'operator', 'admin')"


def upgrade() -> None:
    op.create_table(
        "users",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("role", key(20), nullable=False),
        sa.Column("password", key(200), nullable=False),
        sa.Column("language", key(5), server_default="", nullable=False),
        sa.Column("zone", key(64), server_default="", nullable=False),
        sa.Column("theme", key(10), server_default="", nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("seen_at", Instant, nullable=True),
        sa.Column("disabled_at", Instant, nullable=True),
        sa.CheckConstraint(ROLE, name="role"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "sessions",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("user_id", Id, nullable=False),
        sa.Column("hash", key(64), nullable=False),
        sa.Column("agent", sa.String(200), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("seen_at", Instant, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_sessions_user", "sessions", ["user_id"], if_not_exists=True)
    op.create_index("ix_sessions_expires", "sessions", ["expires_at"], if_not_exists=True)
    op.create_table(
        "invitations",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("hash", key(64), nullable=False),
        sa.Column("role", key(20), nullable=False),
        sa.Column("name", key(100), server_default="", nullable=False),
        sa.Column("made_by", sa.String(100), nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("expires_at", Instant, nullable=False),
        sa.Column("used_at", Instant, nullable=True),
        sa.CheckConstraint(ROLE, name="role"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("hash"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "preferences",
        sa.Column("user_id", Id, autoincrement=False, nullable=False),
        sa.Column("name", key(100), nullable=False),
        sa.Column("value", Payload, nullable=False),
        sa.Column("updated_at", Instant, nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"]),
        sa.PrimaryKeyConstraint("user_id", "name"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_table(
        "engine_history",
        sa.Column("name", key(100), nullable=False),
        sa.Column("label", key(200), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", "label", "at"),
        mariadb_default_charset="utf8mb4",
        if_not_exists=True,
    )
    op.create_index("ix_engine_history_at", "engine_history", ["at"], if_not_exists=True)
    op.create_index("ix_listings_refused", "listings", ["refusal_cause"], if_not_exists=True)
