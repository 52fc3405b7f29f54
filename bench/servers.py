"""The servers of a benchmark: private, with fsync on."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers import mariadb, postgres
from tests.servers.mariadb import MariaDB
from tests.servers.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def fresh_postgres() -> Iterator[str]:
    with Postgres(fsync=True) as server, postgres.fresh(server.url) as url:
        yield url


@contextmanager
def fresh_mariadb() -> Iterator[str]:
    with MariaDB(fsync=True) as server, mariadb.fresh(server.url) as url:
        yield url


@contextmanager
def fresh_sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="bobusang-bench-") as folder:
        yield f"sqlite:///{Path(folder) / 'bench.db'}"


FRESH = {"sqlite": fresh_sqlite, "postgresql": fresh_postgres, "mariadb": fresh_mariadb}
