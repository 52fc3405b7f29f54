"""The conveyor's processes that tests kill: worker, upkeep and API in one, `python -m bobusang.testing.belting SOCKET`.

What is started is a nursery that has loaded the program and forks one process for every orders it reads, so that a
killed one is followed within milliseconds. All of them answer on a socket that they inherit and whoever started them
keeps open: a caller who comes while nobody lives waits for the next, as behind a balancer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang import wiring
from bobusang.settings import load
from bobusang.testing.crawl import SWIFT, Orders, end_with_stdin, visit, work_on
from bobusang.testing.shop import serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from bobusang.testing.crawl import Visiting

BACKLOG = 1024


async def serve(orders: Orders, listener: socket.socket) -> None:
    """Work, keep the engine and answer, until killed."""
    async with wiring.opened(load({}, **orders.settings), migrate=False) as app, serving(app, listener):
        visit(app, orders.visiting)
        await asyncio.gather(app.keeper().run(), work_on(app, orders.name))


class Hands:
    """Such processes behind one address; none of them outlives the block."""

    def __init__(self, nursery: subprocess.Popen[bytes], listener: socket.socket) -> None:
        self._nursery = nursery
        self._listener = listener
        self._orders: dict[str, Any] = {}
        self._running: dict[str, int] = {}
        self._started = 0
        self.killed = 0

    @classmethod
    @contextmanager
    def at(cls, home: Path, visiting: Mapping[str, Visiting], **settings: Any) -> Iterator[Hands]:
        """None yet: `start` begins one. The settings are those of a shop in `home`."""
        path = home / "hands.log"
        with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener, nursery(listener, path) as process:
            hands = cls(process, listener)
            hands._orders = {"settings": {**SWIFT, "home": str(home), **settings}, "visiting": dict(visiting)}
            try:
                yield hands
            except BaseException:
                told = path.read_text(errors="replace")
                sys.stderr.write(f"{hands.killed} killed before the end; the log ends:\n{told[-8000:]}\n")
                raise

    @property
    def url(self) -> str:
        """Where whoever lives answers."""
        host, port = self._listener.getsockname()
        return f"http://{host}:{port}"

    @property
    def names(self) -> list[str]:
        """Those that run."""
        return list(self._running)

    def start(self) -> str:
        """One more; its name."""
        self._started += 1
        orders = Orders(name=f"hands {self._started}", **self._orders)
        self._running[orders.name] = int(self._say(msgspec.json.encode(orders)))
        return orders.name

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until it is gone."""
        self._say(b"%d" % self._running.pop(name))
        self.killed += 1

    def _say(self, line: bytes) -> bytes:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(line + b"\n")
        self._nursery.stdin.flush()
        return self._nursery.stdout.readline()


@contextmanager
def nursery(listener: socket.socket, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process that forks. When its stdin ends it ends, and with it all of its own."""
    number = listener.fileno()
    command = [sys.executable, "-m", "bobusang.testing.belting", str(number)]
    pipe = subprocess.PIPE
    with (
        log.open("ab") as out,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=out, pass_fds=(number,)) as process,  # noqa: S603
    ):
        yield process


def main() -> None:
    """Read lines: orders to start one, or the number of one to kill. Each is answered when it is done."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    ends, alive = os.pipe()
    for line in sys.stdin.buffer:
        if line.strip().isdigit():
            number = int(line)
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
        elif not (number := os.fork()):
            os.close(alive)
            _live(msgspec.json.decode(line, type=Orders), listener, ends)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def _live(orders: Orders, listener: socket.socket, ends: int) -> None:
    """In a process of its own; what it says goes to the log, and it ends when the nursery does."""
    os.dup2(ends, 0)
    os.dup2(2, 1)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    try:
        asyncio.run(serve(orders, listener))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(1)


if __name__ == "__main__":
    main()
