"""Conversions in the database: what each product was made into for a market, or why it is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog import variants
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.bus import Event, publish
from bobusang.stages.convert.converting import VERSION
from bobusang.stages.convert.model import Converted, Held, Reason, Why
from bobusang.stages.convert.tables import State, conversions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.catalog.variants import Goods
    from bobusang.kit.db import Row, Tx

_KNOWN = "select * from conversions where market = :market and product_id in (:ids...)"
KNOWN = Statement(_KNOWN)
# Who has one begin anew meanwhile is waited for: what it was made into before must not come back.
LOCK = Statement(f"{_KNOWN} order by product_id for update", sqlite=_KNOWN)
IN_STATE = Statement("""
    select * from conversions where market = :market and state = :state and product_id > :after
    order by product_id limit :limit""")
FORGET = Statement("delete from conversions where market = :market and product_id in (:ids...)")
# Held until FULL has made it anew: what was ready is not what a person has decided on.
RENEW = Statement("""
    update conversions set generation = generation + 1, data = null, data_version = null, state = 'HELD',
      reasons = :reasons, updated_at = :now
    where market = :market and product_id = :id""")
SETTLE = Statement("""
    update conversions set data = :data, reasons = :reasons, updated_at = :now
    where market = :market and product_id = :id""")
GENERATIONS = Statement("""
    select product_id, generation from conversions where market = :market and product_id in (:ids...)""")

_made = msgspec.json.Decoder(Converted)
_reasons = msgspec.json.Decoder(tuple[Reason, ...])
_COLUMNS = tuple(column.name for column in conversions.columns)
_NEW = Bulk(conversions, _COLUMNS)


@dataclass(frozen=True, slots=True)
class Result:
    """What converting a version of a product's record gave."""

    product_id: int
    version: int
    outcome: Converted | Held
    stamp: str = ""
    """Of the mappings, lists and words that it was made by; see `stamping`."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """What is known of a product for a market; `data` is the last that was ready, even while it is held."""

    product_id: int
    market: str
    generation: int
    """How often it began anew, and once: each has listings of its own."""
    source_version: int
    data_version: int | None
    converter_version: str
    data: Converted | None
    state: State
    reasons: tuple[Reason, ...]
    created_at: datetime
    updated_at: datetime
    stamp: str = ""

    @property
    def current(self) -> bool:
        """Whether this converter made it."""
        return self.converter_version == VERSION

    def is_made(self, version: int, stamp: str) -> bool:
        """Whether this very version was made into a product, by this converter and by what is mapped and said now."""
        made = self.current and self.state is State.READY
        return made and self.data_version == version and self.stamp == stamp


async def load(tx: Tx, market: str, ids: Sequence[int]) -> dict[int, Conversion]:
    """The conversions of these products."""
    return await _loaded(tx, KNOWN, market, ids)


async def _loaded(tx: Tx, statement: Statement, market: str, ids: Sequence[int]) -> dict[int, Conversion]:
    rows = await tx.fetch(statement, market=market, ids=sorted(set(ids))) if ids else ()
    return {row["product_id"]: _conversion(row) for row in rows}


async def listed(tx: Tx, market: str, state: State, *, after: int = 0, limit: int = 100) -> list[Conversion]:
    """Conversions in a state, by product; to go on, pass the last one's product as `after`."""
    rows = await tx.fetch(IN_STATE, market=market, state=state.value, after=after, limit=limit)
    return [_conversion(row) for row in rows]


async def save(tx: Tx, market: str, results: Sequence[Result]) -> None:
    """Write what a batch was made into, with the options and variants of what is ready.

    A product that is held keeps what it was made into before; a result of an older version than the one that is known
    is dropped, for it may come late.
    """
    known = await _loaded(tx, LOCK, market, [one.product_id for one in results])
    newest: dict[int, Result] = {}
    for one in results:
        before = known.get(one.product_id)
        if before is None or before.source_version <= one.version:
            newest[one.product_id] = max(newest.get(one.product_id, one), one, key=lambda result: result.version)
    fresh = [newest[id] for id in sorted(newest)]
    if not fresh:
        return
    await tx.execute(FORGET, market=market, ids=[one.product_id for one in fresh])
    await tx.insert(_NEW, [_row(tx, market, one, known.get(one.product_id)) for one in fresh])
    await variants.put(
        tx, market, {one.product_id: one.outcome.goods for one in fresh if isinstance(one.outcome, Converted)}
    )
    renamed = [one.product_id for one in fresh if _is_renamed(one, known.get(one.product_id))]
    await publish(tx, *(Event("product.renamed", f"product:{id}", {"id": id, "market": market}) for id in renamed))


async def hold(tx: Tx, market: str, product_id: int) -> Conversion:
    """The conversion of a product, for nobody else to change."""
    for _ in range(
        2
    ):  # one that is written at the moment is gone and there again: PostgreSQL shows it to who asks anew
        if found := await _loaded(tx, LOCK, market, [product_id]):
            return found[product_id]
    raise Missing(f"product {product_id} was never converted for {market}", field="product_id")


async def renew(tx: Tx, before: Conversion) -> None:
    """A product that a person has begin anew: its next conversion is compared with nothing, and its next listing is
    another one."""
    reasons = json.dumps([Reason(Why.DECIDED, "somebody has it listed anew: the next FULL converts it", "options")])
    await tx.execute(RENEW, market=before.market, id=before.product_id, reasons=reasons, now=tx.now)


async def settle(tx: Tx, before: Conversion, goods: Goods) -> None:
    """What a person says that a product's options are now, for every run; FULL makes the rest of it."""
    assert before.data is not None
    data = json.dumps(msgspec.structs.replace(before.data, goods=goods))
    reasons = json.dumps([Reason(Why.DECIDED, "somebody has said that its options are right as they are", "options")])
    await tx.execute(SETTLE, market=before.market, id=before.product_id, data=data, reasons=reasons, now=tx.now)


async def generations(tx: Tx, market: str, ids: Sequence[int]) -> dict[int, int]:
    """How often each of these products began anew, and once."""
    rows = await tx.fetch(GENERATIONS, market=market, ids=sorted(set(ids))) if ids else ()
    return {row["product_id"]: row["generation"] for row in rows}


def _is_renamed(one: Result, before: Conversion | None) -> bool:
    """Whether the market knows it by another name now."""
    was = before.data.name if before is not None and before.data is not None else ""
    return isinstance(one.outcome, Converted) and one.outcome.name != was


def _row(tx: Tx, market: str, one: Result, before: Conversion | None) -> tuple[Any, ...]:
    ready = isinstance(one.outcome, Converted)
    kept = one.outcome if isinstance(one.outcome, Converted) else before.data if before else None
    version = one.version if ready else before.data_version if before else None
    return (
        *(one.product_id, market, before.generation if before else 1, one.version, version, VERSION),
        None if kept is None else json.dumps(kept),
        State.READY.value if ready else State.HELD.value,
        json.dumps(one.outcome.reasons if isinstance(one.outcome, Held) else ()),
        before.created_at if before else tx.now,
        tx.now,
        one.stamp,
    )


def _conversion(row: Row) -> Conversion:
    data = None if row["data"] is None else _made.decode(row["data"])
    reasons = _reasons.decode(row["reasons"]) if row["reasons"] != "[]" else ()
    return Conversion(
        row["product_id"],
        row["market"],
        row["generation"],
        row["source_version"],
        row["data_version"],
        row["converter_version"],
        data,
        State(row["state"]),
        reasons,
        utc(row["created_at"]),
        utc(row["updated_at"]),
        row["stamp"],
    )
