"""Callers of an API in a process of their own: at a rate, whether or not earlier calls have ended, or as fast as it
answers."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from statistics import quantiles
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from tests.e2e.program import Up

CALLERS = 8


@dataclass(slots=True)
class Calls:
    """What became of some calls."""

    waits: list[float] = field(default_factory=list)
    """Seconds from when each was due."""
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.waits) / self.seconds

    def percentile(self, part: int) -> float:
        """Milliseconds within which that part of a hundred was answered."""
        return quantiles(self.waits, n=100)[part - 1] * 1000


class Callers:
    """A process that calls, so that measuring does not slow what is measured down."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def paced(self, program: Up, paths: Sequence[str], *, rate: float, seconds: float) -> Future[Calls]:
        """So many calls a second, for so long."""
        return self._pool.submit(_run, program.url, program.token, paths, seconds, rate)

    def eager(self, program: Up, paths: Sequence[str], *, seconds: float) -> Future[Calls]:
        """One call after another by each of a few callers; a path is called once as long as there are enough."""
        return self._pool.submit(_run, program.url, program.token, paths, seconds, 0.0)

    def __enter__(self) -> Callers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


def _run(url: str, token: str, paths: Sequence[str], seconds: float, rate: float) -> Calls:
    return asyncio.run(_called(url, token, paths, seconds, rate))


async def _called(url: str, token: str, paths: Sequence[str], seconds: float, rate: float) -> Calls:
    calls = Calls()
    headers = {"authorization": f"Bearer {token}"}
    connector = aiohttp.TCPConnector(limit=0 if rate else CALLERS)
    async with aiohttp.ClientSession(url, headers=headers, connector=connector) as session:
        begun = time.perf_counter()
        if rate:
            due = [begun + 0.1 + place / rate for place in range(int(rate * seconds))]
            await asyncio.gather(*(_at(session, paths[place % len(paths)], at, calls) for place, at in enumerate(due)))
        else:
            ways = _round(paths)
            await asyncio.gather(*(_until(session, ways, begun + seconds, calls) for _ in range(CALLERS)))
        calls.seconds = time.perf_counter() - begun
    return calls


def _round(paths: Sequence[str]) -> Iterator[str]:
    while True:
        yield from paths


async def _at(session: aiohttp.ClientSession, path: str, at: float, calls: Calls) -> None:
    await asyncio.sleep(at - time.perf_counter())
    await _call(session, path, at, calls)


async def _until(session: aiohttp.ClientSession, paths: Iterator[str], end: float, calls: Calls) -> None:
    while (now := time.perf_counter()) < end:
        await _call(session, next(paths), now, calls)


async def _call(session: aiohttp.ClientSession, path: str, due: float, calls: Calls) -> None:
    try:
        async with session.get(path) as answer:
            body: Any = await answer.read()
            if answer.status != 200:
                calls.errors.append(f"{answer.status} {body[:200]!r}")
                return
    except (aiohttp.ClientError, TimeoutError) as error:
        calls.errors.append(repr(error))
        return
    calls.waits.append(time.perf_counter() - due)
