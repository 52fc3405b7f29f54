"""The doors' own tables: API keys, people and their sessions. Of a key, a session or a one-time link only the SHA-256
is stored, of a password its argon2id."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Column, ForeignKey, Index, PrimaryKeyConstraint, String, Table

from bobusang.kit.schema import Id, Payload, allowed, at, choice, key, metadata, serial


class Role(StrEnum):
    """What a caller may do: look; look and act on work; everything."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether it may do what the other role may."""
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(other)


api_keys = Table(
    "api_keys",
    metadata,
    serial(),
    Column("name", String(100), nullable=False),
    choice("role", Role),
    Column("hash", key(64), nullable=False, unique=True),
    Column("prefix", key(20), nullable=False),
    at("created_at"),
    at("last_used_at", null=True),
    at("revoked_at", null=True),
    allowed("role", Role),
    sqlite_autoincrement=True,  # the audit log must not show a new key under the id of an old one
)

users = Table(
    "users",
    metadata,
    serial(),
    Column("name", key(100), nullable=False, unique=True),
    choice("role", Role),
    Column("password", key(200), nullable=False),
    Column("language", key(5), nullable=False, server_default=""),
    Column("zone", key(64), nullable=False, server_default=""),
    Column("theme", key(10), nullable=False, server_default=""),
    at("created_at"),
    at("seen_at", null=True),
    at("disabled_at", null=True),
    allowed("role", Role),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    serial(),
    Column("user_id", Id, ForeignKey("users.id"), nullable=False),
    Column("hash", key(64), nullable=False, unique=True),
    Column("agent", String(200), nullable=False),
    at("created_at"),
    at("seen_at"),
    at("expires_at"),
    Index("ix_sessions_user", "user_id"),
    Index("ix_sessions_expires", "expires_at"),
)

invitations = Table(
    "invitations",
    metadata,
    serial(),
    Column("hash", key(64), nullable=False, unique=True),
    choice("role", Role),
    Column("name", key(100), nullable=False, server_default=""),
    Column("made_by", String(100), nullable=False),
    at("created_at"),
    at("expires_at"),
    at("used_at", null=True),
    allowed("role", Role),
)
"""One-time links. With a name: whoever opens it gives that person a new password; without: a new person is made."""

preferences = Table(
    "preferences",
    metadata,
    Column("user_id", Id, ForeignKey("users.id"), nullable=False, autoincrement=False),
    Column("name", key(100), nullable=False),
    Column("value", Payload, nullable=False),
    at("updated_at"),
    PrimaryKeyConstraint("user_id", "name"),
)
"""What a person chose: the filters and columns of a list, and when he last looked at something."""
