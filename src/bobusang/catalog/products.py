"""Products: what a record's fields look like as one row, kept beside what a person has edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select, update

from bobusang.catalog import options
from bobusang.catalog.tables import products, removed_products
from bobusang.catalog.tables.products import LONG_LENGTH, NAME_LENGTH, URL_LENGTH
from bobusang.catalog.tables.records import ID_LENGTH
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk, Revise, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Row, Tx

COLUMNS = (
    "seller_id",
    "brand",
    "brand_ko",
    "name",
    "model",
    "price",
    "list_price",
    "currency",
    "url",
    "image",
    "in_stock",
    "listed",
    "category",
    "gender",
)
"""What is taken from the fields, and what a person may edit."""
TAKEN = (*COLUMNS, "colours")
"""What is taken from the fields."""

LARGEST = 2**63 - 1
_SEVERAL = (list, tuple)
LOCKED = Statement("select * from products where id in (:ids...) and locked is not null")
CURRENT = Statement("""
    select d.normalized_data from source_records r join source_data d on d.id = r.version_id where r.id = :id""")

# The record, not its product: whoever collects it locks that one, and reads what is locked against him under it.
HOLD = Statement(
    "select id as value from source_records where id = :id for update",
    sqlite="select id as value from source_records where id = :id",
)
RECORD = Statement("""
    select r.source_system, r.source_id, r.version, d.normalized_data from source_records r
      join source_data d on d.id = r.version_id where r.id = :id and r.source_type = 'supplier_product'""")

URL = Statement("select url as value from products where id = :id")

_REMOVED = Bulk(removed_products, ("id", "url", "removed_at"))
_NEW = Bulk(products, ("id", "mall", "product_id", *TAKEN, "version", "created_at", "updated_at"))
_CHANGED = Revise(products, "id", (*TAKEN, "version", "updated_at"))


def project(fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of `TAKEN`; a text that is too long for its column is cut, for the record has all of it."""
    get = fields.get
    pictures = get("images")
    sold_out = get("sold_out")
    listed = get("listed")
    return (
        _text(get("seller"), ID_LENGTH),
        _text(get("brand"), NAME_LENGTH),
        _text(get("brand_ko"), NAME_LENGTH),
        _text(get("name"), LONG_LENGTH),
        _text(get("model"), NAME_LENGTH),
        _whole(get("price")),
        _whole(get("list_price")),
        _text(get("currency"), 3),
        _text(get("url"), URL_LENGTH),
        _text(pictures[0], URL_LENGTH) if isinstance(pictures, list) and pictures else None,
        (not sold_out) if isinstance(sold_out, bool) else options.availability(get("options")),
        listed if isinstance(listed, bool) else None,
        _text(get("category"), LONG_LENGTH),
        _text(get("gender"), 20),
        colours(fields),
    )


def colours(fields: Mapping[str, Any]) -> str:
    """Which colours it comes in, as its pages write them: what it says of itself, then its options. An empty text is
    one that names none; null in a product is one of which nobody has looked (`catalog.colours`)."""
    own = fields.get("color")
    told = [*(own if isinstance(own, list) else (own,)), *options.colours(fields.get("options"))]
    found = dict.fromkeys([bare for text in told if isinstance(text, str) and (bare := text.strip())])
    return ", ".join(found)[:LONG_LENGTH]


def _text(value: Any, length: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, _SEVERAL):
        return " > ".join(map(str, value))[:length]
    if isinstance(value, dict):  # a seller or a picture that says more than its name
        return _text(value.get("id") or value.get("url"), length)
    return str(value)[:length]


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= LARGEST else None


async def add(tx: Tx, rows: Sequence[tuple[int, str, str, Mapping[str, Any], int]], now: datetime) -> None:
    """Make the products of new records: (record, mall, key, fields, version)."""
    await tx.insert(
        _NEW, [(id, mall, key, *project(fields), version, now, now) for id, mall, key, fields, version in rows]
    )


async def renew(tx: Tx, rows: Sequence[tuple[int, Mapping[str, Any], int]], now: datetime) -> None:
    """Bring products up to their records (record, fields, version); what a person has edited stays."""
    if not rows:
        return
    locked = {row["id"]: row for row in await tx.fetch(LOCKED, ids=[id for id, _, _ in rows])}
    await tx.revise(
        _CHANGED, [(id, *_kept(project(fields), locked.get(id)), version, now) for id, fields, version in rows]
    )


def _kept(values: tuple[Any, ...], row: Row | None) -> tuple[Any, ...]:
    if row is None:
        return values
    names = frozenset(json.loads(row["locked"]))
    return tuple(_plain(row, name) if name in names else value for name, value in zip(TAKEN, values, strict=True))


def _plain(row: Row, name: str) -> Any:
    """A column's value as it is written: only PostgreSQL gives a truth value back as one."""
    value = row[name]
    return bool(value) if name in ("in_stock", "listed") and value is not None else value


async def hold(tx: Tx, product_id: int) -> dict[str, Any]:
    """One product that nobody else changes until this transaction ends."""
    await tx.value(HOLD, id=product_id)
    return await get(tx, product_id)


async def get(tx: Tx, product_id: int) -> dict[str, Any]:
    """One product, its locked columns as a list of names."""
    row = await tx.first(select(products).where(products.c.id == product_id))
    if row is None:
        raise await missing(tx, product_id)
    found = {column.name: _plain(row, column.name) for column in products.columns}
    return found | {"locked": json.loads(found["locked"]) if found["locked"] else []}


async def edit(tx: Tx, product_id: int, values: Mapping[str, Any]) -> None:
    """A person sets these columns: they are locked, so that no crawl overwrites them."""
    _check(values)
    locked = sorted({*(await get(tx, product_id))["locked"], *values})
    changed = {**values, "locked": json.dumps(locked), "updated_at": tx.now}
    await tx.execute(update(products).where(products.c.id == product_id).values(**changed))


async def unlock(tx: Tx, product_id: int, names: Iterable[str]) -> None:
    """Let these columns follow the source again, at once."""
    freed = set(names)
    _check(freed)
    locked = sorted(set((await get(tx, product_id))["locked"]) - freed)
    theirs = await _theirs(tx, product_id)
    changed = {name: theirs[name] for name in freed}
    kept = json.dumps(locked) if locked else None
    await tx.execute(
        update(products).where(products.c.id == product_id).values(**changed, locked=kept, updated_at=tx.now)
    )


async def remove(tx: Tx, product_id: int) -> None:
    """Take a product away. Its record stays, and a record without a product never gets one by being collected."""
    url = await tx.value(URL, id=product_id)
    await tx.insert(_REMOVED, [(product_id, url, tx.now)])
    await tx.execute(delete(products).where(products.c.id == product_id))


async def restore(tx: Tx, product_id: int) -> None:
    """Bring back a product that was taken away, as its source describes it now."""
    await tx.value(HOLD, id=product_id)
    row = await tx.first(RECORD, id=product_id)
    if row is None:
        raise Missing(f"there is no product {product_id}", field="product_id")
    if await tx.first(select(products.c.id).where(products.c.id == product_id)) is not None:
        raise Conflict(f"product {product_id} is not deleted")
    fields = json.loads(row["normalized_data"])
    await add(tx, [(product_id, row["source_system"], row["source_id"], fields, row["version"])], tx.now)
    await tx.execute(delete(removed_products).where(removed_products.c.id == product_id))


async def missing(tx: Tx, product_id: int) -> Missing:
    """Why there is no such product: nobody has seen it, or somebody has deleted it."""
    if await tx.first(RECORD, id=product_id) is None:
        return Missing(f"there is no product {product_id}", field="product_id")
    hint = f"POST /products/{product_id}/restore brings it back"
    return Missing(f"product {product_id} was deleted", hint=hint, field="product_id")


async def differences(tx: Tx, product_id: int) -> dict[str, tuple[Any, Any]]:
    """Locked columns whose value differs from what the source says now: (ours, theirs)."""
    ours = await get(tx, product_id)
    theirs = await _theirs(tx, product_id) if ours["locked"] else {}
    return {name: (ours[name], theirs[name]) for name in ours["locked"] if ours[name] != theirs[name]}


async def _theirs(tx: Tx, product_id: int) -> dict[str, Any]:
    row = await tx.first(CURRENT, id=product_id)
    if row is None:
        raise Missing(f"product {product_id} has no source record")
    return dict(zip(TAKEN, project(json.loads(row["normalized_data"])), strict=True))


def _check(names: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(COLUMNS))
    if unknown:
        raise Invalid(f"a product has no field '{unknown[0]}' to edit", hint=f"one of {', '.join(COLUMNS)}")
