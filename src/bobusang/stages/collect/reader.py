"""The reader: small answers are read on the loop, larger ones in a thread, the largest in a process of their own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from bobusang.kit import log
from bobusang.stages.collect.apart import Apart, Died
from bobusang.stages.collect.manners import REST_APART, Manners
from bobusang.stages.collect.reading import Reading, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.stages.collect.reading import Fetched
    from bobusang.stages.collect.source import Source

T = TypeVar("T")

AT_ONCE = 32 << 10
"""Larger pages are read one in a round of the loop, so that whoever else is ready has a turn between two."""
ON_THE_LOOP = 192 << 10
"""Larger pages are read in a thread: 1.3 MB parsed on the loop raised a webhook's p99 from 15 to 71 ms. An item's page
(120 kB) takes the loop 1.5 ms; the way to a thread, which then fights for the interpreter, makes it 1.9."""
IN_THE_THREAD = 768 << 10
"""Larger pages are read apart. A captured list (1.3 MB) keeps the interpreter for 35 ms, which is worth the 4 ms of the
way there and back; a captured item (460 kB) keeps it for five."""
TRIES = 2
"""A process that dies may have been killed for something else; who dies of the same page again dies of that page."""
READ_SECONDS = 60.0
"""A page that is not read by then never will be."""
IDLE_SECONDS = 60.0
"""So long the process is kept without a page: it takes 40 MB, and a quarter of a second of CPU to start."""


class Reader:
    """All reading of a process."""

    def __init__(self, *, patience: float = READ_SECONDS, idle: float = IDLE_SECONDS) -> None:
        # One thread: readers hold the interpreter most of the time, and several would only take turns at it.
        self._thread = ThreadPoolExecutor(1, "reader")
        self._turn = asyncio.Lock()
        self._patience = patience
        self._idle = idle
        self._leaving: asyncio.TimerHandle | None = None
        self.apart = Apart()
        self.manners = Manners()

    async def read(self, source: Source, fetched: Fetched) -> Reading:
        """What an answer says."""
        size = len(fetched.answer.body)
        if size <= AT_ONCE:
            return read(source, fetched)
        async with self._turn:
            if size <= ON_THE_LOOP:
                told = read(source, fetched)
                await asyncio.sleep(0)
                return told
            found = await self._read_apart(source, fetched) if size > IN_THE_THREAD and source.anew else None
            return found or await self._read_here(source, fetched)

    async def _read_here(self, source: Source, fetched: Fetched) -> Reading:
        """In the thread, with rests while we are called."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            return await self._threaded(lambda: read(source, fetched))
        finally:
            await asyncio.sleep(self.manners.rest_after(loop.time() - began))

    async def _read_apart(self, source: Source, fetched: Fetched) -> Reading | None:
        """In the process, with shorter rests; None: it has to be done here."""
        loop = asyncio.get_running_loop()
        reason = ""
        for _ in range(TRIES):
            began = loop.time()
            try:
                return await self._asked(loop, source, fetched)
            except Died as error:
                reason = f"{fetched.ask.endpoint}: {error}"
                log.get("reader").warning("a page is read again", source=source.name, url=fetched.ask.url, error=reason)
            finally:
                await asyncio.sleep(self.manners.rest_after(loop.time() - began, REST_APART))
        return Reading(trouble=reason)

    async def _asked(self, loop: asyncio.AbstractEventLoop, source: Source, fetched: Fetched) -> Reading | None:
        """Have the process read, but not for ever."""
        watch = loop.call_later(self._patience, self.apart.kill)
        try:
            return await self._threaded(lambda: self.apart.read(source, fetched))
        except asyncio.CancelledError:
            self.apart.kill()  # nobody wants the page any more, and the thread is wanted for the next
            raise
        finally:
            watch.cancel()
            self._stay(loop)

    def _stay(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep the process for what may come next."""
        if self._leaving is not None:
            self._leaving.cancel()
        self._leaving = loop.call_later(self._idle, self._thread.submit, self.apart.end)

    async def _threaded(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Let thread and process end, whatever they do."""
        if self._leaving is not None:
            self._leaving.cancel()
        self.apart.close()
        with suppress(RuntimeError):  # the thread was let go before
            self._thread.submit(self.apart.end)
        self._thread.shutdown(wait=False)
