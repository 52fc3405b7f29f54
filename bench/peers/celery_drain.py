"""How fast one Celery worker drains no-op tasks from Redis or Valkey with an append-only file, acknowledged late."""

import argparse
import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path, where the project is not installed

from bench.peers import celery_app
from bench.peers.drain import DrainFailed, Measured, arguments, best, per_second, report, run, timed

FSYNC = ("everysec", "always")
SERVER = "server"
"""Take appendfsync as the server has it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a Celery user can turn; the defaults won the sweep on two cores (see README.md)."""

    pool: str = "solo"
    concurrency: int = 1
    prefetch: int = 16
    optimization: str = "default"


POOLS = (
    Settings("solo", 1),
    *(Settings("prefork", n) for n in (1, 2, 4)),
    Settings("prefork", 2, optimization="fair"),
    *(Settings("threads", n) for n in (1, 4, 16)),
    *(Settings("gevent", n) for n in (10, 100)),
    *(Settings("eventlet", n) for n in (10, 100)),
)
PREFETCH = (1, 4, 16, 64, 256, 0)
"""Multipliers; 0 lets the worker take all there is."""


def measure(url: str, tasks: int, settings: Settings) -> Measured:
    """Fill the queue, drain it with one worker, and leave the database empty as it was."""
    with _server(url) as server:
        app = celery_app.application(url, settings.prefetch)
        enqueue = _fill(app, tasks)
        env = {celery_app.BROKER: url, celery_app.PREFETCH: str(settings.prefetch)}
        drain, processes = timed(_argv(settings), env, tasks, lambda: _unfinished(server))
        return Measured(enqueue, drain, processes, {**asdict(settings), "acks_late": True, **_durability(server)})


def _fill(app: Any, tasks: int) -> float:
    """Send the tasks over one open connection; Celery has no call that sends many at once."""
    with app.producer_pool.acquire(block=True) as producer:
        begin = time.monotonic()
        for _ in range(tasks):
            app.send_task("noop", producer=producer, ignore_result=True)
        return per_second(tasks, begin)


def _argv(settings: Settings) -> list[str]:
    argv = [sys.executable, "-m", "celery", "-A", "bench.peers.celery_app", "worker", "--loglevel", "ERROR"]
    argv += ["--pool", settings.pool, "--concurrency", str(settings.concurrency), "-O", settings.optimization]
    return [*argv, "--without-gossip", "--without-mingle", "--without-heartbeat", "--queues", celery_app.QUEUE]


def _unfinished(server: Any) -> bool:
    return bool(server.llen(celery_app.QUEUE) or server.hlen("unacked"))


@contextmanager
def _server(url: str) -> Iterator[Any]:
    """A client on an empty database, emptied again afterwards."""
    # By name: the project may have this package, typed, or not, and the type checker must be content with both.
    redis: Any = importlib.import_module("redis")
    with redis.Redis.from_url(url, decode_responses=True) as server:
        if server.dbsize():
            raise DrainFailed(f"{url} holds keys: give the peer a database number of its own")
        if server.config_get("appendonly") != {"appendonly": "yes"}:
            raise DrainFailed(f"{url} has no append-only file: start it with --appendonly yes")
        try:
            yield server
        finally:
            server.flushdb()


@contextmanager
def _fsync(url: str, policy: str) -> Iterator[None]:
    """The server's appendfsync set to the policy for a while; left alone when the policy is the server's own."""
    if policy == SERVER:
        yield
        return
    redis: Any = importlib.import_module("redis")
    with redis.Redis.from_url(url, decode_responses=True) as server:
        before = server.config_get("appendfsync")["appendfsync"]
        server.config_set("appendfsync", policy)
        try:
            yield
        finally:
            server.config_set("appendfsync", before)


def _durability(server: Any) -> dict[str, str]:
    return {key: server.config_get(key)[key] for key in ("appendonly", "appendfsync")}


def sweep(url: str, tasks: int, policy: str) -> Settings:
    """First the pool at a generous prefetch, then the prefetch of the best pool."""

    def measured(settings: Settings) -> Measured:
        with _fsync(url, policy):
            return measure(url, tasks, settings)

    pool = best(POOLS, measured)
    return best([replace(pool, prefetch=n) for n in PREFETCH], measured)


def work(options: argparse.Namespace) -> None:
    policies: Sequence[str] = FSYNC if options.appendfsync == "both" else (options.appendfsync,)
    if options.sweep:
        settings = sweep(options.redis, options.tasks, policies[0])
    else:
        settings = Settings(options.pool, options.concurrency, options.prefetch, options.optimization)
    readings: list[Measured] = []
    for policy in policies:
        with _fsync(options.redis, policy):
            readings.append(measure(options.redis, options.tasks, settings))
    rates = {
        str(found.settings["appendfsync"]): {
            "enqueue_per_s": round(found.enqueue_per_s, 1),
            "drain_per_s": round(found.drain_per_s, 1),
        }
        for found in readings
    }
    report("celery", version("celery"), options.tasks, readings[0], appendfsync=rates)


def main() -> None:
    parser = arguments("Celery", "redis")
    how = "as the server has it; set for the run; or everysec, which is then the headline, and always beside it"
    parser.add_argument("--appendfsync", choices=(SERVER, *FSYNC, "both"), default=SERVER, help=how)
    default = Settings()
    parser.add_argument("--pool", default=default.pool)
    parser.add_argument("--concurrency", type=int, default=default.concurrency)
    parser.add_argument("--prefetch", type=int, default=default.prefetch)
    parser.add_argument("--optimization", choices=("default", "fair"), default=default.optimization)
    run(parser.parse_args(), work)


if __name__ == "__main__":
    main()
