"""The database server dies in the middle of the work and comes back; the workers go on by themselves.

`make soak` does the same with 20,000 tasks and several restarts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from bobusang import migrations
from bobusang.engine.rescuing import give_back
from bobusang.engine.worker import Turn
from bobusang.kit.errors import Unavailable
from bobusang.testing.fleet import Fleet, Trial, perfect
from bobusang.testing.workshop import Workshop
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import Postgres
from tests.servers.skip import started

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from bobusang.kit.db import Database, Tx
    from tests.servers.server import Server

T = TypeVar("T")

TASKS = 1000
PATIENCE = 100.0


@pytest.mark.parametrize("kind", [Postgres, MariaDB])
async def test_a_server_that_dies_and_returns_loses_nothing_and_does_nothing_twice(
    kind: type[Server], tmp_path: Path
) -> None:
    with started(kind()) as server:
        await migrations.upgrade(server.url)
        async with Trial.on(server.url, tasks=TASKS) as trial:
            with Fleet.of(2, server.url, tmp_path) as fleet:
                await trial.reached(TASKS // 2, patience=PATIENCE)
                await asyncio.to_thread(server.stop, immediate=True)
                await asyncio.to_thread(server.start)

                await trial.reached(TASKS, patience=PATIENCE)
                await asyncio.to_thread(server.stop, immediate=True)
                await fleet.says("gives up its claims", patience=PATIENCE)
                await asyncio.to_thread(server.start)

                assert await trial.ending(patience=PATIENCE) == perfect(TASKS)
                assert (fleet.killed, fleet.alive) == (0, 2)


class Unanswered:
    """A database whose answers get lost: the first claim's commit, then the attempt to give it back."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lost = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def transact(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        if self._lost == 1 and getattr(work, "func", None) is give_back:
            self._lost = 2
            raise Unavailable("connection refused")
        done = await self._db.transact(work)
        if not self._lost and isinstance(done, Turn) and done.held is not None:
            self._lost = 1
            raise Unavailable("the connection broke before the commit was answered")
        return done


async def test_a_claim_whose_commit_was_not_answered_goes_back(empty_sqlite: str) -> None:
    """The server came back between two tries: the second claimed other tasks, and nobody knew of the first claim."""
    async with Workshop.opened(empty_sqlite) as shop:
        shop.handler(batch=1, concurrency=1)
        job = await shop.job(await shop.workflow(), *range(3))
        shop.engine.db = cast("Database", Unanswered(shop.db))
        shop.db = shop.engine.db
        async with shop.running():
            assert await shop.ended(job) == "SUCCESS"
