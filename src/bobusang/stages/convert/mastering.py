"""Importing the market's lists, version by version, and telling what disappeared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit.errors import Conflict
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.convert.masters import Difference, Kind, Masters, Row, checksum, difference, parse
from bobusang.stages.convert.tables import market_masters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx

SHRINKS = 0.2
"""A list that has lost more than this share of its rows is half a file rather than news."""

CURRENT = Statement("""
    select kind, version, checksum, content from market_masters m where market = :market
      and version = (select max(version) from market_masters o where o.market = m.market and o.kind = m.kind)""")
OF = Statement("""
    select version, checksum, content from market_masters where market = :market and kind = :kind
    order by version desc limit 1""")
AT = Statement("select content from market_masters where market = :market and kind = :kind and version = :version")

_NEW = Bulk(market_masters, ("market", "kind", "version", "checksum", "row_count", "content", "created_at"))


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import has done; the same rows again make no version."""

    kind: Kind
    version: int
    rows: int
    difference: Difference


async def take_in(tx: Tx, market: str, kind: Kind, data: bytes, *, shrink: bool = False) -> Imported:
    """Import a file of the market as the next version of a list.

    A list that shrinks by more than a fifth is refused unless `shrink` says that it may.
    """
    rows = parse(kind, data)
    mark = checksum(rows)
    row = await tx.first(OF, market=market, kind=kind.value)
    before: list[Row] = json.loads(row["content"]) if row else []
    version = row["version"] if row else 0
    if row and row["checksum"] == mark:
        return Imported(kind, version, len(rows), Difference())
    found = difference(kind, before, rows)
    if before and len(found.vanished) > SHRINKS * len(before) and not shrink:
        raise Conflict(
            f"the list of {kind} would lose {len(found.vanished):,} of {len(before):,} rows",
            hint="see whether the file is whole; if it is, import it with shrinking allowed",
            field=kind,
        )
    await tx.insert(_NEW, [(market, kind.value, version + 1, mark, len(rows), json.dumps(rows), tx.now)])
    return Imported(kind, version + 1, len(rows), found)


async def current(tx: Tx, market: str) -> Masters:
    """The newest version of every list that was imported."""
    rows = await tx.fetch(CURRENT, market=market)
    return Masters({Kind(row["kind"]): json.loads(row["content"]) for row in rows})


async def compared(tx: Tx, market: str, kind: Kind, old: int, new: int) -> Difference:
    """What changed between two versions of a list."""
    return difference(kind, await _at(tx, market, kind, old), await _at(tx, market, kind, new))


async def _at(tx: Tx, market: str, kind: Kind, version: int) -> Sequence[Row]:
    row = await tx.first(AT, market=market, kind=kind.value, version=version)
    if row is None:
        raise Conflict(f"{market} has no version {version} of its list of {kind}", field=kind)
    found: Sequence[Row] = json.loads(row["content"])
    return found
