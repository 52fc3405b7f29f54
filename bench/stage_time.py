"""Whose CPU time it is: that of the loop's thread step by step, and that of threads by who handed them the work."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOP = "sockets and loop"
"""What belongs to nobody: bytes that come and go, timers, and the loop itself."""
HERE = "loop"
"""The thread of the loop, beside the pools."""

Spent = defaultdict[tuple[str, str], float]
label: ContextVar[str] = ContextVar("label", default=LOOP)


class StageTime:
    """CPU seconds by label and thread. A label is set by `named` and inherited by tasks that are made within it."""

    def __init__(self) -> None:
        self.spent: Spent = defaultdict(float)
        self._threads: dict[str, Spent] = {}
        self._current = LOOP
        self._since = time.thread_time()

    def install(self, loop: asyncio.AbstractEventLoop) -> None:
        """Watch this loop's tasks, and all pools of threads from now on."""
        self._since = time.thread_time()
        loop.set_task_factory(lambda loop, work, **more: asyncio.Task(Watched(self, work), loop=loop, **more))
        submit = ThreadPoolExecutor.submit

        def labelled(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
            return submit(pool, self._timed, label.get(), work, *given, **named)

        setattr(ThreadPoolExecutor, "submit", labelled)  # noqa: B010 - a method of somebody else's

    def turn(self, to: str) -> str:
        """What follows is this label's; the one before."""
        now = time.thread_time()
        before, self._current = self._current, to
        self.spent[before, HERE] += now - self._since
        self._since = now
        return before

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """What is done within belongs to this name."""
        token, before = label.set(name), self.turn(name)
        try:
            yield
        finally:
            label.reset(token)
            self.turn(before)

    def total(self) -> Spent:
        """All of it."""
        found: Spent = defaultdict(float, self.spent)
        for one in list(self._threads.values()):
            for names, seconds in one.items():
                found[names] += seconds
        return found

    def _timed(self, name: str, work: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        thread = threading.current_thread().name
        mine = self._threads.setdefault(thread, defaultdict(float))  # each thread adds to its own, so none waits
        begun = time.thread_time()
        try:
            return work(*given, **named)
        finally:
            mine[name, thread.rpartition("_")[0] or thread] += time.thread_time() - begun


class Watched(Coroutine[Any, Any, Any]):
    """A task's coroutine, each of whose steps is its label's."""

    def __init__(self, meter: StageTime, work: Coroutine[Any, Any, Any]) -> None:
        self._meter = meter
        self._work = work

    def send(self, value: Any) -> Any:
        before = self._meter.turn(label.get())
        try:
            return self._work.send(value)
        finally:
            self._meter.turn(before)

    def throw(self, *error: Any) -> Any:
        before = self._meter.turn(label.get())
        try:
            return self._work.throw(*error)
        finally:
            self._meter.turn(before)

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Any:
        return self._work.__await__()
