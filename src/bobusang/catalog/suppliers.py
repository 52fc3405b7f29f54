"""Suppliers: settings of where their data comes from, by API, spreadsheet or webhook ([C])."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from bobusang.catalog.model import SupplierKind
from bobusang.catalog.tables import suppliers
from bobusang.catalog.tables.records import SYSTEM_LENGTH
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.kit.db import Row, Tx

LARGEST = 65_536
UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)
"""When a supplier was made that is not stored yet."""


@dataclass(frozen=True, slots=True)
class Supplier:
    """A supplier; `name` is the `source_system` of its records, `secret_name` where its secret is kept."""

    name: str
    kind: SupplierKind
    base_url: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    secret_name: str | None = None
    is_active: bool = True
    id: int = 0
    created_at: datetime = field(default=UNKNOWN, compare=False)
    updated_at: datetime = field(default=UNKNOWN, compare=False)


async def put(tx: Tx, supplier: Supplier) -> int:
    """Add a supplier or replace its settings; its number."""
    if not 0 < len(supplier.name) <= SYSTEM_LENGTH or "\0" in supplier.name:
        raise Invalid(f"a supplier's name has 1 to {SYSTEM_LENGTH} characters and no NUL", field="name")
    values = {
        "kind": supplier.kind.value,
        "base_url": supplier.base_url,
        "settings": json.payload(dict(supplier.settings), limit=LARGEST, name="settings"),
        "secret_name": supplier.secret_name,
        "is_active": supplier.is_active,
        "updated_at": tx.now,
    }
    row = await tx.first(select(suppliers.c.id).where(suppliers.c.name == supplier.name))
    if row is None:
        return await tx.create(insert(suppliers).values(name=supplier.name, created_at=tx.now, **values))
    found: int = row["id"]
    await tx.execute(update(suppliers).where(suppliers.c.id == found).values(**values))
    return found


async def find(tx: Tx, name: str) -> Supplier | None:
    """A supplier by name, where there is one."""
    row = await tx.first(select(suppliers).where(suppliers.c.name == name))
    return None if row is None else _supplier(row)


async def get(tx: Tx, name: str) -> Supplier:
    """A supplier by name."""
    found = await find(tx, name)
    if found is None:
        raise Missing(f"there is no supplier '{name}'", hint="`bobusang supplier list` shows them", field="supplier")
    return found


async def listed(tx: Tx, *, active: bool | None = None) -> list[Supplier]:
    """All suppliers by name, or those that are active or not."""
    rows = await tx.fetch(select(suppliers).order_by(suppliers.c.name))
    found = [_supplier(row) for row in rows]
    return [supplier for supplier in found if active is None or supplier.is_active is active]


def _supplier(row: Row) -> Supplier:
    return Supplier(
        row["name"],
        SupplierKind(row["kind"]),
        row["base_url"],
        json.loads(row["settings"]),
        row["secret_name"],
        bool(row["is_active"]),
        row["id"],
        utc(row["created_at"]),
        utc(row["updated_at"]),
    )
