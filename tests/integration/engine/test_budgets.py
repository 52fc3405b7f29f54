"""Budgets: rate, burst, what is in flight, and blocks, asked before claiming and never exceeded."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import budgets, workflows
from bobusang.engine.budgets import FOREVER, Grant
from bobusang.engine.grammar.definition import load
from bobusang.engine.outcome import DONE, Halt
from bobusang.kit.errors import Invalid
from bobusang.testing.workshop import Batch, Workshop, step, tasks

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock


async def set_budget(shop: Workshop, pool: str = "mall", **said: Any) -> None:
    await shop.do(lambda tx: budgets.set_budget(tx, pool, **said))


async def grant(shop: Workshop, want: int = 100, *pools: str) -> Grant:
    answer, _ = await shop.do(lambda tx: budgets.grant(tx, pools or ("mall",), want))
    return answer


async def fill(shop: Workshop, count: int, pool: str = "mall", **said: Any) -> int:
    return await shop.job(await shop.workflow(step(pool=pool, **said)), *range(count))


def sizes(*batches: Batch | None) -> list[int]:
    return [0 if batch is None else len(batch.tasks) for batch in batches]


async def test_without_a_budget_a_pool_has_no_limit(shop: Workshop) -> None:
    await fill(shop, 50)

    assert sizes(await shop.claim(100)) == [50]


async def test_a_rate_is_a_bucket_that_refills(shop: Workshop, clock: ManualClock) -> None:
    await set_budget(shop, rate=2.0, burst=5.0)
    await fill(shop, 100)

    assert sizes(await shop.claim(), await shop.claim()) == [5, 0]
    again = clock.now() + timedelta(seconds=0.5)
    assert await grant(shop) == Grant(0, again, "mall is at its rate", "mall", is_used_up=True)
    clock.advance(seconds=1.5)
    assert sizes(await shop.claim(), await shop.claim()) == [3, 0]
    clock.advance(hours=1)
    assert sizes(await shop.claim(), await shop.claim()) == [5, 0]


async def test_tokens_are_spent_for_what_was_claimed_only(shop: Workshop) -> None:
    await set_budget(shop, rate=1.0, burst=10.0)
    await fill(shop, 3)
    assert sizes(await shop.claim()) == [3]
    await fill(shop, 20)

    assert sizes(await shop.claim()) == [7]


async def test_a_slow_rate_is_kept_exactly(shop: Workshop, clock: ManualClock) -> None:
    """Eighty calls an hour are one every 45 seconds: parts of a token are neither lost nor found by rounding."""
    await set_budget(shop, rate=80 / 3600, burst=1.0)
    await fill(shop, 20)
    await shop.claimed()
    calls = []
    for second in range(1, 181):
        clock.advance(seconds=1)
        calls += [second] if await shop.claim() is not None else []

    assert calls in ([45, 90, 135, 180], [46, 91, 136])  # a rounding error may cost its last second, no more


async def test_what_is_in_flight_is_counted_from_the_claims(shop: Workshop) -> None:
    await set_budget(shop, max_in_flight=5)
    await fill(shop, 20)
    first, second = await shop.claim(3), await shop.claim(100)
    assert sizes(first, second) == [3, 2]
    assert await grant(shop) == Grant(0, None, "mall has 5 in flight", "mall", is_used_up=True)

    assert first is not None
    await shop.finish(first)
    assert sizes(await shop.claim(100)) == [3]


async def test_what_a_batch_leaves_over_grows_before_it_is_taken(shop: Workshop) -> None:
    await set_budget(shop, max_in_flight=12)
    await fill(shop, 40)
    first, second = await shop.claim(9), await shop.claim(100)
    assert sizes(first, second) == [9, 0]  # three of twelve would be a batch of three for ever
    assert sizes(await shop.claim(1)) == [1]  # unless no more is wanted

    assert first is not None
    await shop.finish(first)
    assert sizes(await shop.claim(100)) == [11]


async def test_a_small_pool_gives_what_it_has(shop: Workshop) -> None:
    await set_budget(shop, max_in_flight=6)
    await fill(shop, 20)

    assert sizes(await shop.claim(5), await shop.claim(100)) == [5, 1]


async def test_a_crashed_worker_leaks_no_slot(shop: Workshop, clock: ManualClock) -> None:
    await set_budget(shop, max_in_flight=2)
    await fill(shop, 5)
    await shop.claimed(worker=await shop.enter())
    assert await shop.claim() is None
    clock.advance(seconds=3)
    await shop.rescue()

    assert sizes(await shop.claim()) == [2]


async def test_batches_can_be_counted_instead_of_tasks(shop: Workshop) -> None:
    await set_budget(shop, max_in_flight=2, counts_batches=True)
    await fill(shop, 100)

    assert sizes(await shop.claim(30), await shop.claim(30), await shop.claim(30)) == [30, 30, 0]


async def test_a_grant_names_the_pools_that_are_full_once_it_is_claimed(shop: Workshop) -> None:
    await set_budget(shop, "mall", max_in_flight=12)
    await set_budget(shop, "host", max_in_flight=1, counts_batches=True)
    await set_budget(shop, "slow", rate=9.0)

    assert await grant(shop, 5, "mall", "slow") == Grant(5)
    assert await grant(shop, 12, "mall") == Grant(12, fills=frozenset({"mall"}))
    assert await grant(shop, 5, "mall", "host") == Grant(5, fills=frozenset({"host"}))


async def test_what_is_refused_for_being_too_little_may_do_for_another(shop: Workshop) -> None:
    await set_budget(shop, max_in_flight=12)
    await fill(shop, 40)
    await shop.claim(10)

    assert await grant(shop, 5) == Grant(0, None, "mall has 10 in flight", "mall", is_used_up=False)
    assert await grant(shop, 2) == Grant(2, fills=frozenset({"mall"}))


async def test_the_smallest_of_all_pools_decides(shop: Workshop) -> None:
    await set_budget(shop, "mall", max_in_flight=10)
    await set_budget(shop, "host", rate=4.0, burst=4.0)
    workflow = await shop.workflow(step(pool="mall"))
    await shop.job(workflow, seeds=tasks(*range(20), pool="host"))

    assert sizes(await shop.claim(), await shop.claim()) == [4, 0]


async def test_a_task_may_draw_from_several_pools(shop: Workshop) -> None:
    await set_budget(shop, "okmall", max_in_flight=3)
    await shop.do(lambda tx: budgets.block(tx, "okmall:detail", budgets.FOREVER, "its breaker is open"))
    workflow = await shop.workflow()
    seeds = [*tasks(*"abcd", pool="okmall,okmall:list"), *tasks(*"efgh", pool="okmall,okmall:detail")]
    await shop.job(workflow, seeds=seeds)

    first = await shop.claimed()
    assert (first.keys, await shop.claim()) == (["a", "b", "c"], None)


async def test_pools_of_other_tasks_are_not_touched(shop: Workshop) -> None:
    await set_budget(shop, "slow", max_in_flight=1)
    workflow = await shop.workflow()
    await shop.job(workflow, seeds=[*tasks("a", "b", pool="slow"), *tasks("c", "d", pool="quick")])

    assert sorted(sizes(await shop.claim(), await shop.claim(), await shop.claim())) == [0, 1, 2]


async def test_a_block_holds_until_its_time(shop: Workshop, clock: ManualClock) -> None:
    await fill(shop, 3)
    until = clock.now() + timedelta(minutes=1)
    await shop.do(lambda tx: budgets.block(tx, "mall", until, "429 from okmall"))

    assert await shop.claim() is None
    assert await grant(shop) == Grant(0, until, "429 from okmall", "mall", is_used_up=True)
    clock.set(until)
    assert sizes(await shop.claim()) == [3]


async def test_an_unblocked_pool_goes_on_at_once(shop: Workshop) -> None:
    await fill(shop, 3)
    await shop.do(lambda tx: budgets.block(tx, "mall", FOREVER, "403"))
    assert await shop.claim() is None
    await shop.do(lambda tx: budgets.unblock(tx, "mall"))

    assert sizes(await shop.claim()) == [3]


async def test_a_pool_that_was_blocked_first_can_get_a_rate(shop: Workshop, clock: ManualClock) -> None:
    """It begins with a full bucket, like any other; it once had no token and never got one."""
    await fill(shop, 10)
    await shop.do(lambda tx: budgets.block(tx, "mall", clock.now(), "for a moment"))
    await set_budget(shop, rate=1.0, burst=3.0)

    assert sizes(await shop.claim()) == [3]


async def test_changing_a_budget_gives_no_tokens_away(shop: Workshop) -> None:
    await set_budget(shop, rate=1.0, burst=5.0)
    await fill(shop, 20)
    await shop.claimed()
    await set_budget(shop, rate=1.0, burst=10.0)
    await set_budget(shop, rate=1.0, burst=10.0)

    assert await shop.claim() is None


async def test_changing_a_budget_keeps_its_block(shop: Workshop) -> None:
    await fill(shop, 3)
    await shop.do(lambda tx: budgets.block(tx, "mall", FOREVER, "403"))
    await set_budget(shop, max_in_flight=10)

    assert await shop.claim() is None


async def test_a_halt_blocks_its_pools_and_costs_nothing_for_each_task_that_waits(shop: Workshop) -> None:
    await fill(shop, 500)
    batch = await shop.claimed(10)
    await shop.finish(batch, lambda task: Halt("403: a bot wall") if task.id == batch.ids[0] else DONE)
    before = await shop.rows("select task_id, due, dispatches from queue_ready order by task_id")

    for _ in range(5):
        assert await shop.claim() is None

    assert await shop.rows("select task_id, due, dispatches from queue_ready order by task_id") == before
    assert len(before) == 491
    blocked = await shop.row("select pool, reason from budgets")
    assert blocked == {"pool": "mall", "reason": "403: a bot wall"}
    await shop.do(lambda tx: budgets.unblock(tx, "mall"))
    assert batch.ids[0] in (await shop.claimed(500)).ids


async def test_a_halt_blocks_every_shared_pool_of_the_task(shop: Workshop) -> None:
    workflow = await shop.workflow(step(pool="mall"))
    await shop.job(workflow, seeds=tasks("a", pool="host"))
    await shop.finish(await shop.claimed(), Halt("403"))

    assert [row["pool"] for row in await shop.rows("select pool from budgets order by pool")] == ["host", "mall"]


async def test_two_workers_at_once_never_exceed_what_may_be_in_flight(shop: Workshop, other: Workshop) -> None:
    await set_budget(shop, max_in_flight=7)
    job = await fill(shop, 120)
    most = 0

    async def work(who: Workshop) -> None:
        nonlocal most
        worker = await who.enter()
        while await left(who):
            batch = await who.claim(3, worker=worker)
            flying = await who.value("select coalesce(sum(size), 0) from queue_claims")
            most = max(most, int(flying))
            if batch is not None:
                await who.finish(batch)

    async def left(who: Workshop) -> bool:
        return bool(await who.value("select count(*) from queue_ready"))

    await asyncio.gather(*(work(who) for who in (shop, other, shop, other)))
    await shop.fold()

    assert 0 < most <= 7
    assert await shop.status(job) == "SUCCESS"


async def test_two_workers_at_once_never_spend_a_token_twice(shop: Workshop, other: Workshop) -> None:
    await set_budget(shop, rate=0.001, burst=50.0)
    await fill(shop, 200)

    async def work(who: Workshop) -> int:
        worker, mine = await who.enter(), 0
        while (batch := await who.claim(3, worker=worker)) is not None:
            mine += len(batch.tasks)
        return mine

    assert sum(await asyncio.gather(*(work(who) for who in (shop, other, shop, other)))) == 50


@pytest.mark.parametrize(
    "said", [{"rate": 0}, {"rate": -1}, {"rate": float("nan")}, {"max_in_flight": 0}, {"rate": 1, "burst": 0.5}]
)
async def test_a_budget_that_nothing_could_pass_is_refused(shop: Workshop, said: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        await set_budget(shop, **said)


async def test_a_pool_has_no_comma_in_its_name(shop: Workshop) -> None:
    workflow = await shop.workflow()
    for text in (
        "{workflow: w, steps: [{name: a, type: FETCH, pool: 'x,y'}]}",
        "{workflow: w, parallel: {pool: 'x,y'}, steps: [{name: a, type: FETCH}]}",
    ):
        with pytest.raises(Invalid, match="no comma"):
            load(text, origin="w.yaml")
    with pytest.raises(Invalid, match="comma"):
        await shop.do(lambda tx: workflows.set_limits(tx, shop.books, workflow, resource_pool="x,y"))
