"""Waking many at once does what waking each would, in a few statements."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.engine import waiting
from bobusang.engine.outcome import Wait
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock
    from bobusang.testing.workshop import Workshop

WAITS = "select wait_key, task_id, signal_data from waits order by wait_key"
HELD = "select wait_key from queue_held order by wait_key"
SIGNALS = "select task_key, signal_data from tasks where signal_data is not null order by task_key"


async def rows(shop: Workshop, text: str) -> list[tuple[object, ...]]:
    async with shop.db.read() as tx:
        return [tuple(dict(row).values()) for row in await tx.fetch(Statement(text))]  # type: ignore[call-overload]


async def asleep(shop: Workshop, clock: ManualClock, *keys: str) -> None:
    """A job whose tasks wait, each for the key it is named by."""
    await shop.job(None, *keys)
    await shop.finish(await shop.claimed(len(keys)), lambda task: Wait(task.key, clock.now() + timedelta(hours=1)))


async def test_those_who_wait_run_and_the_rest_is_kept(shop: Workshop, clock: ManualClock) -> None:
    shop.handler(batch=10)
    await asleep(shop, clock, "a", "b", "c", "d")

    woken = await shop.do(lambda tx: waiting.wake_many(tx, ["c", "a", "x", "a", "b"], {"ok": True}))

    assert woken == 3
    assert sorted((await shop.claimed(10)).keys) == ["a", "b", "c"]
    assert await rows(shop, HELD) == [("d",)]
    assert [key for key, *_ in await rows(shop, WAITS)] == ["d", "x"]
    assert len(await rows(shop, SIGNALS)) == 3


async def test_a_signal_before_the_wait_is_kept(shop: Workshop, clock: ManualClock) -> None:
    shop.handler(batch=10)
    first = await shop.do(lambda tx: waiting.wake_many(tx, ["a", "b"], "early"))
    again = await shop.do(lambda tx: waiting.wake_many(tx, ["b", "a"], "again"))
    await asleep(shop, clock, "a", "b")

    assert (first, again) == (0, 0)
    assert (await rows(shop, HELD), await rows(shop, WAITS)) == ([], [])
    assert sorted(task.signal for task in (await shop.claimed(10)).tasks) == ["again", "again"]


async def test_nothing_to_wake_is_nothing_done(shop: Workshop) -> None:
    assert await shop.do(lambda tx: waiting.wake_many(tx, [])) == 0
    assert await rows(shop, WAITS) == []


async def test_two_hundred_cost_as_many_statements_as_ten(shop: Workshop, clock: ManualClock) -> None:
    shop.handler(batch=200)
    keys = [f"market-call:{number:03}" for number in range(200)]
    await asleep(shop, clock, *keys)

    few, many = await counted(shop, keys[:10]), await counted(shop, keys[10:])

    assert (few, many) == ((10, few[1]), (190, few[1]))
    assert await rows(shop, HELD) == []


async def counted(shop: Workshop, keys: list[str]) -> tuple[int, int]:
    """How many were woken, and by how many statements."""
    told: list[str] = []
    async with shop.db.begin() as tx:
        bind = tx._bind

        def noted(statement: Any, params: dict[str, Any]) -> Any:
            told.append(str(statement))
            return bind(statement, params)

        tx._bind = noted  # type: ignore[method-assign]
        return await waiting.wake_many(tx, keys), len(told)


async def test_tasks_of_one_batch_sleep_together_and_may_share_a_key(shop: Workshop, clock: ManualClock) -> None:
    shop.handler(batch=10)
    await shop.do(lambda tx: waiting.wake_many(tx, ["early"], "was here"))
    until = clock.now() + timedelta(hours=1)
    keys = {"a": "early", "b": "late", "c": "late", "d": "other"}
    await shop.job(None, *keys)
    await shop.finish(await shop.claimed(4), lambda task: Wait(keys[task.key], until))

    assert [(task.key, task.signal) for task in (await shop.claimed(10)).tasks] == [("a", "was here")]
    assert await rows(shop, HELD) == [("late",), ("late",), ("other",)]
    assert [key for key, *_ in await rows(shop, WAITS)] == ["late", "other"]
