"""Searching over HTTP: answers that are kept, at a rate and under load, against answers that are made each time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bench.calling import Callers
from bench.catalogue import filled, program
from bench.looked_for import queries
from bench.report import Line, at_least, at_most, rate

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = {"quick": 20_000, "full": 1_000_000}
SECONDS = {"quick": 5.0, "full": 60.0}
CROWDED_SECONDS = 60.0
"""So long a crowd is served, whatever the size."""
ASKED = 100
"""Different searches, each of them asked again and again."""


def run(size: str) -> Iterator[Line]:
    """On SQLite with the index in the folder and the cache in the process, as without any setting."""
    seconds = SECONDS[size]
    keywords = sorted({query.keyword for query in queries(ASKED * 3)})[:ASKED]
    kept = [path(keyword, 0) for keyword in keywords]
    made = [path(keyword, price) for price in range(1, 2_000) for keyword in keywords]
    with TemporaryDirectory() as folder, Callers() as callers:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        filled(url, COUNT[size])
        with program(Path(folder), url) as found:
            callers.paced(found, kept, rate=50, seconds=len(kept) / 50 * 2).result()
            calm = callers.paced(found, kept, rate=200, seconds=seconds).result()
            crowded = callers.paced(found, kept, rate=500, seconds=CROWDED_SECONDS).result()
            from_cache = callers.eager(found, kept, seconds=min(seconds, 15)).result()
            from_index = callers.eager(found, made, seconds=min(seconds, 15)).result()
    yield at_most("kept answers at 200/s, p50", calm.percentile(50), 5, "ms")
    yield at_most("kept answers at 200/s, p99", calm.percentile(99), 5, "ms")
    yield at_most("errors at 200/s", len(calm.errors), 0, "")
    what = f"500/s for {CROWDED_SECONDS:.0f} s"
    yield at_most(f"errors at {what}", len(crowded.errors), 0, "")
    yield Line(f"kept answers at {what}, p50 and p99", f"{crowded.percentile(50):.3g}, {crowded.percentile(99):.3g} ms")
    yield rate("kept answers, as fast as they come", [from_cache.rate])
    yield rate("answers made each time", [from_index.rate])
    yield at_least("kept ÷ made", from_cache.rate / from_index.rate, 3)


def path(keyword: str, min_price: int) -> str:
    """A search; another least price makes it one that was not asked before, and finds the same."""
    return f"/search?{urlencode({'keyword': keyword, 'min_price': min_price})}"
