"""A rebuild of the embedded index through the API: how long it takes, the memory of the process, and searches
meanwhile, none of which comes from the cache."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import psutil

from bench.calling import Callers, Calls
from bench.catalogue import filled, program
from bench.catalogue_http import path
from bench.looked_for import queries
from bench.report import Line, at_least, at_most
from bench.servers import FRESH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.program import Up

COUNT = {"quick": 50_000, "full": 1_000_000}
SEARCHES = 20
"""A second."""
MEGABYTE = 1 << 20


@dataclass(slots=True)
class Seen:
    """What was seen of a rebuild."""

    seconds: float = 0.0
    highest: int = 0
    steps: set[tuple[str, int]] = field(default_factory=set)
    calls: Calls = field(default_factory=Calls)


def run(size: str) -> Iterator[Line]:
    count = COUNT[size]
    asked = [path(query.keyword, place + 1) for place, query in enumerate(queries(20_000))]
    for name in ("sqlite", "postgresql"):
        with FRESH[name]() as url, TemporaryDirectory() as folder, Callers() as callers:
            filled(url, count)
            with program(Path(folder), url) as found:
                process = psutil.Process(found.process.pid)
                idle = process.memory_info().rss
                before = callers.paced(found, asked[:200], rate=SEARCHES, seconds=10).result()
                seen = _rebuilt(found, callers, process, asked[200:])
        what = f"{name}: {count:,} products"
        yield Line(f"{what}: the rebuild took", f"{seen.seconds:.0f} s, {count / seen.seconds:,.0f}/s")
        yield at_most(f"{what}: most memory of the process", seen.highest / MEGABYTE, 1_000, "MB")
        yield Line(f"{what}: memory of the process before it", f"{idle / MEGABYTE:.0f} MB")
        yield at_most(f"{what}: failed searches meanwhile", len(seen.calls.errors), 0, "")
        p99 = f"{before.percentile(99):.3g}, {seen.calls.percentile(99):.3g} ms"
        yield Line(f"{what}: search p99 before, meanwhile", p99)
        yield at_least(f"{what}: steps of progress that were seen", len(seen.steps), 3, "")


def _rebuilt(found: Up, callers: Callers, process: psutil.Process, asked: list[str]) -> Seen:
    """Search for as long as it takes, five seconds at a time."""
    seen, begun, running = Seen(), time.perf_counter(), True
    found.post("/search/rebuild", {})
    while running:
        part = callers.paced(found, asked[len(seen.calls.waits) :], rate=SEARCHES, seconds=5)
        while not part.done():
            seen.highest = max(seen.highest, process.memory_info().rss)
            progress = found.get("/search/status?wait=0.2")["rebuild"]
            seen.steps.add((progress["phase"], progress["done"]))
            if running and not progress["under_way"]:
                running, seen.seconds = False, time.perf_counter() - begun
        seen.calls.waits += part.result().waits
        seen.calls.errors += part.result().errors
    return seen
