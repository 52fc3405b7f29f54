"""Starting `bobusang up` on an empty folder, what it weighs when idle, and what `--help` costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import httpx
import psutil

from bench.report import Line, at_most
from tests.servers.server import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROUNDS = {"quick": 5, "full": 15}
IDLE_SECONDS = 5.0


def run(size: str) -> Iterator[Line]:
    starts, weights = [], []
    for _ in range(3):
        start, weight = _up()
        starts.append(start)
        weights.append(weight)
    yield at_most("`bobusang up` on an empty folder to ready", median(starts), 3, "s")
    yield at_most("idle all-in-one process", median(weights), 150, "MB")
    bare = median(_seconds([sys.executable, "-c", "pass"]) for _ in range(ROUNDS[size]))
    help_ = median(_seconds([*_bobusang(), "--help"]) for _ in range(ROUNDS[size]))
    yield at_most("`bobusang --help` ÷ bare Python start", help_ / bare, 12, "×")


def _bobusang() -> list[str]:
    return [str(Path(sys.executable).with_name("bobusang"))]


def _seconds(argv: Sequence[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def _up() -> tuple[float, float]:
    """Seconds until ready, megabytes when idle (resident, of the process and its children)."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        begun = time.perf_counter()
        environment = {**os.environ, "BOBUSANG_PORT": str(port)}
        process = subprocess.Popen([*_bobusang(), "up"], cwd=folder, env=environment, stderr=subprocess.DEVNULL)
        try:
            while not _ready(port):
                if process.poll() is not None or time.perf_counter() - begun > 60:
                    raise RuntimeError("`bobusang up` did not become ready")
                time.sleep(0.01)
            took = time.perf_counter() - begun
            time.sleep(IDLE_SECONDS)
            one = psutil.Process(process.pid)
            weight = sum(each.memory_info().rss for each in (one, *one.children(recursive=True)))
            return took, weight / 1e6
        finally:
            process.terminate()
            process.wait(30)


def _ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/ready", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False
