"""Collecting list pages: CPU a page of the whole product, of Scrapy, of Crawlee and of a bare loop."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import peers
from bench.mall import Mall
from bench.report import Line, at_most
from bench.servers import fresh_sqlite
from bobusang import migrations
from bobusang.kit.dbs.sqlite import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGES = {"quick": 150, "full": 200}
ROUNDS = {"quick": 3, "full": 5}
SECONDS = 600.0
Client = Callable[[list[str]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Spent:
    """One contender in one round, per page, in milliseconds."""

    said: dict[str, Any]
    cpu: float
    wall: float
    server: float


class Arena:
    """The mall, a fresh database for everyone, and what each has spent."""

    def __init__(self, mall: Mall) -> None:
        self.mall = mall
        self.spent: dict[str, list[Spent]] = {}
        self.stored: set[tuple[int, int]] = set()

    def measure(self, name: str, file: str, client: Client) -> None:
        """Let one collect all pages into this file."""
        options = ["--database", file, "--list", self.mall.list, "--pages", str(self.mall.pages)]
        before = self.mall.cpu
        said = client(options)
        each = 1000 / self.mall.pages
        spent = Spent(said, said["cpu"] * each, said["wall"] * each, (self.mall.cpu - before) * each)
        self.spent.setdefault(name, []).append(spent)
        self.stored.add(_stored(file))
        if len(self.stored) > 1:
            raise RuntimeError(f"{name} has stored other products than those before: {sorted(self.stored)}")

    def ratio(self, one: str, other: str) -> float:
        """Median over the rounds of one's CPU ÷ the other's."""
        pairs = zip(self.spent[one], self.spent[other], strict=True)
        return median(mine.cpu / theirs.cpu for mine, theirs in pairs)


def run(size: str) -> Iterator[Line]:
    """All contenders in turn, round after round."""
    with Mall(PAGES[size]) as mall:
        weight = mall.warm()
        arena = Arena(mall)
        for _ in range(ROUNDS[size]):
            _round(arena)
    yield Line("list pages of 80 boxes, each", f"{weight / 1000:,.0f} kB, {mall.pages} pages")
    for name, rounds in arena.spent.items():
        yield _line(name, rounds)
    yield at_most("ours ÷ Scrapy", arena.ratio("ours", "Scrapy"), 0.25, "×")
    yield at_most("ours ÷ Crawlee", arena.ratio("ours", "Crawlee"), 0.5, "×")
    yield at_most("ours ÷ bare loop", arena.ratio("ours", "bare loop"), 2, "×")
    for other in ("Scrapy with selectolax", "Crawlee with selectolax"):
        yield Line(f"ours ÷ {other}", f"{arena.ratio('ours', other):.2f} ×")
    yield Line("ours again ÷ ours", f"{arena.ratio('ours, again', 'ours'):.2f} ×")


def _round(arena: Arena) -> None:
    with _tables() as file:
        arena.measure("ours", file, _ours)
        arena.measure("ours, again", file, _ours)
    for name, client in OTHERS.items():
        with _tables() as file:
            arena.measure(name, file, client)


def _ours(options: list[str]) -> dict[str, Any]:
    return _module("bench.collect_ours", options)


def _bare(options: list[str]) -> dict[str, Any]:
    return _module("bench.collect_bare", options)


def _module(name: str, options: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(peers.output([sys.executable, "-m", name, *options], SECONDS))
    return found


def _peer(name: str, reader: str) -> Client:
    return lambda options: peers.crawl(name, [*options, "--reader", reader], timeout=SECONDS)


OTHERS: dict[str, Client] = {
    "bare loop": _bare,
    "Scrapy": _peer("scrapy", "parsel"),
    "Crawlee": _peer("crawlee", "parsel"),
    "Scrapy with selectolax": _peer("scrapy", "selectolax"),
    "Crawlee with selectolax": _peer("crawlee", "selectolax"),
}


@contextmanager
def _tables() -> Iterator[str]:
    """A fresh SQLite file with all tables and their indexes."""
    with fresh_sqlite() as url:
        asyncio.run(migrations.upgrade(url))
        yield str(place(url))


def _stored(file: str) -> tuple[int, int]:
    """How many products, and their prices together: all must have stored the same."""
    with closing(sqlite3.connect(file)) as connection:
        found: tuple[int, int] = connection.execute("select count(*), sum(price) from products").fetchone()
    return found


def _line(name: str, rounds: Sequence[Spent]) -> Line:
    said = rounds[0].said
    settings = ", ".join(f"{key} {value}" for key, value in said["settings"].items())
    cpu, wall, server = ([getattr(one, kind) for one in rounds] for kind in ("cpu", "wall", "server"))
    spread = f"{median(cpu):.1f} ms ({min(cpu):.1f}–{max(cpu):.1f}, {len(cpu)} rounds)"
    beside = f"{median(wall):.1f} ms wall, server {median(server):.1f} ms"
    return Line(f"{name} ({said['version']}; {settings}): CPU a page", f"{spread}; {beside}")
