"""The program as its users run it: real processes, real signals, real folders."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bobusang.entry.api import keys
from bobusang.entry.tables import Role
from bobusang.kit.db import connect
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COMMAND = [sys.executable, "-c", "import sys; from bobusang.entry.cli import main; sys.exit(main())"]
PATIENCE = 100.0
"""Seconds after which what has not happened will not: far more than anything takes, even on a busy machine."""

LIVELY = {"BOBUSANG_BEAT_SECONDS": "0.5", "BOBUSANG_DEAD_SECONDS": "4"}
"""So that a killed worker is noticed soon. Only for that: on a busy machine a live one may be taken for dead by it."""


def environment(**more: str) -> dict[str, str]:
    """Ours without any variable that would change what the program does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BOBUSANG_", "LC_", "LANG"))}
    return kept | {"PYTHONUNBUFFERED": "1"} | more


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for a condition, and no longer than it takes."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen within {PATIENCE:g} s"
        time.sleep(0.02)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def bobusang(*line: str, cwd: Path, **variables: str) -> Done:
    """Run a command to its end."""
    return patiently(PATIENCE, *line, cwd=cwd, **variables)


def patiently(patience: float, *line: str, cwd: Path, **variables: str) -> Done:
    """The same for one that takes its time."""
    found = subprocess.run(
        [*COMMAND, *line],
        cwd=cwd,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    return Done(found.returncode, found.stdout, found.stderr)


class Running:
    """A command that stays."""

    def __init__(self, *line: str, cwd: Path, **variables: str) -> None:
        self.errors = (cwd / f"stderr-{time.monotonic_ns()}.txt").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [*COMMAND, *line],
            cwd=cwd,
            env=environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def read_line(self) -> str:
        """The next line of its stdout."""
        stdout: IO[str] | None = self.process.stdout
        assert stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            assert selector.select(PATIENCE), f"it says nothing: {self.said()}"
        return stdout.readline()

    def said(self) -> str:
        """All of its stderr so far."""
        return Path(self.errors.name).read_text("utf-8")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def ended(self) -> int:
        """Wait for its end; the exit code."""
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


class Up(Running):
    """`bobusang up` on a free port, or on this one, ready."""

    def __init__(self, folder: Path, port: int = 0, /, **variables: str) -> None:
        super().__init__("up", "--port", str(port), "--json", cwd=folder, **variables)
        line = self.read_line()
        assert line, f"it did not become ready: {self.said()}"
        self.folder = folder
        self.ready: dict[str, Any] = json.loads(line)
        self.url: str = self.ready["url"]
        self.token = self._key(**variables)

    def _key(self, **variables: str) -> str:
        """The one that it made, or where it makes none one of our own."""
        kept: str | None = self.ready["key_file"]
        if kept:
            return (self.folder / kept).read_text("ascii").strip()
        if server := variables.get("BOBUSANG_DATABASE_URL"):
            return wait_for(_own_key(server))  # the command for it takes as long as the program takes to start
        made = bobusang("key", "add", "test", "--role", "admin", "--json", cwd=self.folder, **variables)
        key: str = made.document["key"]
        return key

    def run(self, *line: str) -> Done:
        """A command over HTTP."""
        return bobusang(*line, cwd=self.folder, BOBUSANG_URL=self.url, BOBUSANG_TOKEN=self.token)

    def get(self, path: str) -> Any:
        """One answer of the API, without the cost of a process."""
        request = urllib.request.Request(self.url + path, headers={"authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> Any:
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def finished(self, job: int) -> dict[str, Any]:
        """The job once it has ended."""
        until(lambda: self.get(f"/jobs/{job}")["status"] not in ("PENDING", "RUNNING"), f"the end of job {job}")
        found: dict[str, Any] = self.get(f"/jobs/{job}")
        return found


async def _own_key(url: str) -> str:
    db = await connect(url)
    try:
        return (await db.transact(lambda tx: keys.make(tx, "test", Role.ADMIN))).key
    finally:
        await db.close()


@contextmanager
def up(folder: Path, port: int = 0, /, **variables: str) -> Iterator[Up]:
    """`bobusang up` in a folder; gone at the end, whatever happened."""
    found = Up(folder, port, **variables)
    try:
        yield found
    finally:
        found.close()
