"""List pages collected by a bare loop: aiohttp, selectolax, a batched insert, and nothing else."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import TYPE_CHECKING

import aiohttp

from bench.peers.boxes import boxes
from bench.peers.crawl import Meter, arguments, pages, report
from bench.peers.shelf import Shelf

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


async def collect(given: argparse.Namespace, meter: Meter, shelf: Shelf) -> None:
    """As many loops as may be in flight, sharing one list of addresses."""
    meter.start()
    waiting = iter(pages(given))
    async with aiohttp.ClientSession(headers={"User-Agent": "bench"}) as session:
        await asyncio.gather(*(_loop(session, waiting, shelf) for _ in range(given.concurrency)))
    shelf.close()
    meter.stop()


async def _loop(session: aiohttp.ClientSession, waiting: Iterator[str], shelf: Shelf) -> None:
    for address in waiting:
        async with session.get(address) as response:
            response.raise_for_status()
            shelf.extend(boxes(await response.read(), address))


def main() -> None:
    given = arguments("a bare loop").parse_args()
    meter, shelf = Meter(), Shelf(given.database)
    asyncio.run(collect(given, meter, shelf))
    report("bare loop", version("aiohttp"), shelf.items, meter, {"concurrency": given.concurrency})


if __name__ == "__main__":
    main()
