"""How a peer is measured: its queue is filled, then one worker is started and timed from first start to last finish."""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from bench.peers import stopwatch

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ROOT = Path(__file__).resolve().parents[2]
GRACE = 10.0
"""Seconds a worker gets to stop by itself before its process group is killed."""
ROUNDS = 3
"""How often a sweep tries each candidate."""


Settings = TypeVar("Settings", bound="DataclassInstance")


class DrainFailed(Exception):
    """The peer did not finish its tasks; the message says what was seen."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: rates in tasks a second, how many processes ran tasks, and what the servers were set to."""

    enqueue_per_s: float
    drain_per_s: float
    processes: int
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


def per_second(tasks: int, begin: float) -> float:
    """The rate of something that began then, on the monotonic clock, and has ended now."""
    return tasks / (time.monotonic() - begin)


def timed(argv: Sequence[str], env: Mapping[str, str], tasks: int, unfinished: Callable[[], bool]) -> tuple[float, int]:
    """Start the worker, wait until it ran every task and `unfinished` says no; (tasks a second, processes used).

    The clock starts when the first task's body starts, so the worker's start and its first claim are free, and stops
    when the last task is acknowledged or committed, because a body that ran but is not recorded is not finished.
    """
    with (
        tempfile.TemporaryDirectory(prefix="bobusang-peers-") as marks,
        tempfile.TemporaryFile() as log,
        _worker(argv, {**env, stopwatch.FOLDER: marks}, log.fileno()) as worker,
    ):
        seen = stopwatch.read(Path(marks))
        while seen.count < tasks or unfinished():
            if worker.poll() is not None:
                log.seek(0)
                said = log.read().decode(errors="replace")[-2000:]
                raise DrainFailed(f"the worker ended with {worker.returncode} after {seen.count} tasks:\n{said}")
            # Rarely while it runs, so that looking takes no time from it; often at the end, which is being timed.
            time.sleep(0.01 if seen.count < tasks else 0.001)
            seen = stopwatch.read(Path(marks))
        end = time.monotonic()
    return tasks / (end - seen.first), seen.processes


@contextmanager
def _worker(argv: Sequence[str], env: Mapping[str, str], log: int) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process group of its own, which is gone afterwards, children and all."""
    worker = subprocess.Popen(
        argv,
        cwd=ROOT,  # not the caller's: what lies there would be imported before what is meant
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        process_group=0,
    )
    try:
        yield worker
    finally:
        worker.terminate()
        try:
            worker.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(worker.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            worker.wait()


def arguments(peer: str, server: str) -> argparse.ArgumentParser:
    """The options every peer's script has; `server` names the one that takes its URL."""
    parser = argparse.ArgumentParser(description=f"Drain durable no-op tasks with {peer}; prints one JSON line.")
    parser.add_argument(f"--{server}", required=True, metavar="URL", help="the server to use; it is left as found")
    parser.add_argument("--tasks", type=int, default=5000, metavar="N")
    parser.add_argument(
        "--timeout", type=float, default=300.0, metavar="SECONDS", help="for the whole run; a sweep wants 1800"
    )
    parser.add_argument("--sweep", action="store_true", help="try every candidate setting and report the best")
    return parser


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Turn the end of the time, and a request to stop, into an exit, so that every `finally` still runs.

    An exit and not an error, because the peers' libraries catch errors and try again.
    """

    def late(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(f"error: not finished within {seconds:g} s")

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise SystemExit(143)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def best(candidates: Sequence[Settings], measure: Callable[[Settings], Measured]) -> Settings:
    """The candidate with the fastest single round; each round, in an order of its own, is said on stderr.

    The fastest and not the middle one, because what disturbs a round only ever slows it. A candidate that fails is
    out, not fatal.
    """
    fastest: dict[Settings, float] = {}
    failed: set[Settings] = set()
    for _ in range(ROUNDS):
        for settings in random.sample(candidates, len(candidates)):
            if settings in failed:
                continue
            try:
                rate = measure(settings).drain_per_s
            except DrainFailed as error:
                failed.add(settings)
                print(f"    failed {asdict(settings)}: {error}", file=sys.stderr, flush=True)
                continue
            fastest[settings] = max(rate, fastest.get(settings, 0.0))
            print(f"{rate:8.0f}/s {asdict(settings)}", file=sys.stderr, flush=True)
    finished = [settings for settings in fastest if settings not in failed]
    if not finished:
        raise DrainFailed("no candidate finished")
    for settings in sorted(finished, key=lambda each: fastest[each]):
        print(f"best {fastest[settings]:8.0f}/s {asdict(settings)}", file=sys.stderr, flush=True)
    return max(finished, key=lambda each: fastest[each])


def report(peer: str, version: str, tasks: int, measured: Measured, **more: Any) -> None:
    """The one line on stdout."""
    line = {
        "peer": peer,
        "version": version,
        "tasks": tasks,
        "enqueue_per_s": round(measured.enqueue_per_s, 1),
        "drain_per_s": round(measured.drain_per_s, 1),
        "settings": {**measured.settings, "task_processes": measured.processes},
        **more,
    }
    print(json.dumps(line), flush=True)


def run(options: argparse.Namespace, work: Callable[[argparse.Namespace], None]) -> None:
    """Do the work within the time; a failure is one message on stderr and exit code 1."""
    try:
        with bounded(options.timeout):
            work(options)
    except DrainFailed as error:
        sys.exit(f"error: {error}")
