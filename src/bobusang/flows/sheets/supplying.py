"""Which shop reads a supplier's files: the one declared under its name, or one made of its settings."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.connectors.sources.declared.shop import Declared
from bobusang.connectors.sources.sheets.mapping import Settled, shop_of
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid, Missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

SETTING = "sheet"
"""Where a supplier's settings keep what was settled of its columns."""
INBOX = "inbox"
"""Where they keep the folder that is watched."""


async def supplier_of(tx: Tx, collector: Collector, name: str, *, make: bool = False) -> Supplier:
    """The supplier of that name, which must send spreadsheets; one that a shop declares is made with its first."""
    try:
        found = await suppliers.get(tx, name)
    except Missing:
        if declared(collector, name) is None:
            hint = f"`bobusang supplier add {name} --kind excel` adds it"
            raise Missing(f"there is no supplier '{name}'", hint=hint, field="supplier") from None
        found = Supplier(name, SupplierKind.EXCEL)
        if make:
            await suppliers.put(tx, found)
    if found.kind is not SupplierKind.EXCEL:
        raise Invalid(f"{name} does not send spreadsheets but is a supplier by {found.kind}", field="supplier")
    if not found.is_active:
        raise Conflict(f"the supplier {name} is paused", hint="let it go on first")
    return found


def declared(collector: Collector, name: str) -> Declared | None:
    """The shop that says how this supplier's files are read, where there is one."""
    found = collector.sources.get(name)
    return found if isinstance(found, Declared) and found.files is not None else None


def settled_of(supplier: Supplier) -> Settled | None:
    """What was settled of its columns; None: nothing yet."""
    given = supplier.settings.get(SETTING)
    return restored(given) if given else None


def restored(given: Mapping[str, Any]) -> Settled:
    """What was settled, from where it was kept."""
    try:
        return msgspec.convert(given, Settled)
    except msgspec.ValidationError as error:
        raise Invalid(f"the columns that were settled cannot be read: {error}", field="settings") from error


async def settle(tx: Tx, supplier: Supplier, settled: Settled) -> None:
    """Keep what was settled for the next file."""
    kept = {**supplier.settings, SETTING: msgspec.to_builtins(settled)}
    await suppliers.put(tx, replace(supplier, settings=kept))


def shop(collector: Collector, name: str, mapping: Mapping[str, Any] | None) -> Declared:
    """The shop that reads a file: as it was settled for this file, or as it is declared."""
    found = declared(collector, name)
    if found is not None:
        return found
    if not mapping:
        raise Invalid(f"nobody has said which column is what in the files of {name}", field="columns")
    return _made(name, json.dumps(dict(mapping)))


@lru_cache(maxsize=32)
def _made(name: str, mapping: str) -> Declared:
    return shop_of(name, restored(json.loads(mapping)))
