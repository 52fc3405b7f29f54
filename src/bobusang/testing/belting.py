"""The conveyor's process that tests kill: worker, upkeep and API in one, `python -m bobusang.testing.belting ORDERS`.

It answers on a socket that it inherits. Whoever starts it keeps that socket open, so that a caller who comes while
nobody lives waits for the next one, as behind a balancer. It ends when its stdin ends.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import msgspec

from bobusang import wiring
from bobusang.settings import load
from bobusang.testing.crawl import SWIFT, Crew, Orders, end_with_stdin, visit
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
        await asyncio.gather(app.keeper().run(), app.worker(orders.name).run())


class Hands(Crew):
    """Such processes behind one address; none of them outlives the block."""

    def __init__(self, settings: dict[str, Any], visiting: Mapping[str, Visiting], log: Path) -> None:
        super().__init__(settings, visiting, log)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)

    @classmethod
    @contextmanager
    def at(cls, home: Path, visiting: Mapping[str, Visiting], **settings: Any) -> Iterator[Hands]:
        """None yet: `start` begins one. The settings are those of a shop in `home`."""
        hands = cls({**SWIFT, "home": str(home), **settings}, visiting, home / "hands.log")
        try:
            yield hands
        except BaseException:
            sys.stderr.write(f"{hands.killed} killed before the end; the log ends:\n{hands.told()[-8000:]}\n")
            raise
        finally:
            for name in hands.names:
                hands.kill(name)
            hands._listener.close()

    @property
    def url(self) -> str:
        """Where whoever lives answers."""
        host, port = self._listener.getsockname()
        return f"http://{host}:{port}"

    def process(self, orders: str, out: IO[bytes]) -> subprocess.Popen[bytes]:
        """With the socket."""
        number = self._listener.fileno()
        return subprocess.Popen(  # noqa: S603  (our own program)
            [sys.executable, "-m", "bobusang.testing.belting", orders, str(number)],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            pass_fds=(number,),
        )


def main() -> None:
    """Read the orders and serve."""
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    asyncio.run(serve(orders, socket.socket(fileno=int(sys.argv[2]))))


if __name__ == "__main__":
    main()
