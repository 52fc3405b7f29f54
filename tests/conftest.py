"""Fixtures for all tests: the real servers, and a fresh database on each."""

from __future__ import annotations

import gc
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from hypothesis import HealthCheck, settings

from bobusang.entry.cli.process import MIDDLE, OLD, YOUNG
from tests.servers import mariadb, opensearch, postgres, redis, seaweed
from tests.servers.skip import started
from tests.sharing import Sharing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

    from tests.servers.server import Server

MEMORY = Path("/dev/shm")
ROOM = 4 * 1024**3


def pytest_configure() -> None:
    """The folders of tests are in memory where there is room: on a disk SQLite and the index wait at every commit."""
    if MEMORY.is_dir() and min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
    # Hypothesis would fail an example that takes a fifth of a second, which on a busy machine any may.
    slow = [HealthCheck.too_slow]
    settings.register_profile("patient", settings.default, deadline=None, suppress_health_check=slow)
    settings.load_profile("patient")
    gc.disable()


def pytest_collection_finish() -> None:
    """Ten thousand tests and what they import stay to the end, and are not looked through for garbage; what comes later
    is as often as the program does it."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Sharing(config, log) if config.getvalue("dist") == "loadfile" else None


@contextmanager
def serving(url: str | None, private: Server) -> Iterator[str]:
    """The address found, else that of a private server of this test process."""
    if url:
        yield url
        return
    with started(private) as server:
        yield server.url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with serving(postgres.found(), postgres.Postgres()) as url:
        yield url


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    with serving(mariadb.found(), mariadb.MariaDB()) as url:
        yield url


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with serving(redis.found(), redis.Redis()) as url:
        yield url


@pytest.fixture
def fresh_postgres(postgres_url: str) -> Iterator[str]:
    with postgres.fresh(postgres_url) as url:
        yield url


@pytest.fixture
def fresh_mariadb(mariadb_url: str) -> Iterator[str]:
    with mariadb.fresh(mariadb_url) as url:
        yield url


@pytest.fixture
def fresh_sqlite(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'bobusang.db'}"


@pytest.fixture
def fresh_redis(redis_url: str) -> Iterator[str]:
    """A prefix for keys on `redis_url`."""
    with redis.fresh(redis_url) as prefix:
        yield prefix


@pytest.fixture(scope="session")
def s3_url() -> Iterator[str]:
    with serving(seaweed.found(), seaweed.Seaweed()) as url:
        yield url


@pytest.fixture
def fresh_s3(s3_url: str) -> Iterator[str]:
    """An address in the bucket of `s3_url` that nobody else uses."""
    with seaweed.fresh(s3_url) as url:
        yield url


@pytest.fixture(scope="session")
def own_opensearch() -> Iterator[opensearch.OpenSearch]:
    """One that may be killed, by who starts it again: a second beside it would cost more than most files."""
    with started(opensearch.OpenSearch()) as server:
        yield server


@pytest.fixture(scope="session")
def opensearch_url(request: pytest.FixtureRequest) -> str:
    return opensearch.found() or str(request.getfixturevalue("own_opensearch").url)


@pytest.fixture
def fresh_opensearch(opensearch_url: str) -> Iterator[str]:
    """An address on `opensearch_url` with a prefix that nobody else uses."""
    with opensearch.fresh(opensearch_url) as url:
        yield url
