"""Column types and the one catalogue of tables, the same on all three databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, Column, DateTime, Integer, MetaData, String, Text
from sqlalchemy.dialects.mysql import DATETIME, LONGTEXT, VARCHAR
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.sqlite import TEXT

if TYPE_CHECKING:
    from enum import StrEnum

    from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)

Instant = DateTime(timezone=True).with_variant(DATETIME(fsp=6), "mysql", "mariadb").with_variant(TEXT(), "sqlite")
"""UTC with microseconds; fixed-width text on SQLite."""

Json = JSON().with_variant(JSONB(), "postgresql").with_variant(LONGTEXT(), "mysql", "mariadb")
"""A document the database may look into."""

Payload = Text().with_variant(LONGTEXT(), "mysql", "mariadb")
"""JSON text the database only keeps."""

Id = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite gives row ids only to INTEGER keys."""


def serial() -> Column[int]:
    """A generated `id`."""
    return Column("id", Id, primary_key=True, autoincrement=True)


def at(name: str, *, null: bool = False) -> Column[Any]:
    """An instant."""
    return Column(name, Instant, nullable=null)


def key(length: int) -> TypeEngine[str]:
    """Text compared byte by byte: MariaDB's default collation takes ten distinct keys for four."""
    return String(length).with_variant(
        VARCHAR(length, charset="utf8mb4", collation="utf8mb4_nopad_bin"), "mysql", "mariadb"
    )


def choice(name: str, values: type[StrEnum], *, null: bool = False, default: StrEnum | None = None) -> Column[str]:
    """A column that holds one of a closed set of words (see `allowed`)."""
    width = max(20, *(len(value) for value in values))
    return Column(name, key(width), nullable=null, server_default=default)


def allowed(name: str, values: type[StrEnum]) -> CheckConstraint:
    """The check that belongs to a `choice`."""
    words = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{name} in ({words})", name=name)
