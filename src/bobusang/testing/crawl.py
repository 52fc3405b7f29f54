"""The collecting worker that tests kill, alone or several at once: `python -m bobusang.testing.crawl ORDERS`.

ORDERS is JSON: `{"name": …, "settings": {…}, "visiting": {source: {…}}}`. It works and keeps the engine on the
settings' database and sandbox, goes on by itself when something it needs was away, and ends when its stdin ends.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang import wiring
from bobusang.kit import log
from bobusang.kit.errors import BobusangError
from bobusang.settings import load
from bobusang.stages.collect.policy import BackOff, Limits, Policy, Quota, Reaction, Response

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bobusang.wiring import App

AGAIN_SECONDS = 0.2
SWIFT: dict[str, Any] = {"beat_seconds": 0.25, "dead_seconds": 2.0}
"""Settings with which a killed worker is soon found dead."""


class Visiting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a source is visited in a test, in place of what the sandbox profile says."""

    rate: float = 500.0
    burst: float = 64.0
    concurrency: int = 8
    size: int | None = None
    """Identities."""
    calls: int = 20_000
    """Of each identity in `span` seconds."""
    span: float = 3600.0
    rest: float = 0.2
    """Seconds after a 429, each time."""
    timeout: float = 5.0
    """Seconds that a call may take."""

    def of(self, policy: Policy) -> Policy:
        """A policy, visited like this."""
        identity = policy.identity
        if identity.quota is not None:
            quota = Quota(self.calls, timedelta(seconds=self.span))
            identity = replace(identity, quota=quota, size=self.size or identity.size)
        resting = BackOff(timedelta(seconds=self.rest), 1.0, timedelta(seconds=self.rest), timedelta())
        throttled = Response(Reaction.COOLDOWN_IDENTITY, status=(429,), back_off=resting)
        return replace(
            policy,
            identity=identity,
            limits=Limits(rate=self.rate, burst=self.burst, concurrency=self.concurrency, jitter=0.0),
            responses=(throttled, *policy.responses),
            timeout=timedelta(seconds=self.timeout),
        )


class Orders(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that a worker must know."""

    name: str
    settings: dict[str, Any]
    visiting: dict[str, Visiting] = {}


def visit(app: App, visiting: Mapping[str, Visiting]) -> None:
    """Let an application visit its sources like this."""
    for name, how in visiting.items():
        source = app.collector.source(name)
        source.policy = how.of(source.policy)


async def serve(orders: Orders) -> None:
    """Work and keep the engine, until killed."""
    async with wiring.opened(load({}, **orders.settings), migrate=False) as app:
        visit(app, orders.visiting)
        await asyncio.gather(app.keeper().run(), work_on(app, orders.name))


async def work_on(app: App, name: str) -> None:
    """A worker that lost its database for too long gives up its claims and ends; here a new one takes its place."""
    while True:
        try:
            await app.worker(name).run()
        except BobusangError as error:
            log.get("crawl").warning("worker failed and is started again", error=str(error))
        await asyncio.sleep(AGAIN_SECONDS)


class Crew:
    """Such workers in processes of their own; none of them outlives the block."""

    def __init__(self, settings: dict[str, Any], visiting: Mapping[str, Visiting], log: Path) -> None:
        self._settings = settings
        self._visiting = dict(visiting)
        self._log = log
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0
        self.killed = 0

    @classmethod
    @contextmanager
    def of(cls, size: int, home: Path, visiting: Mapping[str, Visiting], **settings: Any) -> Iterator[Crew]:
        """So many workers on the settings of a yard in `home`; the end of their log is shown when the block fails."""
        crew = cls({**SWIFT, "home": str(home), **settings}, visiting, home / "crew.log")
        try:
            for _ in range(size):
                crew.start()
            yield crew
        except BaseException:
            sys.stderr.write(f"{crew.killed} killed before the end; the log ends:\n{crew.told()[-8000:]}\n")
            raise
        finally:
            for name in list(crew._running):
                crew.kill(name)

    @property
    def names(self) -> list[str]:
        """Those that run."""
        return [name for name, process in self._running.items() if process.poll() is None]

    def start(self) -> str:
        """One more worker; its name."""
        self._started += 1
        orders = Orders(name=f"crew {self._started}", settings=self._settings, visiting=self._visiting)
        with self._log.open("ab") as out:
            self._running[orders.name] = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-m", "bobusang.testing.crawl", msgspec.json.encode(orders).decode()],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
            )
        return orders.name

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until it is gone."""
        process = self._running.pop(name)
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        self.killed += 1

    def peak(self, name: str) -> int:
        """The most bytes that a worker has held in memory so far (Linux)."""
        lines = Path(f"/proc/{self._running[name].pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) << 10

    def told(self) -> str:
        """Their log."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""


def end_with_stdin() -> None:
    """Whoever started us is gone. os.read, for a thread that waits in sys.stdin would keep the interpreter."""
    while os.read(0, 1):
        pass
    os._exit(0)


def main() -> None:
    """Read the orders and serve."""
    orders = msgspec.json.decode(sys.argv[1], type=Orders)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    asyncio.run(serve(orders))


if __name__ == "__main__":
    main()
