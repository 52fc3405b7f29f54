"""MariaDB: the one in the environment, the one on port 3306, or a private one from the installed server."""

from __future__ import annotations

import os
import pwd
import re
import secrets
import shutil
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import asyncmy
from asyncmy.errors import MySQLError, OperationalError

from tests.servers.server import Server, Unavailable, listens, program, wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

VARIABLE = "BOBUSANG_TEST_MARIADB_URL"
OLDEST = (10, 6)
ACCOUNT = "bobusang"
UNSYNCED = ("--innodb-flush-log-at-trx-commit=2", "--loose-innodb-flush-method=nosync", "--loose-sync-frm=0")
"""Making a table syncs many times, whatever becomes of commits."""
REFUSED = (OSError, TimeoutError, MySQLError)


class MariaDB(Server):
    name = "mariadb"

    @property
    def url(self) -> str:
        return f"mariadb://{ACCOUNT}:{ACCOUNT}@127.0.0.1:{self.port}/{ACCOUNT}"

    @property
    def user(self) -> str:
        users = {entry.pw_name for entry in pwd.getpwall()}
        return "mysql" if super().user and "mysql" in users else super().user

    @property
    def scratch(self) -> Path:
        """Not /tmp: a server that starts deletes there what look like temporary tables, also those of its neighbour."""
        return self.folder / "tmp"

    def prepare(self) -> None:
        self._server = installed("mariadbd")
        account = f"'{ACCOUNT}'@'127.0.0.1'"
        (self.folder / "init.sql").write_text(
            f"create database if not exists {ACCOUNT};\n"
            f"create user if not exists {account} identified by '{ACCOUNT}';\n"
            f"grant all on *.* to {account} with grant option;\n"
        )
        self.scratch.mkdir()
        if self.user:
            shutil.chown(self.scratch, self.user)
        self.run(
            *(installed("mariadb-install-db"), "--no-defaults", f"--datadir={self.data}", f"--tmpdir={self.scratch}"),
            *("--auth-root-authentication-method=normal", "--skip-name-resolve", "--skip-test-db"),
        )

    def command(self) -> Sequence[str | Path]:
        return [
            *(self._server, "--no-defaults", f"--datadir={self.data}", f"--init-file={self.folder / 'init.sql'}"),
            *(f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve", "--skip-log-bin"),
            *(f"--socket={self.data / 'socket'}", f"--pid-file={self.data / 'pid'}", "--max-connections=200"),
            f"--tmpdir={self.scratch}",
            "--character-set-server=utf8mb4",
            *(["--innodb-flush-log-at-trx-commit=1"] if self.fsync else UNSYNCED),
        ]

    def ready(self) -> bool:
        return listens(self.port) and accepts(self.url)


def installed(name: str) -> Path:
    try:
        return program(name)
    except Unavailable:
        hint = f"MariaDB: install it (apt-get install mariadb-server, brew install mariadb) or set {VARIABLE}"
        raise Unavailable(hint) from None


def found() -> str | None:
    """The address of a MariaDB that is there already."""
    if given := os.environ.get(VARIABLE):
        return given
    url = "mariadb://root@127.0.0.1:3306/mysql"
    return url if listens(3306) and accepts(url) else None


def accepts(url: str) -> bool:
    """Does it let us in, is it a MariaDB, and is it new enough?"""

    async def ask() -> bool:
        async with cursor(url) as sql:
            await sql.execute("select version()")
            (version,) = await sql.fetchone()
        numbers = re.match(r"(\d+)\.(\d+)\..*MariaDB", version)
        return numbers is not None and tuple(map(int, numbers.groups())) >= OLDEST

    try:
        return wait_for(ask())
    except REFUSED:
        return False


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """The address of a new empty database on that server, dropped afterwards."""
    name = f"bobusang_test_{secrets.token_hex(6)}"
    wait_for(create(url, name))
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        wait_for(drop(url, name))


async def create(url: str, name: str) -> None:
    async with cursor(url) as sql:
        await sql.execute(f"create database `{name}` character set utf8mb4")


async def drop(url: str, name: str) -> None:
    """Drop it, ending first who is still connected: a transaction left open would hold the drop for ever."""
    async with cursor(url) as sql:
        await sql.execute("select id from information_schema.processlist where db = %s", (name,))
        for (connection,) in await sql.fetchall():
            with suppress(OperationalError):  # it ended by itself meanwhile
                await sql.execute(f"kill {connection}")
        await sql.execute(f"drop database if exists `{name}`")


@asynccontextmanager
async def cursor(url: str) -> AsyncIterator[Any]:
    at = urlsplit(url)
    connection = await asyncmy.connect(
        host=at.hostname,
        port=at.port or 3306,
        user=unquote(at.username or ""),
        password=unquote(at.password or ""),
        db=at.path.strip("/") or None,
        connect_timeout=10,
        autocommit=True,
    )
    try:
        async with connection.cursor() as sql:
            yield sql
    finally:
        connection.close()
