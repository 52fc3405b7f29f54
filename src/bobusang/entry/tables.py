"""The doors' own table: API keys. The key itself is not stored, only its SHA-256 and its first letters."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Column, String, Table

from bobusang.kit.schema import allowed, at, choice, key, metadata, serial


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
