"""Many who look at a page at once, in a process of their own: they speak the live channel as browsers do."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp

from bobusang.kit import json

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.synchronize import Event

AT_ONCE = 50
"""Connections that are opened at the same time."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What all of them were sent while it was measured."""

    messages: int
    bytes: int
    lost: int
    """Connections that did not last."""


class Onlookers:
    """So many pages that are open; `ready` once all of them have been sent the whole page."""

    def __init__(self, url: str, cookie: str, count: int, topic: str = "overview") -> None:
        context = multiprocessing.get_context("spawn")
        self._manager = context.Manager()
        self.ready: Event = self._manager.Event()  # type: ignore[assignment]
        self._go: Event = self._manager.Event()  # type: ignore[assignment]
        self._stop: Event = self._manager.Event()  # type: ignore[assignment]
        self._pool = ProcessPoolExecutor(1, mp_context=context)
        self._found: Future[Seen] = self._pool.submit(_run, url, cookie, count, topic, self.ready, self._go, self._stop)

    def wait(self, seconds: float) -> None:
        """Until all look."""
        if not self.ready.wait(seconds):
            self._stop.set()
            raise RuntimeError(f"not all of them were let in: {self._found.exception() or self._found.result()}")

    def look(self, seconds: float) -> None:
        """Count from now on, for so long."""
        self._go.set()
        time.sleep(seconds)  # what is measured is this span

    def end(self) -> Seen:
        """Close them all."""
        self._stop.set()
        found = self._found.result()
        self._pool.shutdown()
        self._manager.shutdown()
        return found


def _run(url: str, cookie: str, count: int, topic: str, ready: Event, go: Event, stop: Event) -> Seen:
    return asyncio.run(_looked(url, cookie, count, topic, ready, go, stop))


async def _looked(url: str, cookie: str, count: int, topic: str, ready: Event, go: Event, stop: Event) -> Seen:
    counted = {"messages": 0, "bytes": 0, "lost": 0, "begun": 0}
    turn = asyncio.Semaphore(AT_ONCE)
    is_counting, is_over = asyncio.Event(), asyncio.Event()

    async def one(session: aiohttp.ClientSession) -> None:
        async with turn:
            socket = await session.ws_connect("/ui/live", origin=url, compress=15, max_msg_size=1 << 24)
            await socket.send_str(json.dumps([topic]))
            await socket.receive_str()
            counted["begun"] += 1
        async for message in socket:
            if is_counting.is_set():
                counted["messages"] += 1
                counted["bytes"] += len(message.data)
        counted["lost"] += not is_over.is_set()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, headers={"cookie": cookie}, connector=connector) as session:
        looking = [asyncio.create_task(one(session)) for _ in range(count)]
        while counted["begun"] < count and not stop.is_set():
            await asyncio.sleep(0.1)
            if failed := [task for task in looking if task.done()]:
                await failed[0]
        ready.set()
        await asyncio.to_thread(go.wait)
        is_counting.set()
        await asyncio.to_thread(stop.wait)
        is_over.set()
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
    return Seen(counted["messages"], counted["bytes"], counted["lost"])
