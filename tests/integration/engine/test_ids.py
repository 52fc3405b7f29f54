"""Ids taken in blocks: never given twice, whatever becomes of the transaction that took them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bobusang.kit.ids import BLOCK, Ids

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.workshop import Workshop


async def take(db: Database, ids: Ids, count: int) -> list[int]:
    return await db.transact(lambda tx: ids.take(tx, count))


async def undone(db: Database, ids: Ids, count: int) -> None:
    try:
        async with db.begin() as tx:
            await ids.take(tx, count)
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass


async def test_what_was_left_of_a_block_is_not_used_after_its_rollback(shop: Workshop) -> None:
    """On SQLite the next one to ask would be given the same block again."""
    ids, others = Ids("task"), Ids("task")
    await undone(shop.db, ids, 10)

    taken = [await take(shop.db, ids, 10), await take(shop.db, others, BLOCK), await take(shop.db, ids, BLOCK)]

    every = [one for some in taken for one in some]
    assert len(every) == len(set(every))


async def test_processes_that_take_at_the_same_time_get_different_ids(shop: Workshop, other: Workshop) -> None:
    ids, others = Ids("task"), Ids("task")

    taken = await asyncio.gather(
        *(take(db, mine, 700) for db, mine in ((shop.db, ids), (other.db, others), (shop.db, ids), (other.db, others)))
    )

    every = [one for some in taken for one in some]
    assert len(every) == len(set(every)) == 2800


async def test_a_job_that_was_undone_does_not_spoil_the_next(shop: Workshop) -> None:
    workflow = await shop.workflow()

    class Undone(Exception):
        pass

    async def refuse(*_: object) -> None:
        raise Undone

    shop.engine.hooks.on_job.append(refuse)
    for _ in range(3):
        try:
            await shop.job(workflow, "lost")
        except Undone:
            pass
    shop.engine.hooks.on_job.clear()
    first, second = await shop.job(workflow, "a", "b"), await shop.job(workflow, "c")

    assert await shop.drain() == ["a", "b", "c"]
    assert [await shop.status(job) for job in (first, second)] == ["SUCCESS", "SUCCESS"]
