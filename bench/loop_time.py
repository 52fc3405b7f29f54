"""Who holds the loop: of each of its steps the CPU time, and how long it stood still because another thread had the
interpreter, or a file was read. Both depend much less on what else runs on the machine than the time on a clock."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from asyncio import events
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_SECONDS = 0.003
"""Shorter steps keep nobody waiting."""
STILL_SECONDS = 0.0003
"""Nor does standing still for less."""
DEEP = 4
"""Names of functions, from the innermost, that tell what a step did."""


class LoopTime:
    """The long steps, and those that stood still, of one thread's loop. Linux only: it asks the scheduler."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._scheduled = os.open(f"/proc/self/task/{threading.get_native_id()}/schedstat", os.O_RDONLY)
        self.steps: list[tuple[float, float, float, str]] = []
        """When each ended, its CPU seconds, its seconds of standing still, and what it did."""

    def install(self) -> None:
        """Watch this thread's loop from now on."""
        run = events.Handle._run

        def watched(handle: events.Handle) -> None:
            if threading.get_ident() != self._thread:
                return run(handle)
            began, (cpu, queued) = time.perf_counter(), self._spent()
            try:
                return run(handle)
            finally:
                ended, more = time.perf_counter(), self._spent()
                used = more[0] - cpu
                still = ended - began - used - (more[1] - queued)
                if used > LONG_SECONDS or still > STILL_SECONDS:
                    self.steps.append((ended, used, max(0.0, still), _name(handle)))

        setattr(events.Handle, "_run", watched)  # noqa: B010 - a method of somebody else's

    def _spent(self) -> tuple[float, float]:
        """Seconds on a core, and of waiting for one."""
        used, waited, _ = os.pread(self._scheduled, 100, 0).split()
        return int(used) / 1e9, int(waited) / 1e9


def _name(handle: events.Handle) -> str:
    """Where the task stands now that its step is done, or what was called."""
    called: Any = getattr(handle, "_callback", None)
    task = getattr(called, "__self__", None)
    if not isinstance(task, asyncio.Task):
        return str(getattr(called, "__qualname__", called))[:80]
    names = list(_frames(task.get_coro()))[-DEEP:]
    return " > ".join(names) or str(task.get_name())


def _frames(inner: Any) -> Iterator[str]:
    """Our own functions that a task is in, outermost first."""
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "gi_frame", None) or getattr(inner, "ag_frame", None)
        if frame is not None and "bobusang" in frame.f_code.co_filename:
            yield f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}"
        inner = (
            getattr(inner, "cr_await", None) or getattr(inner, "gi_yieldfrom", None) or getattr(inner, "ag_await", None)
        )
