"""The catalogue under fire: real processes, a crowd of clients, a worker that is killed, an index that is deleted."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

from bobusang.kit.db import connect
from bobusang.wiring.searching import FOLDER
from tests.e2e.crowd import Crowd
from tests.e2e.program import LIVELY, PATIENCE, Running, Up
from tests.servers import opensearch

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

HOME = "bobusang-data"
NOTICE = 1.5
"""Seconds that a cache of another process may take: it looks every half second, on a machine that is busy."""
CLEAN = {"compared": 0, "missing": 0, "extra": 0, "different": 0, "repaired": 0, "clean": True, "first": []}
"""What verifying finds, but for how many there are."""
LIMITS = {"BOBUSANG_API_RATE": "0", "BOBUSANG_LOG_LEVEL": "WARNING"}


@dataclass(frozen=True, slots=True)
class Choice:
    """On what a catalogue runs."""

    database: str
    cache: str = ""
    search: str = ""

    @property
    def variables(self) -> dict[str, str]:
        named = {
            "BOBUSANG_DATABASE_URL": self.database,
            "BOBUSANG_CACHE_URL": self.cache,
            "BOBUSANG_SEARCH_URL": self.search,
        }
        return LIVELY | LIMITS | named


@dataclass(slots=True)
class Processes:
    """A worker, which leads because it was first, and the API beside it."""

    folder: Path
    choice: Choice
    api: Up = field(init=False)
    worker: Running = field(init=False)

    def start_worker(self) -> None:
        self.worker = Running("worker", "--json", cwd=self.folder, **self.choice.variables)
        assert self.worker.read_line(), self.worker.said()

    def kill_worker(self) -> None:
        self.worker.kill()
        self.worker.close()


@contextmanager
def processes(folder: Path, choice: Choice) -> Iterator[Processes]:
    """Both, running; gone at the end, whatever happened."""
    found = Processes(folder, choice)
    found.start_worker()
    try:
        found.api = Up(folder, **choice.variables)
        try:
            yield found
        finally:
            found.api.close()
    finally:
        found.worker.close()


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What is left when the smoke has cleared."""

    done: Counter[str]
    wrong: list[str]
    lost: list[str]
    unlike: list[str]
    verified: dict[str, Any]


async def fought(folder: Path, choice: Choice, *, clients: int, seconds: float, seed: int) -> Aftermath:
    """Let so many clients write and search for so long, while the worker dies twice and the index is lost once."""
    with processes(folder, choice) as found:
        db = await connect(choice.database)
        headers = {"authorization": f"Bearer {found.api.token}"}
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        limit = aiohttp.TCPConnector(limit=clients)
        try:
            async with aiohttp.ClientSession(
                found.api.url, headers=headers, timeout=timeout, connector=limit
            ) as session:
                crowd = Crowd(session, db, seed=seed, notice=0.0 if choice.cache else NOTICE)
                await _until_indexed(session)
                await crowd.open()
                running = [asyncio.create_task(crowd.client(number)) for number in range(clients)]
                await _fire(found, crowd, session, seconds)
                await asyncio.gather(*running)
                await crowd.delivered()
                await asyncio.sleep(0.0 if choice.cache else NOTICE)
                lost, unlike = await crowd.lost_updates(), await crowd.unlike_sql()
                verified = await asyncio.to_thread(found.api.run, "search", "verify", "--no-repair", "--json")
                return Aftermath(crowd.done, crowd.wrong, lost, unlike, verified.document)
        finally:
            await db.close()


async def _fire(found: Processes, crowd: Crowd, session: aiohttp.ClientSession, seconds: float) -> None:
    """Four quarters: peace, the leader dies, the index is lost, the one that came after dies."""
    await asyncio.sleep(seconds / 4)
    await asyncio.to_thread(found.kill_worker)
    await asyncio.to_thread(found.start_worker)
    await asyncio.sleep(seconds / 4)
    crowd.index_is_lost = True
    await _lose_index(found)
    await _until_indexed(session)
    crowd.index_is_lost = False
    await asyncio.sleep(seconds / 4)
    await asyncio.to_thread(found.kill_worker)
    await asyncio.to_thread(found.start_worker)
    await asyncio.sleep(seconds / 4)
    crowd.over.set()


async def _lose_index(found: Processes) -> None:
    if found.choice.search:
        await opensearch.emptied(found.choice.search, "products-*")
    else:
        await asyncio.to_thread(shutil.rmtree, found.folder / HOME / FOLDER, ignore_errors=True)  # it is being written


async def _until_indexed(session: aiohttp.ClientSession) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            async with session.get("/search/status") as answer:
                if answer.status == 200 and (await answer.json())["trouble"] is None:
                    return
            await asyncio.sleep(0.05)
