"""How a crawl is measured: by its own process, from its first request to its last commit, in CPU seconds."""

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psutil


def arguments(contender: str) -> argparse.ArgumentParser:
    """The options every contender's script has."""
    parser = argparse.ArgumentParser(description=f"Collect list pages with {contender}; prints one JSON line.")
    parser.add_argument("--database", required=True, metavar="FILE", help="a SQLite file that has the catalog's tables")
    parser.add_argument("--list", required=True, metavar="URL", help="the first list page, without its page number")
    parser.add_argument("--pages", type=int, required=True, metavar="N")
    parser.add_argument("--concurrency", type=int, default=16)
    return parser


def pages(options: argparse.Namespace) -> list[str]:
    """The addresses of all pages."""
    return [f"{options.list}&page={number}" for number in range(1, options.pages + 1)]


@dataclass(slots=True)
class Meter:
    """CPU seconds of this process and its children, living and ended; what was spent before `start` does not count."""

    begun: float = 0.0
    cpu: float = 0.0
    wall: float = 0.0
    _spent: float = 0.0
    _process: psutil.Process = field(default_factory=psutil.Process)

    def start(self) -> None:
        """The first request is about to be sent."""
        self.begun, self._spent = time.perf_counter(), self._cpu()

    def stop(self) -> None:
        """The last item is on the disk."""
        self.wall, self.cpu = time.perf_counter() - self.begun, self._cpu() - self._spent

    def _cpu(self) -> float:
        times = self._process.cpu_times()
        living = (child.cpu_times() for child in self._process.children(recursive=True))
        ended = times.children_user + times.children_system
        return float(times.user + times.system + ended + sum(each.user + each.system for each in living))


def report(contender: str, version: str, items: int, meter: Meter, settings: Mapping[str, Any]) -> None:
    """The one line on stdout."""
    line = {
        "contender": contender,
        "version": version,
        "items": items,
        "cpu": round(meter.cpu, 4),
        "wall": round(meter.wall, 4),
        "settings": dict(settings),
    }
    print(json.dumps(line), flush=True)
