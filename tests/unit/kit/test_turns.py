"""Turns: one after the other, who is in a hurry first, and nobody who leaves takes a turn with him."""

from __future__ import annotations

import asyncio

import pytest

from bobusang.kit.turns import Turns


class Crowd:
    """People who want a turn, each for as long as it is told."""

    def __init__(self, at_once: int = 1, kept: int = 0) -> None:
        self.turns = Turns(at_once, kept=kept)
        self.log: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    async def comes(self, name: str, *, urgent: bool = False) -> asyncio.Task[None]:
        self._ends[name] = asyncio.Event()
        task = asyncio.create_task(self._has(name, urgent=urgent))
        await settled()
        return task

    async def ends(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
            await settled()

    async def _has(self, name: str, *, urgent: bool) -> None:
        async with self.turns.turn(urgent=urgent):
            self.log.append(name)
            await self._ends[name].wait()


async def settled() -> None:
    """Let everybody go on who can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_in_the_order_they_came() -> None:
    crowd = Crowd()
    for name in "abc":
        await crowd.comes(name)
    assert crowd.log == ["a"]
    await crowd.ends("a", "b")

    assert crowd.log == ["a", "b", "c"]


async def test_who_is_in_a_hurry_goes_first_but_interrupts_nobody() -> None:
    crowd = Crowd()
    await crowd.comes("a")
    await crowd.comes("b")
    await crowd.comes("c", urgent=True)
    assert crowd.log == ["a"]
    await crowd.ends("a", "c", "b")

    assert crowd.log == ["a", "c", "b"]


async def test_so_many_at_once() -> None:
    crowd = Crowd(at_once=2)
    for name in "abc":
        await crowd.comes(name)
    assert crowd.log == ["a", "b"]
    await crowd.ends("b")

    assert crowd.log == ["a", "b", "c"]


async def test_a_turn_that_is_kept_for_hurry_is_nobody_elses() -> None:
    crowd = Crowd(at_once=1, kept=1)
    await crowd.comes("a")
    await crowd.comes("b")
    await crowd.comes("c", urgent=True)
    await crowd.comes("d", urgent=True)
    assert crowd.log == ["a", "c"]
    await crowd.ends("c", "d")
    assert crowd.log == ["a", "c", "d"]
    await crowd.ends("a")

    assert crowd.log == ["a", "c", "d", "b"]


async def test_whoever_has_a_kept_turn_last_passes_it_to_hurry_only() -> None:
    crowd = Crowd(at_once=1, kept=1)
    await crowd.comes("a", urgent=True)
    await crowd.comes("b", urgent=True)
    await crowd.comes("c")
    assert crowd.log == ["a", "b"]
    await crowd.ends("a")
    assert crowd.log == ["a", "b"]
    await crowd.ends("b")

    assert crowd.log == ["a", "b", "c"]


async def test_hurry_without_an_end_leaves_every_second_turn_to_others() -> None:
    turns, log = Turns(), list[str]()

    async def take(name: str, *, urgent: bool) -> None:
        for _ in range(3):
            async with turns.turn(urgent=urgent):
                log.append(name)
                await asyncio.sleep(0)

    await asyncio.gather(take("hurry", urgent=True), take("other", urgent=False))

    assert log == ["hurry", "other"] * 3


@pytest.mark.parametrize("handed", [False, True])
async def test_who_is_cancelled_passes_the_turn_on(handed: bool) -> None:
    crowd = Crowd()
    await crowd.comes("a")
    waiting = await crowd.comes("b")
    await crowd.comes("c")
    if handed:
        crowd._ends["a"].set()
        await asyncio.sleep(0)  # b has been given the turn, and has not taken it yet
    waiting.cancel()
    await crowd.ends("a", "c")
    await crowd.comes("d")

    assert crowd.log == ["a", "c", "d"]
