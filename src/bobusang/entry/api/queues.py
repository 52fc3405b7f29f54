"""Queues, lanes and pools: what waits and why; budgets set, pools blocked and resumed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Path
from pydantic import Field

from bobusang.engine import budgets
from bobusang.engine.budgets import FOREVER
from bobusang.entry.api.desk import Admin, Desk, Operator, Viewer
from bobusang.entry.api.fields import LARGEST_WHOLE, Form, Instant, Numeric
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict, Invalid
from bobusang.views import pools, queues
from bobusang.views.pools import OF_A_JOB, Pool
from bobusang.views.queues import Board

router = Resource("queues", "/queues")

FASTEST = 1_000_000
PoolName = Annotated[str, Path(min_length=1, max_length=100, pattern="^[^,]+$", examples=["okmall"])]


class BudgetForm(Form):
    """The limits of a pool; null means no limit of that kind."""

    rate: Annotated[float | None, Field(gt=0, le=FASTEST, description="tasks a second"), Numeric] = None
    burst: Annotated[float | None, Field(ge=1, le=FASTEST, description="tasks at once after a pause"), Numeric] = None
    max_in_flight: Annotated[int | None, Field(ge=1, le=LARGEST_WHOLE, description="tasks at once"), Numeric] = None


class BlockForm(Form):
    """Why nothing is claimed from a pool, and until when (null: until it is resumed)."""

    reason: Annotated[str, Field(min_length=1, max_length=500)]
    until: Instant | None = None


@router.get("", summary="Show queues, lanes and pools")
async def show_queues(desk: Viewer) -> Board:
    """What waits, for how long, what runs, and which pools let nothing through."""
    async with desk.read() as tx:
        return await queues.board(tx)


@router.get("/pools/{pool}", summary="Show a pool")
async def show_pool(desk: Viewer, pool: PoolName) -> Pool:
    """Its budget and what is in flight."""
    async with desk.read() as tx:
        return await pools.one(tx, pool)


@router.put("/pools/{pool}", summary="Set a pool's budget")
async def set_budget(desk: Admin, pool: PoolName, form: BudgetForm) -> Pool:
    """Counts at once, for all workers."""
    _shared(pool)

    async def work(tx: Tx) -> None:
        await budgets.set_budget(tx, pool, rate=form.rate, burst=form.burst, max_in_flight=form.max_in_flight)

    return await _change(desk, "pool.set", pool, work, form)


@router.post("/pools/{pool}/block", summary="Block a pool")
async def block_pool(desk: Operator, pool: PoolName, form: BlockForm) -> Pool:
    """Nothing is claimed from it; what runs is finished."""
    _shared(pool)

    async def work(tx: Tx) -> None:
        if form.until is not None and form.until <= tx.now:
            raise Invalid("until is in the past", hint="leave it out to block until resumed", field="until")
        await budgets.block(tx, pool, form.until or FOREVER, form.reason)

    return await _change(desk, "pool.block", pool, work, form)


@router.post("/pools/{pool}/resume", summary="Resume a pool")
async def resume_pool(desk: Operator, pool: PoolName) -> Pool:
    """After a block or a halt."""

    async def work(tx: Tx) -> None:
        await pools.one(tx, pool)
        await budgets.unblock(tx, pool)

    return await _change(desk, "pool.resume", pool, work)


async def _change(
    desk: Desk, action: str, pool: str, work: Callable[[Tx], Awaitable[None]], form: Form | None = None
) -> Pool:
    async def both(tx: Tx) -> Pool:
        before = await pools.known(tx, pool)
        await work(tx)
        after = None if form is None else form.model_dump(mode="json")
        await desk.note(tx, action, "pool", pool, before=before, after=after)
        return await pools.one(tx, pool)

    return await desk.write(both)


def _shared(pool: str) -> None:
    if pool.startswith(OF_A_JOB):
        raise Conflict(f"pool '{pool}' keeps one job within its limits", hint="change its workflow's limits instead")
