"""A part of a process is kept going until it is told to stop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.worker import Part

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fake:
    """Ends at once with an error, or works until it is stopped."""

    def __init__(self, error: BaseException | None, working: asyncio.Event) -> None:
        self._error = error
        self._working = working
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        if self._error is not None:
            raise self._error
        self._working.set()
        await self._stopped.wait()

    def stop(self) -> None:
        self._stopped.set()


def lives(*errors: BaseException | None, working: asyncio.Event) -> Iterator[Fake]:
    return (Fake(error, working) for error in errors)


@pytest.mark.parametrize("error", [RuntimeError("the database was away"), asyncio.CancelledError()])
async def test_one_that_ends_by_itself_is_started_again(error: BaseException) -> None:
    working = asyncio.Event()
    made = lives(error, None, working=working)
    part = Part("worker", lambda: next(made), again=0)

    part.start()
    await asyncio.wait_for(working.wait(), 10)
    await part.stop()

    assert list(made) == []


async def test_leaving_does_not_wait_for_it() -> None:
    working = asyncio.Event()
    made = lives(None, working=working)
    part = Part("worker", lambda: next(made), again=0)

    part.start()
    await asyncio.wait_for(working.wait(), 10)

    await asyncio.wait_for(part.leave(), 10)
