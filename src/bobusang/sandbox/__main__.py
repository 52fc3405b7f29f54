"""`python -m bobusang.sandbox`: the sandbox as a process of its own, for benchmarks; one JSON line says where it is."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path

from bobusang.kit import json, memory
from bobusang.kit.errors import BobusangError
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.fault import parse
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.server import Sandbox
from bobusang.sandbox.words import BRANDS
from bobusang.sandbox.world import SIZE, World

LEAVE_SECONDS = 10.0
"""After which we end though something hangs: nobody is left to end us."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bobusang.sandbox", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--brands", type=int, default=len(BRANDS))
    parser.add_argument("--pace", type=float, default=1.0)
    parser.add_argument("--drift-at", type=float)
    parser.add_argument("--pictures", type=int, help="so many of each product, instead of a few")
    parser.add_argument("--picture-side", type=int, help="all of them squares of so many pixels")
    parser.add_argument("--page-size", choices=list(PageSize), default=PageSize.DEFAULT)
    parser.add_argument("--calls-per-token", type=int, default=0)
    parser.add_argument("--token-seconds", type=float, default=7200.0)
    parser.add_argument("--no-compress", action="store_true")
    parser.add_argument("--fault", action="append", default=[], metavar="MALL:ENDPOINT:KIND[:OFTEN[:SECONDS]]")
    parser.add_argument("--webhook-url", default="", help="where BUYMA sends its webhooks")
    parser.add_argument("--market-delay", type=float, default=1.0, help="seconds until BUYMA does what it accepted")
    parser.add_argument("--market-limits", type=int, nargs=2, default=(5000, 2500), metavar=("HOUR", "DAY"))
    parser.add_argument("--keep", type=Path, metavar="FILE", help="where its world and market outlive it")
    parser.add_argument("--tied", action="store_true", help="end when stdin ends, with whoever started us")
    return parser.parse_args()


async def _serve(given: argparse.Namespace) -> None:
    world = World(
        given.seed,
        given.size,
        brands=given.brands,
        pace=given.pace,
        drift_at=given.drift_at,
        pictures=given.pictures,
        picture_side=given.picture_side,
    )
    sandbox = Sandbox(
        world,
        host=given.host,
        port=given.port,
        page_size=given.page_size,
        calls_per_token=given.calls_per_token,
        token_seconds=given.token_seconds,
        compress=not given.no_compress,
        faults=[parse(text) for text in given.fault],
        behaviour=Behaviour(
            delay=given.market_delay, hour_limit=given.market_limits[0], day_limit=given.market_limits[1]
        ),
        account=Account(webhook_url=given.webhook_url),
        keep=given.keep,
    )
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if given.tied:
        threading.Thread(target=_end_with_stdin, args=(loop, stop), daemon=True).start()
    async with sandbox:
        sys.stdout.write(json.dumps({"url": sandbox.url, "pid": os.getpid(), "seed": world.seed}) + "\n")
        sys.stdout.flush()
        await stop.wait()


def _end_with_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Whoever started us is gone. os.read, for a thread that waits in sys.stdin would keep the interpreter."""
    while os.read(0, 1):
        pass
    loop.call_soon_threadsafe(stop.set)
    time.sleep(LEAVE_SECONDS)  # in a thread of its own: the loop has so long to end by itself
    os._exit(0)


def main() -> int:
    """Read the command line and serve until a signal."""
    given = _arguments()
    memory.settle()
    try:
        asyncio.run(_serve(given))
    except BobusangError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
