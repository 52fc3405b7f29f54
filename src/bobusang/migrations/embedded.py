"""The tables of an embedded database, made at once where there are none: the way through the whole history takes
Alembic, and most of a second of every first start. The history stays the truth: `make docs` writes the script from it,
and a test holds one to the other."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

SCRIPT = Path(__file__).with_name("embedded.sql")
HEAD = "-- The embedded database at its newest revision. Generated: `make docs` writes it from the history.\n"
BUSY_SECONDS = 10.0
SHAPE = "select sql from sqlite_master where sql is not null and name not like 'sqlite%' order by rowid"
TABLES = "select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by rowid"


def make(path: Path) -> bool:
    """Make all tables in a file that has none, in one transaction.

    False: it has some, somebody was first, or it cannot be written. The history goes on from there, and tells.
    """
    try:
        with closing(sqlite3.connect(path, BUSY_SECONDS, isolation_level=None)) as connection:
            connection.execute("pragma journal_mode = wal")
            if connection.execute(TABLES).fetchone() is not None:
                return False
            connection.executescript(f"begin immediate;\n{SCRIPT.read_text('utf-8')}commit;")
    except sqlite3.Error:  # what had begun is gone with the connection
        return False
    return True


def written(path: Path) -> str:
    """The script that makes a database like this one, in the same order."""
    with closing(sqlite3.connect(path)) as connection:
        shape = [f"{sql};\n" for (sql,) in connection.execute(SHAPE)]
        rows = [
            f"insert into {table} values ({', '.join(_literal(connection, value) for value in row)});\n"
            for (table,) in connection.execute(TABLES).fetchall()
            for row in connection.execute(f"select * from {table}")
        ]
    return "".join((HEAD, *shape, *rows))


def _literal(connection: sqlite3.Connection, value: object) -> str:
    found: str = connection.execute("select quote(?)", (value,)).fetchone()[0]
    return found


def script() -> str:
    """As the history of today makes it."""
    from bobusang.migrations.applying import apply

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bobusang.db"
        asyncio.run(apply(f"sqlite:///{path}", "head"))
        return written(path)


if __name__ == "__main__":
    sys.stdout.write(script())
