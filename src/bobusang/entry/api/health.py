"""Whether the program lives, is ready, and who works in it. Open to all, because machines ask."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Literal

from fastapi import Request
from pydantic import BaseModel

from bobusang import __version__, migrations
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.kit.errors import BobusangError, Unavailable
from bobusang.kit.sql import Statement
from bobusang.views import workers
from bobusang.views.workers import Office
from bobusang.wiring import App

router = Resource("health", "/health")

PATIENCE = 3.0
"""Seconds the database may take to answer before it counts as away."""

REVISION = Statement("select version_num as value from alembic_version")


class Database(BaseModel):
    """The database and where it stands in its history."""

    dialect: str
    revision: str | None
    is_current: bool


class Health(BaseModel):
    """How the whole is doing; `degraded` when nobody works or nobody leads."""

    status: Literal["ok", "degraded"]
    version: str
    database: Database
    leader: Office | None
    workers: int


class Alive(BaseModel):
    """It answers."""

    status: Literal["ok"] = "ok"
    version: str = __version__


@lru_cache(maxsize=1)
def _head() -> str:
    return migrations.head()


async def _database(app: App, tx: Tx) -> Database:
    try:
        revision: str | None = await tx.value(REVISION)
    except Unavailable:
        raise
    except BobusangError:  # there is no such table yet
        revision = None
    return Database(dialect=tx.dialect.value, revision=revision, is_current=revision == _head())


@router.get("", summary="How it is doing")
async def health(request: Request) -> Health:
    """The database, the leader of upkeep and the number of workers."""
    app: App = request.app.state.bobusang
    try:
        async with asyncio.timeout(PATIENCE), app.engine.db.read() as tx:
            database = await _database(app, tx)
            office = await workers.leader(tx)
            alive = await workers.alive(tx, tx.now - app.engine.pace.dead_after)
    except TimeoutError:
        raise _silent() from None
    fine = database.is_current and office is not None and office.is_held and alive > 0
    return Health(
        status="ok" if fine else "degraded", version=__version__, database=database, leader=office, workers=alive
    )


@router.get("/live", summary="Whether the process answers")
async def live() -> Alive:
    """Asks nobody else, so that a database that is away does not have the process restarted."""
    return Alive()


@router.get("/ready", summary="Whether requests can be served")
async def ready(request: Request) -> Alive:
    """503 until the database answers and is current."""
    app: App = request.app.state.bobusang
    try:
        async with asyncio.timeout(PATIENCE), app.engine.db.read() as tx:
            database = await _database(app, tx)
    except TimeoutError:
        raise _silent() from None
    if not database.is_current:
        raise Unavailable(
            f"the database is at revision {database.revision or 'none'}, this program needs {_head()}",
            hint="run `bobusang db upgrade`",
        )
    return Alive()


def _silent() -> Unavailable:
    return Unavailable(f"the database has not answered within {PATIENCE:g} s", hint="is it up?")
