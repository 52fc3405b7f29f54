"""A PostgreSQL database for one measurement: made beside the one in the URL, checked to be durable, dropped after."""

import importlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from bench.peers.drain import DrainFailed

DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


@dataclass(frozen=True, slots=True)
class Scratch:
    """The database's URL, what the server says about durability, and a way to ask a yes-or-no question."""

    url: str
    durability: dict[str, str]
    ask: Callable[[str], bool]
    analyze: Callable[[], None]


@contextmanager
def scratch(url: str) -> Iterator[Scratch]:
    """A fresh database on the server; refused if the server does not sync every commit to the disk."""
    # By name: the project may have this package, typed, or not, and the type checker must be content with both.
    psycopg: Any = importlib.import_module("psycopg")
    url = urlunsplit(urlsplit(url)._replace(scheme="postgresql"))
    name = f"peers_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as server:
        durability = {key: server.execute(f"SHOW {key}").fetchone()[0] for key in DURABLE}
        if loose := [key for key in DURABLE if durability[key] != "on"]:
            raise DrainFailed(f"the PostgreSQL server has {', '.join(loose)} off: a durable peer needs them on")
        server.execute(f"CREATE DATABASE {name}")
        try:
            own = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
            with psycopg.connect(own, autocommit=True) as database:

                def ask(query: str) -> bool:
                    return bool(database.execute(query).fetchone()[0])

                def analyze() -> None:
                    database.execute("VACUUM ANALYZE")

                yield Scratch(own, durability, ask, analyze)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
