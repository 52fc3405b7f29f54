"""One scratch table on each of the three databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import Column, MetaData, Table

from bobusang.kit.db import connect
from bobusang.kit.schema import Id, Instant, Json, key
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.kit.db import Database

SCRATCH = Table(
    "scratch",
    MetaData(),
    Column("id", Id, primary_key=True),
    Column("name", key(100)),
    Column("at", Instant),
    Column("doc", Json),
)
MAKE = Statement(
    sqlite="create table scratch (id integer primary key, name text unique, at text, doc text)",
    postgres="create table scratch (id bigint primary key, name varchar(100) unique, at timestamptz, doc jsonb)",
    mariadb="""create table scratch (id bigint primary key,
      name varchar(100) character set utf8mb4 collate utf8mb4_nopad_bin unique, at datetime(6), doc longtext)""",
)


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
async def db(request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    opened = await connect(request.getfixturevalue(f"fresh_{request.param}"))
    async with opened.begin() as tx:
        await tx.execute(MAKE)
    yield opened
    await opened.close()
