"""Things by id or by name."""

from __future__ import annotations

from bobusang.engine import workflows
from bobusang.entry.api.fields import LARGEST_ID
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing


async def workflow_id(tx: Tx, wanted: int | str) -> int:
    """A workflow's id; digits are an id, unless a workflow is called so."""
    if isinstance(wanted, str) and wanted.isascii() and wanted.isdecimal() and 0 < int(wanted) <= LARGEST_ID:
        try:
            return int((await workflows.find(tx, wanted))["id"])
        except Missing:
            wanted = int(wanted)
    return int((await workflows.find(tx, wanted))["id"])


async def optional_workflow_id(tx: Tx, wanted: int | str | None) -> int | None:
    """The same for a filter, where nothing means all."""
    return None if wanted is None else await workflow_id(tx, wanted)
