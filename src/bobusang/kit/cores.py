"""One core for one interpreter.

Only one thread at a time runs Python. Where they stand on several cores each system call of a helper hands the
interpreter from core to core and back, and waking a core that sleeps costs more than most calls: a quarter of all CPU
time. So the threads of a process that stays are kept on the core on which its loop runs. The system still chooses: they
are let go for a moment when others crowd that core, and every half minute, and stay where the loop is then.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Set

LOOK_SECONDS = 1.0
FREE_SECONDS = 0.2
"""Long enough for the system to move us."""
KEPT_SECONDS = 30.0
CROWDED = 0.25
"""The share of time in which the loop could run and somebody else's process stood in its place."""
CROWDED_SECONDS = 10.0
"""How long all is left to the system then: where every core is busy none has to be woken, and who may move gets on."""
TASKS = Path("/proc/self/task")
PROCESSOR = 36
"""In `stat`, behind the name: the core on which a thread was last."""

ALLOWED: Set[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else frozenset[int]()
"""The cores that we were given when we began."""
_freed: set[int] = set()


def can_choose() -> bool:
    """Whether there is a choice, and the system tells how crowded a core is."""
    return len(ALLOWED) > 1 and (TASKS / str(threading.get_native_id()) / "schedstat").exists()


def free() -> None:
    """This thread works outside of the interpreter nearly all the time: any core is its own. A pool's `initializer`."""
    _freed.add(threading.get_native_id())
    _put(0, ALLOWED)


@contextmanager
def everywhere() -> Iterator[None]:
    """A process that is started within may run on any core, as we were given them; else it would inherit our one."""
    before = os.sched_getaffinity(0) if ALLOWED else ALLOWED
    _put(0, ALLOWED)
    try:
        yield
    finally:
        _put(0, before)


@asynccontextmanager
async def one(*, wanted: bool = True) -> AsyncIterator[None]:
    """Keep to one core for as long as the block lasts, where that is wanted and there is a choice."""
    if not (wanted and can_choose()):
        yield
        return
    keeping = asyncio.create_task(_keep(threading.get_native_id()))
    try:
        yield
    finally:
        keeping.cancel()
        with suppress(
            asyncio.CancelledError, OSError, ValueError
        ):  # the system may stop telling, and then all are free
            await keeping


async def _keep(loop: int) -> None:
    try:
        while True:
            is_crowded = await _stay(loop)
            _keep_to(ALLOWED)
            await asyncio.sleep(CROWDED_SECONDS if is_crowded else FREE_SECONDS)
    finally:
        _keep_to(ALLOWED)


async def _stay(loop: int) -> bool:
    """Keep all to the core on which the loop is, until others crowd it, or it is time to ask the system again; which of
    both it was."""
    until, crowd = time.monotonic() + KEPT_SECONDS, Crowd(loop)
    while time.monotonic() < until and crowd.share < CROWDED:
        _keep_to({core_of(loop)})  # again and again: threads are made by some that may run anywhere
        await asyncio.sleep(LOOK_SECONDS)
        crowd.look()
    return crowd.share >= CROWDED


class Crowd:
    """How often somebody else's process stood where a thread of ours was to run."""

    def __init__(self, loop: int) -> None:
        self._loop = loop
        self._seen = self._now()
        self.share = 0.0

    def look(self) -> None:
        """The share since the last look."""
        now = self._now()
        (at, waited, ours), (before, had_waited, had) = now, self._seen
        self._seen = now
        own = sum(spent - had.get(thread, spent) for thread, spent in ours.items())
        self.share = others_share(waited - had_waited, own, at - before)

    def _now(self) -> tuple[int, int, dict[int, int]]:
        """Nanoseconds: the time, how long the loop has waited for its core, and what our other threads have used."""
        ours = {thread: _schedule(thread)[0] for thread in _kept() if thread != self._loop}
        return time.monotonic_ns(), _schedule(self._loop)[1], ours


def others_share(waited: int, own: int, passed: int) -> float:
    """Of the time that has passed, how much the loop has waited for others: while it waits, our own threads run too."""
    return max(0, waited - own) / max(1, passed)


def core_of(thread: int) -> int:
    """The core on which a thread of ours is, or was last."""
    return int((TASKS / str(thread) / "stat").read_text().rpartition(")")[2].split()[PROCESSOR])


def _schedule(thread: int) -> tuple[int, int]:
    """Nanoseconds that a thread has run, and has waited to run."""
    try:
        spent, waited, _ = (TASKS / str(thread) / "schedstat").read_text().split()
    except (OSError, ValueError):  # it has ended
        return 0, 0
    return int(spent), int(waited)


def _kept() -> list[int]:
    """Our threads that run Python."""
    every = (thread.native_id for thread in threading.enumerate())
    return [thread for thread in every if thread is not None and thread not in _freed]


def _keep_to(cores: Set[int]) -> None:
    for thread in _kept():
        _put(thread, cores)


def _put(thread: int, cores: Set[int]) -> None:
    if cores:
        with suppress(OSError):  # it has ended, or somebody has given us other cores since
            os.sched_setaffinity(thread, cores)
