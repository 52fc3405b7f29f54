"""Draining no-op tasks: against the ceiling on each database, with two processes, and against the peers."""

from __future__ import annotations

import asyncio
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import ceilings, peers
from bench.report import Line, at_least, interleaved, rate
from bench.servers import FRESH
from bench.world import drain, fill, prepare
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BATCH = 500
CONNECTIONS = 2
LEAST = {"sqlite": 0.5, "postgresql": 0.6, "mariadb": 0.6}
TASKS = {"quick": 40_000, "full": 100_000}
ROUNDS = {"quick": 3, "full": 5}
PEER_TASKS = {"quick": 5_000, "full": 10_000}
PEER_ROUNDS = 3


def run(size: str) -> Iterator[Line]:
    """All of it."""
    ours: dict[str, float] = {}
    for name in FRESH:
        yield from _database(name, size, ours)
    yield from _peers(size, ours["postgresql"])


def _database(name: str, size: str, ours: dict[str, float]) -> Iterator[Line]:
    tasks = TASKS[size]
    with FRESH[name]() as url:
        asyncio.run(prepare(url))
        enqueued: list[float] = []

        def filled(measure: Callable[[], float]) -> Callable[[], float]:
            def one() -> float:
                enqueued.append(asyncio.run(fill(url, tasks)))
                return measure()

            return one

        contenders = {
            "engine": filled(lambda: drain(url, tasks)),
            "ceiling": filled(lambda: _ceiling(name, url)),
        }
        if name == "postgresql":
            contenders["two"] = filled(lambda: drain(url, tasks, processes=2))
        found = interleaved(ROUNDS[size], contenders)
    ours[name] = median(found["engine"])
    yield rate(f"{name}: enqueue", enqueued)
    if name == "postgresql":
        yield Line(f"{name}: enqueue", f"{median(enqueued):,.0f}/s", "≥ 20,000/s", median(enqueued) >= 20_000)
    yield rate(f"{name}: drain, one process", found["engine"])
    yield rate(f"{name}: the same statements in a bare loop", found["ceiling"])
    share = median(a / b for a, b in zip(found["engine"], found["ceiling"], strict=True))
    yield at_least(f"{name}: share of the ceiling", share, LEAST[name])
    if "two" in found:
        yield rate(f"{name}: drain, two processes", found["two"])
        yield at_least(f"{name}: two processes gain", median(found["two"]) / ours[name], 1.3)


def _ceiling(name: str, url: str) -> float:
    match name:
        case "sqlite":
            return ceilings.of_sqlite(url, BATCH)
        case "postgresql":
            return asyncio.run(ceilings.of_postgres(url, BATCH, CONNECTIONS))
        case _:
            return asyncio.run(ceilings.of_mariadb(url, BATCH, CONNECTIONS))


def _peers(size: str, ours: float) -> Iterator[Line]:
    """Each peer at its best of three rounds, against our median."""
    tasks = PEER_TASKS[size]
    with Redis() as redis:
        celery = _best("celery", redis.url, tasks)
    yield _peer(celery, "Redis, AOF every second")
    yield at_least("times Celery", ours / celery["drain_per_s"], 20)
    with Redis(fsync=True) as redis:
        durable = _best("celery", redis.url, tasks)
    yield _peer(durable, "Redis, AOF always")
    yield Line("times Celery with AOF always", f"{ours / durable['drain_per_s']:.1f}×")
    with Postgres(fsync=True) as server:
        procrastinate = _best("procrastinate", server.url, tasks)
        yield _peer(procrastinate, "PostgreSQL")
        yield at_least("times Procrastinate", ours / procrastinate["drain_per_s"], 50)
        dbos = _best("dbos", server.url, tasks // 2)
        yield _peer(dbos, "PostgreSQL")
        yield Line("times DBOS", f"{ours / dbos['drain_per_s']:.1f}×")


def _best(peer: str, url: str, tasks: int) -> dict[str, Any]:
    return max((peers.run(peer, url, tasks) for _ in range(PEER_ROUNDS)), key=lambda said: float(said["drain_per_s"]))


def _peer(said: dict[str, Any], where: str) -> Line:
    settings = ", ".join(f"{name} {value}" for name, value in said["settings"].items())
    return Line(f"{said['peer']} {said['version']} on {where} ({settings})", f"{said['drain_per_s']:,.0f}/s")
