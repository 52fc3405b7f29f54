"""A stopwatch shared by processes: every worker process marks its tasks in a small mapped file of its own."""

import mmap
import os
import struct
import threading
import time
from dataclasses import dataclass
from pathlib import Path

FOLDER = "BOBUSANG_BENCH_MARKS"
"""The environment variable that tells a worker where to leave its marks."""

_MARK = struct.Struct("=dq")


class Marks:
    """The worker's side. A mark costs about half a microsecond, so it does not slow the peer that is measured."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._first = 0.0
        self._map: mmap.mmap | None = None

    def mark(self) -> None:
        """Say that one task runs now. Opened at the first task, so after a pool's fork, not before it."""
        with self._lock:
            if self._map is None:
                self._first = time.monotonic()
                self._map = _mapped(Path(os.environ[FOLDER]) / str(os.getpid()))
            self._count += 1
            _MARK.pack_into(self._map, 0, self._first, self._count)


@dataclass(frozen=True, slots=True)
class Reading:
    """What all worker processes together have marked so far; `first` is on the monotonic clock all processes share."""

    first: float
    count: int
    processes: int


def read(folder: Path) -> Reading:
    """Add up the marks of every process. A file that is still empty has not been mapped yet and counts for nothing."""
    found = [_MARK.unpack(data) for path in folder.iterdir() if len(data := path.read_bytes()) == _MARK.size]
    found = [(first, count) for first, count in found if count]
    return Reading(
        first=min((first for first, _ in found), default=0.0),
        count=sum(count for _, count in found),
        processes=len(found),
    )


def _mapped(path: Path) -> mmap.mmap:
    with path.open("wb+") as file:
        file.truncate(_MARK.size)
        return mmap.mmap(file.fileno(), _MARK.size)
