"""The demo's own processes: a sandbox and the program itself, on the ports that they had the last time."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.demo.places import FILE, HOST, Places, free_ports, plain_environment, sandbox_line, store, stored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START_SECONDS = 60.0
STOP_SECONDS = 40.0


def places(home: Path, size: int) -> Places:
    """Those of this folder, chosen when it is first used; its size is then that of the first time."""
    found = stored(home)
    if found is None:
        sandbox, api = free_ports(2)
        found = store(home, Places(sandbox, api, size))
    for port in (found.sandbox, found.api):
        _must_be_free(port, home / FILE)
    return found


def _must_be_free(port: int, path: Path) -> None:
    with socket.socket() as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((HOST, port))
        except OSError as error:
            hint = (
                f"is another demo running in this folder? Otherwise choose another folder with --home ({path} names it)"
            )
            raise Failure("failed", f"port {port} is taken: {error.strerror}", hint, exit_code=Exit.FAILED) from error


@contextmanager
def sandbox(home: Path, at: Places) -> Iterator[None]:
    """Malls and a market on this machine, which remember what became of them."""
    with _child(sandbox_line(home, at), home / "sandbox.log", {}) as found:
        _first_line(found, home / "sandbox.log", "the sandbox")
        yield


@contextmanager
def program(home: Path, at: Places) -> Iterator[str]:
    """`bobusang up` in this folder; its key."""
    said = {
        "BOBUSANG_HOME": str(home),
        "BOBUSANG_DATABASE_URL": "",
        "BOBUSANG_SANDBOX_URL": at.sandbox_url,
        "BOBUSANG_HOST": HOST,
        "BOBUSANG_PORT": str(at.api),
        "BOBUSANG_LOG_LEVEL": "WARNING",
    }
    line = [sys.executable, "-m", "bobusang", "up", "--json"]
    with _child(line, home / "up.log", said) as found:
        ready = json.loads(_first_line(found, home / "up.log", "the program"))
        _answers(at.api_url)
        with open(ready["key_file"], encoding="utf-8") as file:  # noqa: PTH123
            yield file.read().strip()


@contextmanager
def _child(line: list[str], log: Path, said: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process of its own group: Ctrl-C is ours to hear, and it is then ended by us, gently."""
    with log.open("a", encoding="utf-8") as out:
        found = subprocess.Popen(  # noqa: S603 - our own program
            line,
            env=plain_environment() | said,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
            start_new_session=True,
        )
        try:
            yield found
        finally:
            found.terminate()
            try:
                found.communicate(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                found.kill()
                found.wait()


def _first_line(found: subprocess.Popen[str], log: Path, what: str) -> str:
    out: IO[str] | None = found.stdout
    assert out is not None
    line = out.readline()
    if not line:
        last = log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["it says nothing"]
        raise Failure("failed", f"{what} did not start: {last[0][:300]}", f"{log} tells more", exit_code=Exit.FAILED)
    return line


def _answers(url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health/ready", timeout=2):  # noqa: S310 - our own address
                return
        except OSError as error:
            if time.monotonic() > end:
                raise Failure("failed", f"{url} does not answer: {error}", exit_code=Exit.FAILED) from error
            time.sleep(0.05)  # the program says when it listens, not when it answers


def advanced(at: Places, hours: float) -> None:
    """Let the sandbox's world grow older."""
    _admin(at, "advance", {"hours": hours})


def _admin(at: Places, door: str, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    call = urllib.request.Request(f"{at.sandbox_url}/admin/{door}", data=data, method="POST")  # noqa: S310
    with urllib.request.urlopen(call, timeout=10):  # noqa: S310
        return
