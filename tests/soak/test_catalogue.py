"""Fifty clients write and search for a minute while the worker is killed twice and the index deleted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang import migrations
from tests.e2e.under_fire import CLEAN, Choice, fought
from tests.servers.redis import Redis
from tests.servers.skip import started

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

CLIENTS = 50
SECONDS = 60.0
CHOICES = [
    pytest.param("fresh_sqlite", None, None, id="sqlite"),
    pytest.param("fresh_postgres", None, None, id="postgres"),
    pytest.param("fresh_mariadb", None, None, id="mariadb"),
    pytest.param("fresh_postgres", "own_redis", None, id="postgres, redis"),
    pytest.param("fresh_sqlite", "own_redis", "fresh_opensearch", id="sqlite, redis, opensearch"),
    pytest.param("fresh_postgres", "own_redis", "fresh_opensearch", id="postgres, redis, opensearch"),
    pytest.param("fresh_mariadb", "own_redis", "fresh_opensearch", id="mariadb, redis, opensearch"),
]


@pytest.fixture
def own_redis() -> Iterator[str]:
    """Where nobody else has kept answers."""
    with started(Redis()) as server:
        yield server.url


@pytest.mark.parametrize(("database", "cache", "search"), CHOICES)
async def test_nothing_is_lost_and_nothing_old_is_shown_while_parts_of_it_die(
    request: pytest.FixtureRequest,
    database: str,
    cache: str | None,
    search: str | None,
    tmp_path: Path,
    chance: random.Random,
) -> None:
    url, kept, index = (request.getfixturevalue(name) if name else "" for name in (database, cache, search))
    await migrations.upgrade(url)

    found = await fought(
        tmp_path, Choice(url, kept, index), clients=CLIENTS, seconds=SECONDS, seed=chance.randrange(10**6)
    )

    print(dict(found.done))
    assert (found.wrong, found.lost, found.unlike) == ([], [], [])
    assert found.verified | {"compared": 0} == CLEAN
    assert all(found.done[what] for what in ("certain answers: hit", "haggled", "outdated"))
