"""Taking back what dead and hung workers hold."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.outcome import Retry
from bobusang.engine.rules import MAX_CRASHES
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx
    from bobusang.testing.clock import ManualClock
    from bobusang.testing.workshop import Workshop

BEAT = Statement("update workers set beat_at = :now where id = :id")


async def beat(shop: Workshop, worker: int) -> None:
    await shop.do(lambda tx: tx.execute(BEAT, id=worker, now=tx.now))


async def test_a_worker_that_beats_keeps_what_it_holds(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a")
    batch = await shop.claimed()
    clock.advance(minutes=9)
    await beat(shop, batch.worker_id)

    assert await shop.rescue() == 0
    assert await shop.finish(batch) == 1


async def test_a_dead_workers_tasks_run_elsewhere_at_no_cost_of_an_attempt(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a", "b")
    batch = await shop.claimed()
    clock.advance(seconds=3)

    assert await shop.rescue() == 2

    again = await shop.claimed(worker=await shop.enter())
    assert [(task.id, task.attempt, task.entry.dispatches) for task in again.tasks] == [
        (task_id, 0, 2) for task_id in batch.ids
    ]
    history = await shop.rows("select outcome, reason_class, worker_id from task_attempts")
    assert [tuple(row.values()) for row in history] == [("RESCUED", "CRASHED", batch.worker_id)] * 2


async def test_a_hung_worker_that_beats_loses_what_is_past_its_deadline(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a", "b")
    hung = await shop.claimed(1, deadline=timedelta(seconds=10))
    fine = await shop.claimed(1, deadline=timedelta(minutes=10))
    clock.advance(seconds=11)
    await beat(shop, hung.worker_id)

    assert await shop.rescue() == 1
    assert [await shop.finish(hung), await shop.finish(fine)] == [0, 1]
    assert await shop.value("select reason_class from task_attempts") == "TIMEOUT"


async def test_a_worker_row_outlives_what_it_holds(shop: Workshop, clock: ManualClock) -> None:
    """Pruned first, its claims would belong to nobody and be found by nobody."""
    await shop.job(None, "a")
    await shop.claimed()
    idle = await shop.enter("idle")
    clock.advance(seconds=3)
    assert await shop.rescue() == 1

    assert await shop.rows("select id from workers") == []
    assert idle not in [row["worker_id"] for row in await shop.rows("select worker_id from task_attempts")]


async def test_whoever_asked_is_told_of_the_dead_once_and_of_nobody_who_beats(
    shop: Workshop, clock: ManualClock
) -> None:
    told: list[list[str]] = []

    async def hear(_: Tx, names: Sequence[str]) -> None:
        told.append(list(names))

    shop.engine.hooks.on_death.append(hear)
    await shop.job(None, "a")
    await shop.claimed(worker=await shop.enter("busy"))
    await shop.enter("idle")
    alive = await shop.enter("alive")
    clock.advance(seconds=3)
    await beat(shop, alive)

    assert [await shop.rescue(), await shop.rescue()] == [1, 0]
    assert told == [["busy", "idle"]]


async def test_claims_of_a_worker_whose_row_is_gone_are_found(shop: Workshop) -> None:
    await shop.job(None, "a")
    await shop.claimed(worker=987_654)

    assert await shop.rescue() == 1


async def test_two_rescuers_at_once_take_back_each_claim_once(
    shop: Workshop, other: Workshop, clock: ManualClock
) -> None:
    await shop.job(None, *range(40))
    for _ in range(20):
        await shop.claimed(2)
    clock.advance(seconds=3)

    counts = await asyncio.gather(*(who.rescue() for who in (shop, other, shop, other)))

    assert sum(counts) == 40
    assert set(map(tuple, (await shop.places()).values())) == {("ready",)}


async def test_what_kills_its_worker_six_times_is_taken_for_poison(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(None, "poison")
    for _ in range(MAX_CRASHES + 1):
        await shop.claimed(worker=await shop.enter())
        clock.advance(seconds=3)
        await shop.rescue()
    await shop.fold()

    assert await shop.claim() is None
    assert await shop.status(job) == "FAILED"
    letter = await shop.row("select reason_class, dispatches from dead_letters")
    assert letter == {"reason_class": "CRASHED", "dispatches": MAX_CRASHES + 1}
    assert len(await shop.rows("select id from task_attempts")) == MAX_CRASHES + 1


async def test_an_answer_in_between_shows_that_it_is_no_poison(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "unlucky")
    for _ in range(2):
        for _ in range(MAX_CRASHES):
            await shop.claimed(worker=await shop.enter())
            clock.advance(seconds=3)
            await shop.rescue()
        await shop.finish(await shop.claimed(worker=await shop.enter()), Retry("503"))
        clock.advance(minutes=1)
        await shop.promote()

    assert (await shop.claimed()).keys == ["unlucky"]


async def test_poison_does_not_take_its_neighbours_along(shop: Workshop, clock: ManualClock) -> None:
    """Whoever was in the same batch is innocent: suspects are claimed alone until the guilty one is found."""
    job = await shop.job(None, "poison", *range(20))
    for _ in range(200):
        batch = await shop.claim(10, worker=await shop.enter())
        if batch is None:
            break
        if "poison" in batch.keys:
            clock.advance(seconds=3)
            await shop.rescue()
        else:
            await shop.finish(batch)
    await shop.fold()

    assert await shop.outcomes(job) == {"poison": "PARKED"} | {str(key): "DONE" for key in range(20)}
