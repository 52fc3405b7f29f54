"""Pools: their budgets, what is in flight, and why nothing is claimed from one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from bobusang.engine.budgets import FOREVER, IN_FLIGHT, refilled
from bobusang.engine.tables import budgets
from bobusang.kit.clock import utc
from bobusang.kit.db import Row, Tx
from bobusang.kit.errors import Missing
from bobusang.views.columns import words

MOST = 500
OF_A_JOB = "job:"
"""How the pools begin that keep one job within its workflow's limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A pool with its budget; `waits` says why nothing is claimed from it now."""

    pool: str
    rate: float | None
    burst: float | None
    tokens: float | None
    max_in_flight: int | None
    in_flight: int
    counts_batches: bool
    blocked_until: datetime | None
    is_blocked: bool
    is_halted: bool
    reason: str | None
    waits: str | None
    updated_at: datetime


async def listed(tx: Tx) -> list[Pool]:
    """The pools that people set budgets for or block, by name."""
    table = budgets.c
    query = select(budgets).where(table.pool.not_like(f"{OF_A_JOB}%")).order_by(table.pool).limit(MOST)
    return await _read(tx, await tx.fetch(query))


async def known(tx: Tx, pool: str) -> Pool | None:
    """A pool that has a budget or was blocked."""
    found = await _read(tx, await tx.fetch(select(budgets).where(budgets.c.pool == pool)))
    return found[0] if found else None


async def one(tx: Tx, pool: str) -> Pool:
    """The same, where there must be one."""
    found = await known(tx, pool)
    if found is None:
        raise Missing(f"there is no budget for pool '{pool}'", field="pool")
    return found


async def hindrances(tx: Tx, pools: Collection[str]) -> dict[str, str]:
    """Of these pools those that let nothing through now, each with the reason."""
    if not pools:
        return {}
    found = await _read(tx, await tx.fetch(select(budgets).where(budgets.c.pool.in_(sorted(pools)))))
    return {pool.pool: pool.waits for pool in found if pool.waits}


async def _read(tx: Tx, rows: Sequence[Row]) -> list[Pool]:
    if not rows:
        return []
    flying = {row["pool"]: row for row in await tx.fetch(IN_FLIGHT, pools=[row["pool"] for row in rows])}
    return [_pool(row, flying.get(row["pool"]), tx.now) for row in rows]


def _pool(row: Row, flying: Row | None, now: datetime) -> Pool:
    blocked = utc(row["blocked_until"])
    used = 0 if flying is None else int(flying["batches" if row["counts_batches"] else "tasks"])
    tokens = refilled(row, now)
    return Pool(
        pool=row["pool"],
        rate=row["rate"],
        burst=row["burst"],
        tokens=tokens,
        max_in_flight=row["max_in_flight"],
        in_flight=used,
        counts_batches=bool(row["counts_batches"]),
        blocked_until=blocked,
        is_blocked=blocked is not None and blocked > now,
        is_halted=blocked is not None and blocked >= FOREVER,
        reason=row["reason"],
        waits=_waits(row, blocked, tokens, used, now),
        updated_at=utc(row["updated_at"]),
    )


def _waits(row: Row, blocked: datetime | None, tokens: float | None, used: int, now: datetime) -> str | None:
    pool = row["pool"]
    if blocked is not None and blocked > now:
        until = "halted until a person resumes it" if blocked >= FOREVER else f"blocked until {words(blocked)}"
        return f"pool {pool} is {until}: {row['reason'] or 'no reason was given'}"
    if tokens is not None and tokens < 1:
        return f"pool {pool} is at its rate of {row['rate']:g} a second"
    if row["max_in_flight"] is not None and used >= row["max_in_flight"]:
        return f"pool {pool} has {used} of {row['max_in_flight']} in flight"
    return None
