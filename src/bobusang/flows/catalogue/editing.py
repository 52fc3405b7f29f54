"""What a person says of a product: set and locked against the crawler, unlocked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import products
from bobusang.flows.catalogue.telling import Told, anew, tell
from bobusang.kit.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.kit.db import Tx


async def change(tx: Tx, product_id: int, values: Mapping[str, Any], actor: str) -> None:
    """Set these fields and lock them; the others stay as they are."""
    before = await products.hold(tx, product_id)
    if set(values) <= set(before["locked"]) and all(before[name] == value for name, value in values.items()):
        return
    await products.edit(tx, product_id, values)
    await _tell(tx, "product.change", before, actor)


async def replace(tx: Tx, product_id: int, values: Mapping[str, Any], actor: str) -> None:
    """All that a person says of a product: these fields are set and locked, all others follow the source again."""
    before = await products.hold(tx, product_id)
    freed = set(before["locked"]) - set(values)
    if freed:
        await products.unlock(tx, product_id, freed)
    if values:
        await products.edit(tx, product_id, values)
    await _tell(tx, "product.replace", before, actor)


async def unlock(tx: Tx, product_id: int, names: Iterable[str] | None, actor: str) -> None:
    """Let these fields (all of them unless named) follow the source again, at once."""
    before = await products.hold(tx, product_id)
    freed = set(before["locked"]) if names is None else set(names)
    loose = sorted(freed - set(before["locked"]))
    if loose:
        hint = f"locked are {', '.join(before['locked']) or 'none'}"
        raise Conflict(f"{loose[0]} of product {product_id} is not locked", hint=hint, field="fields")
    if freed:
        await products.unlock(tx, product_id, freed)
        await _tell(tx, "product.unlock", before, actor)


async def _tell(tx: Tx, action: str, before: Mapping[str, Any], actor: str) -> None:
    """Only what differs."""
    after = await products.get(tx, before["id"])
    names = [name for name in (*products.COLUMNS, "locked") if before[name] != after[name]]
    if not names:
        return
    await anew(tx, before["id"])
    then, now = ({name: one[name] for name in names} for one in (before, after))
    await tell(tx, actor, [Told(before["id"], before["mall"], before["product_id"], action, then, now)])
