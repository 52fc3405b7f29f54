"""The secret that a source's webhooks are signed with: where it is found, and how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog import suppliers
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.kit.db import Tx
    from bobusang.stages.collect.source import Source

GIVEN = Statement("select token as value from crawl_agents where source = :source and place = 0")


async def secret_of(tx: Tx, source: Source, find: Callable[[str], str]) -> str:
    """As the supplier's settings refer to it, else as the operator has given it, else as the shop refers to it.

    Raises Missing where none of them has one.
    """
    assert source.inbound is not None
    named = await suppliers.find(tx, source.name)
    if named is not None and named.secret_name:
        return find(named.secret_name)
    given = await tx.value(GIVEN, source=source.name)
    if given:
        return str(given)
    if source.inbound.signing.secret:
        return find(source.inbound.signing.secret)
    raise Missing(f"{source.name} has no secret", hint=f"`bobusang source key {source.name}` gives it one")
