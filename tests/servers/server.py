"""What all private servers share: a folder of their own, a port, a start and a stop."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

KEEPER = Path(__file__).with_name("keeper.py")
ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.01

Result = TypeVar("Result")


class Unavailable(Exception):
    """This server is neither running here nor installed; the message says how to get it."""


class Server(ABC):
    """A private server. `with Postgres() as server:` starts it, stops it and leaves nothing behind.

    It may be stopped and started again: port, address and data stay. With `fsync` a commit is on disk when it returns,
    as in production; without, it survives `stop(immediate=True)` but not the machine, which is enough for tests.
    """

    name: ClassVar[str]
    gentle: ClassVar[signal.Signals] = signal.SIGTERM
    immediate: ClassVar[signal.Signals] = signal.SIGKILL
    start_seconds: ClassVar[float] = 60.0

    def __init__(self, *, fsync: bool = False) -> None:
        self.fsync = fsync
        self.folder = Path()
        self.port = 0
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Its address, for a user who may create databases."""

    @abstractmethod
    def prepare(self) -> None:
        """Make the data folder, once."""

    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """The server's command line, in the foreground."""

    @abstractmethod
    def ready(self) -> bool:
        """Does it answer a client?"""

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def user(self) -> str:
        """The system user it runs as: servers refuse root. Empty for oneself."""
        return "nobody" if os.geteuid() == 0 else ""

    @property
    def running(self) -> bool:
        return self._keeper is not None and self._keeper.poll() is None

    def start(self) -> None:
        if self.port == 0:
            self._create()
        with (self.folder / "log").open("ab") as log:
            self._keeper = subprocess.Popen(
                [sys.executable, "-IS", KEEPER, self.folder, self.user, str(self.immediate.value), *self.command()],
                stdin=subprocess.PIPE,
                bufsize=0,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._await_ready()

    def stop(self, *, immediate: bool = False) -> None:
        """Stop and wait until it has ended; `immediate` is a crash, from which the next start recovers."""
        if self._keeper is None:
            return
        orders = self._keeper.stdin
        assert orders is not None
        with suppress(BrokenPipeError):  # it has ended by itself
            orders.write(b"%d\n" % (self.immediate if immediate else self.gentle))
        self._keeper.wait()
        orders.close()
        self._keeper = None

    def close(self) -> None:
        """Stop at once and remove the folder."""
        self.stop(immediate=True)
        if self.port:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.port = 0

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, *command: str | Path) -> None:
        """Run a tool of this server to its end, as the user of the server."""
        done = subprocess.run(
            command, cwd=self.folder, user=self.user or None, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{Path(command[0]).name} failed: {done.stdout}{done.stderr}")

    def _create(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"bobusang-{self.name}-", dir=short_temp()))
        self.port = free_port()
        self.folder.chmod(0o755)
        self.data.mkdir(mode=0o700)
        if self.user:
            shutil.chown(self.data, self.user)
        self.prepare()

    def _await_ready(self) -> None:
        give_up = time.monotonic() + self.start_seconds
        while not self.ready():
            if not self.running or time.monotonic() > give_up:
                self.stop(immediate=True)
                raise RuntimeError(f"{self.name} did not start:\n{(self.folder / 'log').read_text()[-4000:]}")
            time.sleep(POLL_SECONDS)


def short_temp() -> str | None:
    """A temporary folder that every user may enter, with a name short enough for a socket (macOS: 104 bytes)."""
    return "/tmp" if Path("/tmp").is_dir() else None


def free_port() -> int:
    """A free port below those the system hands out to clients: one that keeps trying to reach a server that is down may
    otherwise be given the server's own port, and then talks to itself."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port between 20000 and 32000")


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def program(name: str, *more: str) -> Path:
    """Where an installed program is; system users' paths often lack the folders of servers."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin", *more])
    if found := shutil.which(name, path=path):
        return Path(found)
    raise Unavailable(f"{name} is not installed")


def wait_for(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end from anywhere, whether or not a loop is running here."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
