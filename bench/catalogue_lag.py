"""From the answer to a change until searching over HTTP shows it, one change after another, while others search."""

from __future__ import annotations

import json
import random
import time
import urllib.request
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bench.calling import Callers
from bench.catalogue import filled, program
from bench.catalogue_http import path
from bench.looked_for import documents, queries
from bench.report import Line, at_most
from bench.servers import FRESH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.program import Up

COUNT = {"quick": 2_000, "full": 50_000}
CHANGES = {"quick": 60, "full": 600}
SEARCHES = 50
"""A second, meanwhile."""
PATIENCE = 60.0
"""Seconds after which a change is taken to be lost."""


def run(size: str) -> Iterator[Line]:
    for name in ("sqlite", "postgresql"):
        with FRESH[name]() as url, TemporaryDirectory() as folder, Callers() as callers:
            filled(url, 0)
            with program(Path(folder), url) as found:
                told = _told(found, COUNT[size])
                others = [path(query.keyword, 0) for query in queries(500)]
                seconds = CHANGES[size] / 10
                searching = callers.paced(found, others, rate=SEARCHES, seconds=seconds)
                waits = _changed(found, told, CHANGES[size])
                errors = searching.result().errors
        cuts = quantiles(waits, n=100)
        what = f"{name}: from a change to finding it"
        yield Line(f"{what}, p50", f"{cuts[49]:.3g} s")
        yield at_most(f"{what}, p95", cuts[94], 2, "s")
        yield at_most(f"{name}: errors of {SEARCHES} searches a second meanwhile", len(errors), 0, "")


def _told(found: Up, count: int) -> dict[int, str]:
    """Products told in bulk: numbers and what each is called at its mall."""
    told: dict[int, str] = {}
    for batch in documents(count):
        lines = "".join(
            json.dumps({"product_id": f"LAG{one.id:07}", "name": one.name, "brand": one.brand, "price": 1_000}) + "\n"
            for one in batch
        )
        answer = _sent(found, "POST", "/products/bulk", lines.encode(), "application/x-ndjson")
        results = [json.loads(line) for line in answer.splitlines()]
        told |= {result["id"]: f"LAG{one.id:07}" for one, result in zip(batch, results, strict=True)}
    _until(lambda: not found.get("/search/status")["waiting"], every=0.1)
    return told


def _changed(found: Up, told: dict[int, str], count: int) -> list[float]:
    chance, waits = random.Random(1), []
    for number in range(count):
        id, key = chance.choice(list(told.items()))
        price = 2_000 + number
        _sent(found, "PATCH", f"/products/{id}", json.dumps({"price": price}).encode(), "application/json")
        begun = time.perf_counter()
        _until(partial(_shows, found, key, price), every=0.005)
        waits.append(time.perf_counter() - begun)
    return waits


def _until(holds: Callable[[], bool], *, every: float) -> None:
    """Ask again and again, as a client over HTTP must; a change that is lost ends the run."""
    given_up = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > given_up:
            raise RuntimeError(f"nothing came of it in {PATIENCE} s")
        time.sleep(every)  # nobody rings for a client


def _shows(found: Up, key: str, price: int) -> bool:
    return bool(_price(found, key) == price)


def _price(found: Up, key: str) -> Any:
    items = found.get(f"/search?{urlencode({'keyword': key})}")["items"]
    return next((one["price"] for one in items if one["product_id"] == key), None)


def _sent(found: Up, method: str, path: str, body: bytes, kind: str) -> str:
    headers = {"authorization": f"Bearer {found.token}", "content-type": kind}
    request = urllib.request.Request(found.url + path, data=body, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=600) as answer:
        text: str = answer.read().decode()
        return text
