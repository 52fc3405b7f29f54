"""Budgets: named pools with a rate, a burst, a number in flight and a block, asked before claiming.

Ten thousand waiting tasks of a blocked pool cost nothing: their lane is simply not claimed from. What is in flight is
counted from the claims themselves, so a crashed worker cannot leak a slot. Lock order everywhere: budgets, then queue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Row, Tx

FOREVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Blocked until a person says otherwise."""

ROOMY = 12
SPLINTER = 3
"""Of a pool with room for so many, a part this small is not given when more is wanted: what one batch leaves over would
be given back and taken again at that size for ever, and each batch costs dozens of statements. What flies lands."""

LOCK = Statement(
    "select * from budgets where pool in (:pools...) order by pool for update",
    sqlite="select * from budgets where pool in (:pools...) order by pool",
)
IN_FLIGHT = Statement("""
    select p.pool, coalesce(sum(c.size), 0) as tasks, count(c.token) as batches
    from lane_pools p join queue_claims c on c.lane = p.lane where p.pool in (:pools...) group by p.pool""")
SPEND = Statement("update budgets set tokens = :tokens, refilled_at = :now where pool = :pool")
_SET = """
    insert into budgets (pool, rate, burst, tokens, refilled_at, max_in_flight, counts_batches, updated_at)
    values (:pool, :rate, :burst, :tokens, :now, :max_in_flight, :counts_batches, :now) {conflict}"""
SET = Statement(
    _SET.format(
        conflict="""on conflict (pool) do update set
          refilled_at = case when budgets.rate is null then null else budgets.refilled_at end,
          rate = excluded.rate, burst = excluded.burst,
          max_in_flight = excluded.max_in_flight, counts_batches = excluded.counts_batches,
          updated_at = excluded.updated_at"""
    ),
    mariadb=_SET.format(
        conflict="""on duplicate key update
          refilled_at = case when rate is null then null else refilled_at end,
          rate = values(rate), burst = values(burst),
          max_in_flight = values(max_in_flight), counts_batches = values(counts_batches),
          updated_at = values(updated_at)"""
    ),
)
_BLOCK = """
    insert into budgets (pool, tokens, blocked_until, reason, counts_batches, updated_at)
    values (:pool, 0, :until, :reason, false, :now) {conflict}"""
BLOCK = Statement(
    _BLOCK.format(
        conflict="""on conflict (pool) do update set blocked_until = excluded.blocked_until,
          reason = excluded.reason, updated_at = excluded.updated_at"""
    ),
    mariadb=_BLOCK.format(
        conflict="""on duplicate key update blocked_until = values(blocked_until), reason = values(reason),
          updated_at = values(updated_at)"""
    ),
)
UNBLOCK = Statement("update budgets set blocked_until = null, reason = null, updated_at = :now where pool = :pool")
DROP = Statement("delete from budgets where pool in (:pools...)")
POOLS_OF = Statement("select pool from lane_pools where lane = :lane order by pool")


@dataclass(frozen=True, slots=True)
class Grant:
    """How many tasks may be claimed now; if none, until when not (None: until something finishes) and why."""

    size: int
    until: datetime | None = None
    reason: str = ""
    pool: str = ""
    """The pool that gives nothing."""
    is_used_up: bool = False
    """It gives nobody anything; otherwise another might get less than was wanted here."""
    fills: frozenset[str] = frozenset()
    """Pools that are full once all of this is claimed."""


async def set_budget(
    tx: Tx,
    pool: str,
    *,
    rate: float | None = None,
    burst: float | None = None,
    max_in_flight: int | None = None,
    counts_batches: bool = False,
) -> None:
    """Make or change a budget; None means no limit of that kind."""
    if rate is not None and not (math.isfinite(rate) and rate > 0):
        raise Invalid(f"rate {rate} is not a positive number", hint="tokens a second", field="rate")
    if max_in_flight is not None and max_in_flight < 1:
        raise Invalid(f"max_in_flight {max_in_flight} is below 1", hint="block the pool instead", field="max_in_flight")
    if burst is not None and burst < 1:
        raise Invalid(f"burst {burst} is below 1: nothing could ever start", field="burst")
    burst = max(rate, 1.0) if burst is None and rate is not None else burst
    await tx.execute(
        SET,
        pool=pool,
        rate=rate,
        burst=burst,
        tokens=burst or 0.0,
        now=tx.now,
        max_in_flight=max_in_flight,
        counts_batches=counts_batches,
    )
    tx.ring("pools")


async def block(tx: Tx, pool: str, until: datetime, reason: str) -> None:
    """Claim nothing from a pool until then."""
    await tx.execute(BLOCK, pool=pool, until=until, reason=reason[:500], now=tx.now)


async def unblock(tx: Tx, pool: str) -> None:
    """Let a pool go on."""
    await tx.execute(UNBLOCK, pool=pool, now=tx.now)
    tx.ring("pools")


async def halt(tx: Tx, lane: int, reason: str) -> bool:
    """Block all shared pools of a lane until a person resumes them; False when it has none."""
    rows = await tx.fetch(POOLS_OF, lane=lane)
    pools = [row["pool"] for row in rows if not row["pool"].startswith("job:")]
    for pool in pools:
        await block(tx, pool, FOREVER, reason)
        tx.ring(f"halted:{pool}")
    return bool(pools)


async def grant(tx: Tx, pools: Sequence[str], want: int) -> tuple[Grant, list[tuple[str, float]]]:
    """Ask all budgets of a lane, under their locks; also the tokens each has, for `spend`."""
    rows = await tx.fetch(LOCK, pools=list(pools))
    counted = [row["pool"] for row in rows if row["max_in_flight"] is not None]
    flying = {row["pool"]: row for row in await tx.fetch(IN_FLIGHT, pools=counted)} if counted else {}
    answer, purses = Grant(want), []
    for row in rows:
        tokens = refilled(row, tx.now)
        if tokens is not None:
            purses.append((row["pool"], tokens))
        one = _allow(row, tokens, flying.get(row["pool"]), answer.size, tx.now)
        if one.size == 0:
            return one, purses
        answer = one
    full = (row["pool"] for row in rows if _is_full(row, flying.get(row["pool"]), answer.size))
    return replace(answer, fills=frozenset(full)), purses


async def spend(tx: Tx, purses: Sequence[tuple[str, float]], count: int) -> None:
    """Take the tokens of what was claimed."""
    for pool, tokens in purses:
        await tx.execute(SPEND, pool=pool, tokens=tokens - count, now=tx.now)


def refilled(row: Row, now: datetime) -> float | None:
    """How many tokens a budget has by now; None when it has no rate."""
    if row["rate"] is None:
        return None
    since = utc(row["refilled_at"])
    if since is None:  # it was there before it had a rate: a bucket begins full
        return float(row["burst"])
    seconds = max(0.0, (now - since).total_seconds())
    return float(min(row["burst"], row["tokens"] + seconds * row["rate"]))


def _allow(row: Row, tokens: float | None, flying: Row | None, want: int, now: datetime) -> Grant:
    pool = row["pool"]
    blocked = utc(row["blocked_until"])
    if blocked is not None and blocked > now:
        return Grant(0, blocked, row["reason"] or f"{pool} is blocked", pool, is_used_up=True)
    if tokens is not None:
        if tokens < 1:
            again = now + timedelta(seconds=(1 - tokens) / row["rate"])
            return Grant(0, again, f"{pool} is at its rate", pool, is_used_up=True)
        want = min(want, int(tokens))
    if row["max_in_flight"] is not None:
        used = _used(row, flying)
        free = row["max_in_flight"] - used
        if free <= 0 or (not row["counts_batches"] and free < min(want, _least(row["max_in_flight"]))):
            return Grant(0, None, f"{pool} has {used} in flight", pool, is_used_up=free <= 0)
        want = want if row["counts_batches"] else min(want, free)
    return Grant(want)


def _used(row: Row, flying: Row | None) -> int:
    return 0 if flying is None else int(flying["batches" if row["counts_batches"] else "tasks"])


def _is_full(row: Row, flying: Row | None, size: int) -> bool:
    """Whether nothing more may fly after a batch of this size."""
    if row["max_in_flight"] is None:
        return False
    more = 1 if row["counts_batches"] else size
    return bool(_used(row, flying) + more >= row["max_in_flight"])


def _least(limit: int) -> int:
    """How much of a pool must be free before any of it is given."""
    return limit // SPLINTER if limit >= ROOMY else 1
