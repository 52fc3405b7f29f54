"""The history of the tables: applied once, refused when newer, finished when it died half-way, and kind to data."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import inspect
from sqlalchemy.ext.asyncio import create_async_engine

from bobusang import migrations
from bobusang.engine import tables
from bobusang.kit import clock as clocks
from bobusang.kit.db import connect
from bobusang.kit.errors import Conflict, Invalid, Unavailable
from bobusang.kit.sql import Dialect, Statement
from bobusang.testing.workshop import Workshop
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sqlalchemy import Connection

VIEWS = ("claimed_tasks", "crawling_tasks", "crawling_queues", "v_job_statistics")


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def fresh(request: pytest.FixtureRequest) -> str:
    """The address of a database without any table."""
    found: str = request.getfixturevalue(f"fresh_{request.param}")
    return found


async def with_mariadb(url: str, work: Callable[[Connection], Any]) -> Any:
    engine = create_async_engine(url.replace("mariadb://", "mariadb+asyncmy://"))
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


def shape(connection: Connection) -> dict[str, tuple[set[Any], set[Any]]]:
    """Columns and indexes of every table."""
    found = inspect(connection)
    return {
        name: (
            {column["name"] for column in found.get_columns(name)},
            {index["name"] for index in found.get_indexes(name)},
        )
        for name in found.get_table_names()
    }


async def test_the_history_is_applied_once_and_what_is_newer_is_refused(fresh: str) -> None:
    head = migrations.head()
    assert await migrations.status(fresh) == migrations.Status(None, head)
    assert await migrations.upgrade(fresh) == migrations.Status(head, head)
    assert await migrations.upgrade(fresh) == migrations.Status(head, head)

    db = await connect(fresh)
    async with db.begin() as tx:
        await tx.execute(Statement("update alembic_version set version_num = '9999'"))
    await db.close()
    for refused in (migrations.status(fresh), migrations.upgrade(fresh)):
        with pytest.raises(Conflict, match=r"revision 9999.*newer version"):
            await refused


async def test_two_processes_that_start_together_upgrade_once(fresh: str) -> None:
    both = await asyncio.gather(migrations.upgrade(fresh), migrations.upgrade(fresh))

    assert [status.is_current for status in both] == [True, True]


async def test_an_unreachable_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unavailable, match="file cannot be made"):
        await migrations.upgrade(f"sqlite:///{tmp_path}/file/bobusang.db")
    with pytest.raises(Unavailable, match="BOBUSANG_DATABASE_URL"):
        await migrations.upgrade("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(Invalid, match="MySQL is not supported"):
        await migrations.upgrade("mysql://root@127.0.0.1/x")


async def test_a_mariadb_upgrade_that_died_half_way_is_finished_by_the_next(
    fresh_mariadb: str, migrated_mariadb: str
) -> None:
    """It died between a table and its first index, as it can, because each is committed at once."""

    def die(connection: Connection) -> None:
        for table in (tables.crawl_sources, tables.queue_ready):
            table.create(connection)
        for index in tables.queue_ready.indexes:
            index.drop(connection)

    await with_mariadb(fresh_mariadb, die)
    await migrations.upgrade(fresh_mariadb)

    assert await with_mariadb(fresh_mariadb, shape) == await with_mariadb(migrated_mariadb, shape)


REVISIONS = [script.revision for script in reversed(list(migrations.scripts().walk_revisions()))]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_data_of_any_revision_survives_the_way_to_the_newest(fresh: str, revision: str) -> None:
    """From revision 0002 on this begins with real rows in the older shape; the newest only proves the harness."""
    await migrations.upgrade(fresh, revision)
    fill(fresh, revision)
    before = await contents(fresh)
    assert before["crawling_workflows"] == 1

    await migrations.upgrade(fresh)

    after = await contents(fresh)
    assert {table: after[table] for table in before} == before
    async with Workshop.opened(fresh) as shop:
        new = await shop.job(None, "new")
        await shop.drain()
        assert [await shop.status(job) for job in (1, new)] == ["SUCCESS", "SUCCESS"]
        assert {view: len(await shop.rows(f"select * from {view}")) for view in VIEWS} == {
            "claimed_tasks": 0,
            "crawling_tasks": 2,
            "crawling_queues": 0,
            "v_job_statistics": 2,
        }


def fill(url: str, revision: str) -> None:
    """Rows in the tables of that revision, by statements that are frozen with it."""
    wait_for(_fill(url, FROZEN[revision]))


async def _fill(url: str, statements: list[str]) -> None:
    db = await connect(url)
    async with db.begin() as tx:
        for statement in statements:
            await tx._execute(statement.replace("NOW", f"'{clocks.text(tx.now)}'"), ())
        if tx.dialect is Dialect.POSTGRES:  # the rows brought their ids along
            for table in ("crawling_workflows", "workflow_steps", "crawling_jobs", "lanes"):
                await tx._execute(f"select setval(pg_get_serial_sequence('{table}', 'id'), 100)", ())
    await db.close()


async def contents(url: str) -> dict[str, int]:
    """How many rows each table has."""
    db = await connect(url)
    async with db.read() as tx:
        found = {
            name: (await tx.fetch(Statement(f"select count(*) as rows_there from {name}")))[0]["rows_there"]
            for name in ("crawling_workflows", "workflow_steps", "crawling_jobs", "tasks", "queue_ready")
        }
    await db.close()
    return found


FROZEN = {
    "0001": [
        """insert into crawling_workflows (id, workflow_name, workflow_type, workflow_definition, version, checksum,
          created_at, updated_at) values (1, '보부상', 'TARGETED', '{}', 1, 'x', NOW, NOW)""",
        """insert into workflow_steps (id, workflow_id, workflow_version, step_order, step_name, step_type, handler,
          created_at) values (1, 1, 1, 1, 'fetch', 'FETCH', 'work', NOW)""",
        """insert into crawling_jobs (id, workflow_id, workflow_version, status, created_at, updated_at)
          values (1, 1, 1, 'RUNNING', NOW, NOW)""",
        "insert into job_steps (job_id, step_id, step_order, state, created) values (1, 1, 1, 'RUNNING', 1)",
        """insert into tasks (id, job_id, step_id, task_key, task_type, status, created_at, updated_at)
          values (500001, 1, 1, '🧥', 'FETCH', 'PENDING', NOW, NOW)""",
        "insert into lanes (id, handler) values (1, 'work')",
        """insert into queue_ready (task_id, job_id, lane, due, queue, priority, attempt, dispatches)
          values (500001, 1, 1, 0, 1, 5, 0, 0)""",
    ]
}


def test_every_revision_has_frozen_data() -> None:
    assert list(FROZEN) == REVISIONS


def test_the_history_has_one_head() -> None:
    assert len(migrations.scripts().get_heads()) == 1
