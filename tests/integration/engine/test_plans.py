"""The queue's hot statements walk an index, sort nothing, and lock no more than they take."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from bobusang import migrations
from bobusang.engine import promoting, queue, settling
from bobusang.engine.model import DEADLINE, HeldReason
from bobusang.engine.queues import mariadb, postgres, sqlite
from bobusang.engine.tables import tasks
from bobusang.kit import json
from bobusang.kit.sql import Bulk, Dialect, Statement
from bobusang.testing.clock import NOON
from bobusang.testing.workshop import PATIENCE, Workshop
from tests.servers import mariadb as on_mariadb
from tests.servers import postgres as on_postgres
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from bobusang.kit.db import Tx

LOADED = 5000
LANES = 4
TAKEN = 10
WAITING = 500
"""Delayed and held rows of which ten are due."""

READY = queue.READY
TASKS = Bulk(
    tasks, ("id", "job_id", "step_id", "task_key", "task_type", "status", "input_data", "created_at", "updated_at")
)
PICKS = {Dialect.SQLITE: sqlite.PICK, Dialect.POSTGRES: postgres.PICK, Dialect.MARIADB: mariadb.PICK}
ANALYZE = Statement("analyze", mariadb="analyze table tasks, queue_ready, queue_delayed, queue_held")
IDS = list(range(1, TAKEN + 1))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a database means to do: the indexes it walks, tables it reads whole, and whether it sorts."""

    indexes: frozenset[str]
    scans: frozenset[str] = frozenset()
    sorts: bool = False


def by(*indexes: str) -> Plan:
    return Plan(frozenset(indexes))


async def load(tx: Tx) -> None:
    """Ready rows over several lanes, with equal and unequal sort keys; more delayed and held ones than are due."""
    rows = [(n, 1, n % LANES + 1, n * 37 % 1000, 1, 5, 0, 0) for n in range(1, LOADED + 1)]
    await tx.insert(READY, rows)
    await tx.insert(TASKS, [(n, 1, 1, str(n), "FETCH", "PENDING", "{}", NOON, NOON) for n in range(1, LOADED + 1)])
    late, soon = tx.now.replace(year=2000), tx.now.replace(year=9999)
    others = range(LOADED + 1, LOADED + WAITING + 1)
    due = {n: late if n <= LOADED + TAKEN else soon for n in others}
    await tx.insert(queue.DELAYED, [(n, 1, 1, 1, 5, 0, 0, due[n], None) for n in others])
    await tx.insert(queue.HELD, [(n, 1, 1, 1, 5, 0, 0, 1, HeldReason.WAIT, str(n), due[n]) for n in others])


async def fill(url: str, *, studied: bool) -> None:
    """Tables and rows; statistics only where they are asked for, and none by themselves."""
    await migrations.upgrade(url)
    async with Workshop.opened(url) as shop:
        if shop.db.dialect is Dialect.POSTGRES:
            for table in ("queue_ready", "queue_delayed", "queue_held", "tasks"):
                left_alone = Statement(f"alter table {table} set (autovacuum_enabled = false)")
                await shop.do(lambda tx, left_alone=left_alone: tx.execute(left_alone))  # type: ignore[misc]
        await shop.do(load)
        if studied:
            async with shop.db.read() as tx:
                await tx.fetch(ANALYZE)


@pytest.fixture(
    scope="module",
    params=["sqlite", "sqlite studied", "postgres", "postgres studied", "mariadb", "mariadb studied"],
)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database whose queue was just filled, before and after it has studied that."""
    name, _, studied = request.param.partition(" ")
    with ExitStack() as stack:
        if name == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('plans') / 'bobusang.db'}"
        else:
            fresh = {"postgres": on_postgres.fresh, "mariadb": on_mariadb.fresh}[name]
            url = stack.enter_context(fresh(request.getfixturevalue(f"{name}_url")))
        wait_for(fill(url, studied=bool(studied)))
        yield url


@pytest.fixture
async def loaded(filled: str) -> AsyncIterator[Workshop]:
    async with Workshop.opened(filled) as shop:
        yield shop


async def plan(shop: Workshop, statement: Statement, *, walks: bool = False, **params: Any) -> Plan:
    """How a statement would be run, in a transaction such as it is run in."""
    async with shop.db.begin() as tx:
        if walks:
            await tx.walk()
        text, arguments = statement.bind(tx.dialect, params)
        rows = await tx._fetch(EXPLAIN[tx.dialect] + text, arguments)
    return READ[shop.db.dialect]([dict(row) for row in rows])  # type: ignore[call-overload]


def read_sqlite(rows: list[dict[str, Any]]) -> Plan:
    details = [row["detail"] for row in rows]
    indexes = [detail.split(" USING ")[1].split(" (")[0] for detail in details if detail.startswith("SEARCH")]
    names = [name.removeprefix("COVERING ").removeprefix("INDEX ") for name in indexes]
    scans = [detail for detail in details if detail.startswith("SCAN") and "json_each" not in detail]
    return Plan(frozenset(names), frozenset(scans), any("TEMP B-TREE" in detail for detail in details))


def read_postgres(rows: list[dict[str, Any]]) -> Plan:
    found = rows[0]["QUERY PLAN"]
    nodes = list(walk((json.loads(found) if isinstance(found, str) else found)[0]["Plan"]))
    return Plan(
        frozenset(node["Index Name"] for node in nodes if "Index Name" in node),
        frozenset(node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"),
        any("Sort" in node["Node Type"] for node in nodes),
    )


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    yield from itertools.chain.from_iterable(walk(child) for child in node.get("Plans", ()))


def read_mariadb(rows: list[dict[str, Any]]) -> Plan:
    return Plan(
        frozenset(row["key"] for row in rows if row["key"]),
        frozenset(row["table"] for row in rows if row["type"] in {"ALL", "index"}),
        any("filesort" in row["Extra"] or "temporary" in row["Extra"] for row in rows),
    )


EXPLAIN = {
    Dialect.SQLITE: "explain query plan ",
    Dialect.POSTGRES: "explain (format json) ",
    Dialect.MARIADB: "explain ",
}
READ = {Dialect.SQLITE: read_sqlite, Dialect.POSTGRES: read_postgres, Dialect.MARIADB: read_mariadb}
ROWID = "INTEGER PRIMARY KEY"


@pytest.mark.parametrize("size", [1, TAKEN, 500])
async def test_a_claim_walks_its_index_in_order(loaded: Workshop, size: int) -> None:
    found = await plan(loaded, PICKS[loaded.db.dialect], walks=True, lane=1, size=size, due=-1, task_id=-1)

    assert (
        found
        == {
            Dialect.SQLITE: by("ix_queue_ready_claim", ROWID),
            Dialect.POSTGRES: by("ix_queue_ready_claim", "queue_ready_pkey"),
            Dialect.MARIADB: by("ix_queue_ready_claim"),
        }[loaded.db.dialect]
    )


async def test_a_claim_on_mariadb_removes_by_the_primary_key(empty_mariadb: str) -> None:
    async with Workshop.opened(empty_mariadb) as shop:
        await shop.do(load)

        assert await plan(shop, mariadb.REMOVE, ids=IDS, size=TAKEN) == by("PRIMARY")


async def test_finishing_goes_by_the_primary_key(loaded: Workshop) -> None:
    found = await plan(loaded, settling.SUCCEED, ids=IDS, started_at=NOON, now=NOON, elapsed=5)

    assert (
        found
        == {Dialect.SQLITE: by(ROWID), Dialect.POSTGRES: by("tasks_pkey"), Dialect.MARIADB: by("PRIMARY")}[
            loaded.db.dialect
        ]
    )


async def test_promoting_walks_what_is_due(loaded: Workshop) -> None:
    asked = {"now": loaded.db.clock.now(), "limit": promoting.AT_ONCE}
    found = [
        await plan(loaded, promoting.DELAYED, walks=True, **asked),
        await plan(loaded, promoting.OVERSLEPT, walks=True, **asked, reason=HeldReason.WAIT),
    ]

    assert found == [by("ix_queue_delayed_run_at"), by("ix_queue_held_until")]


# --- locks ---


@pytest.fixture(params=["postgres", "mariadb"])
def shared_url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture
async def shared(shared_url: str) -> AsyncIterator[Workshop]:
    """A filled queue on a server whose transactions can stand in each other's way."""
    async with Workshop.opened(shared_url) as shop:
        await shop.do(load)
        yield shop


async def pick(tx: Tx, lane: int = 1) -> set[int]:
    claim = await queue.claim(tx, lane=lane, worker_id=1, size=TAKEN, deadline=DEADLINE)
    assert claim is not None
    return {entry.task_id for entry in claim.entries}


async def test_a_claim_locks_what_it_takes_and_not_the_lane(empty_mariadb: str) -> None:
    """Each row once in the claim's index and once in the table, and the claim row; a filesort would lock 1,250."""
    locked = Statement("""
        select trx_rows_locked as value from information_schema.innodb_trx
        where trx_mysql_thread_id = connection_id()""")
    async with Workshop.opened(empty_mariadb) as shop:
        await shop.do(load)
        async with shop.db.begin() as tx:
            await pick(tx)

            async def counted() -> bool:  # the table of transactions is a picture up to a tenth of a second old
                return (await tx.value(locked) or 0) >= TAKEN

            await shop.until(counted)
            assert TAKEN <= await tx.value(locked) <= TAKEN * 3


async def test_two_claimers_at_once_get_different_rows(shared: Workshop) -> None:
    async with asyncio.timeout(PATIENCE), shared.db.begin() as first:
        one = await pick(first)
        async with shared.db.begin() as second:
            two = await pick(second)

    assert (len(one), len(two), one & two) == (TAKEN, TAKEN, set())


async def test_an_open_claim_holds_up_nobody_who_adds_to_the_lane(shared: Workshop) -> None:
    """Before, between and behind the rows that are locked."""
    new = [(LOADED * 2 + due, 1, 1, due, 1, 5, 0, 0) for due in (-1, 0, 5, 999, 2000)]
    async with asyncio.timeout(PATIENCE), shared.db.begin() as claiming:
        await pick(claiming)
        async with shared.db.begin() as adding:
            await adding.insert(READY, new)

    assert await shared.value("select count(*) from queue_ready") == LOADED + len(new) - TAKEN
