"""The servers that all other tests stand on."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from redis.asyncio import Redis as RedisClient

from tests.servers import mariadb, postgres
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import Postgres
from tests.servers.redis import Redis
from tests.servers.server import ROOT, Server, free_port, listens
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


async def test_postgres_answers_and_two_databases_are_distinct(postgres_url: str, fresh_postgres: str) -> None:
    with postgres.fresh(postgres_url) as other:
        names = [await ask_postgres(url, "select current_database()") for url in (fresh_postgres, other)]

    assert len({*names, "postgres"}) == 3
    assert await ask_postgres(postgres_url, f"select count(*) from pg_database where datname = '{names[1]}'") == 0


async def test_mariadb_answers_and_two_databases_are_distinct(mariadb_url: str, fresh_mariadb: str) -> None:
    with mariadb.fresh(mariadb_url) as other:
        names = [await ask_mariadb(url, "select database()") for url in (fresh_mariadb, other)]

    assert len(set(names)) == 2
    query = f"select count(*) from information_schema.schemata where schema_name = '{names[1]}'"
    assert await ask_mariadb(mariadb_url, query) == 0


async def test_mariadb_drops_a_database_that_a_transaction_still_uses(mariadb_url: str) -> None:
    with mariadb.fresh(mariadb_url) as url:
        await ask_mariadb(url, "create table held (id int primary key)")
        forgotten = mariadb.cursor(url)
        sql = await forgotten.__aenter__()
        await sql.execute("begin")
        await sql.execute("select * from held")


async def test_redis_answers_and_cleans_up_its_prefix(redis_url: str, fresh_redis: str) -> None:
    async with RedisClient.from_url(redis_url) as client:
        await client.set(f"{fresh_redis}greeting", "안녕")

        assert await client.get(f"{fresh_redis}greeting") == "안녕".encode()


def test_sqlite_is_a_file_of_its_own(fresh_sqlite: str, tmp_path: Path) -> None:
    assert fresh_sqlite == f"sqlite:///{tmp_path}/bobusang.db"


@pytest.fixture(params=[Postgres, MariaDB, Redis])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with started(request.param()) as private:
        yield private


@pytest.mark.parametrize("immediate", [True, False])
def test_a_private_server_keeps_address_and_data_over_a_restart(server: Server, immediate: bool) -> None:
    address = server.url

    server.stop(immediate=immediate)
    assert not listens(server.port)
    server.start()

    assert (server.url, server.ready(), server.data.is_dir()) == (address, True, True)


def test_a_closed_server_leaves_nothing(server: Server) -> None:
    folder, port = server.folder, server.port

    server.close()

    assert (folder.exists(), listens(port)) == (False, False)


def test_a_server_does_not_outlive_a_killed_run(server: Server) -> None:
    kind = type(server)
    script = (
        f"import sys; from {kind.__module__} import {kind.__name__} as Kind; server = Kind(); server.start();"
        "print(server.folder, server.port, flush=True); sys.stdin.read()"
    )
    run = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)
    assert run.stdout is not None
    folder, port = run.stdout.readline().split()

    run.kill()
    run.communicate()

    assert comes_true(lambda: not Path(folder).exists() and not listens(int(port)))


def test_the_port_is_none_the_system_gives_to_clients() -> None:
    with socket.socket() as client:
        client.bind(("127.0.0.1", 0))

        assert client.getsockname()[1] > 32_000 > free_port()


async def ask_postgres(url: str, query: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def ask_mariadb(url: str, query: str) -> Any:
    async with mariadb.cursor(url) as sql:
        await sql.execute(query)
        row = await sql.fetchone()
    return row[0] if row else None


def comes_true(condition: Callable[[], bool], seconds: float = 10) -> bool:
    give_up = time.monotonic() + seconds
    while not (done := condition()) and time.monotonic() < give_up:
        time.sleep(0.02)
    return done
