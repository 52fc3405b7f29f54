"""One core for one interpreter: threads that run Python keep together, others are free, and nobody is crowded out."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from bobusang.kit import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not cores.can_choose(), reason="there is one core, or the system does not tell")

SHOWN = "import os; print(sorted(os.sched_getaffinity(0)))"
BUSY = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); print(flush=True)\nwhile True: pass"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(cores, "FREE_SECONDS", 0.05)
    monkeypatch.setattr(cores, "CROWDED_SECONDS", 0.05)


@pytest.fixture
def helpers() -> Iterator[tuple[ThreadPoolExecutor, ThreadPoolExecutor]]:
    """A thread that runs Python, and one that works outside of it."""
    with ThreadPoolExecutor(1) as python, ThreadPoolExecutor(1, initializer=cores.free) as outside:
        yield python, outside


def where() -> set[int]:
    return set(os.sched_getaffinity(0))


async def kept() -> set[int]:
    """Where the loop is kept; between two cores for a moment."""
    async with asyncio.timeout(30):
        while len(found := where()) > 1:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0)
    return found


async def test_threads_of_python_keep_to_the_loops_core_and_others_do_not(
    helpers: tuple[ThreadPoolExecutor, ThreadPoolExecutor],
) -> None:
    python, outside = helpers
    before = where(), python.submit(where).result()

    async with cores.one():
        core = await kept()
        found = python.submit(where).result(), outside.submit(where).result()

    assert (before, found) == ((cores.ALLOWED, cores.ALLOWED), (core, cores.ALLOWED))
    assert (where(), python.submit(where).result()) == (cores.ALLOWED, cores.ALLOWED)


async def test_a_thread_that_is_made_later_is_kept_or_free_as_it_says() -> None:
    async with cores.one():
        core = await kept()
        with ThreadPoolExecutor(1) as python, ThreadPoolExecutor(1, initializer=cores.free) as outside:
            assert (python.submit(where).result(), outside.submit(where).result()) == (core, cores.ALLOWED)


async def test_a_process_that_we_start_has_all_our_cores() -> None:
    def started() -> str:
        with cores.everywhere():
            return subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True).stdout

    async with cores.one():
        core = await kept()
        shown = started()
        assert where() == core

    assert shown.strip() == str(sorted(cores.ALLOWED))


async def test_who_is_crowded_out_goes_to_another_core() -> None:
    async with cores.one():
        [core] = await kept()
        busy = await asyncio.create_subprocess_exec(
            sys.executable, "-c", BUSY, str(core), stdout=asyncio.subprocess.PIPE
        )
        assert busy.stdout is not None
        try:
            await busy.stdout.readline()
            async with asyncio.timeout(60):
                while await kept() == {core}:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0)  # it has something to do all the time
        finally:
            busy.kill()
            await busy.wait()


@pytest.mark.parametrize(("waited", "own", "share"), [(500, 0, 0.5), (400, 350, 0.05), (100, 900, 0.0), (0, 0, 0.0)])
def test_our_own_threads_are_no_crowd(waited: int, own: int, share: float) -> None:
    assert cores.others_share(waited, own, 1000) == share


async def test_who_does_not_want_it_stays_everywhere() -> None:
    async with cores.one(wanted=False):
        await asyncio.sleep(0)
        assert where() == cores.ALLOWED
