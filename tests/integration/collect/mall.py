"""A mall of three pages by hand, and someone who collects it page by page without any network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bobusang.catalog.model import Snapshot
from bobusang.kit import json
from bobusang.kit.http import Answer
from bobusang.kit.sql import Statement
from bobusang.platform.blobs.files import FileBlobs
from bobusang.stages.collect.model import Fetched, RunMode, Saved, Summary
from bobusang.stages.collect.policy import Guards, Policy
from bobusang.stages.collect.service import Collecting
from bobusang.stages.collect.source import Ask, Extent, Kind, Source, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.collect.source import Page, Reads

BASE = "https://mall.example"
BRAND = Target("brand", "나이키(NIKE)")
NAME = "mall"


@dataclass
class Mall(Source):
    """A source whose pages are made by the test."""

    policy: Policy = field(default_factory=Policy)
    name: str = NAME
    version: str = "mall@1"

    def seeds(self, target: Target) -> Iterable[Ask]:
        yield list_ask(1)

    def read(self, page: Page) -> Iterable[Reads]:
        return ()

    def items(self, target: Target, keys: Iterable[str]) -> Iterable[Ask]:
        return (item_ask(key) for key in keys)


def list_ask(page: int) -> Ask:
    return Ask(f"{BASE}/list?page={page}", Kind.LIST, "list", given={"page": page})


def item_ask(key: str, when: str = "") -> Ask:
    return Ask(f"{BASE}/item/{key}", Kind.ITEM, "detail", item=key, when=when)


def item(key: str, price: int | None = 10_000, *, unknown: Sequence[str] = (), **fields: Any) -> Snapshot:
    said = {"name": f"item {key}", **({} if "price" in unknown else {"price": price}), **fields}
    return Snapshot(NAME, key, said, tuple(unknown))


@dataclass
class Collector:
    """Someone who collects: each call is one transaction, as a flow makes them."""

    db: Database
    folder: Path
    guards: Guards = field(default_factory=Guards)
    target: Target = BRAND

    def __post_init__(self) -> None:
        self.mall = Mall(Policy(guards=self.guards))
        self.blobs = FileBlobs(self.folder)
        self.collecting = Collecting(self.blobs, lambda _: self.mall)

    async def plan(self, run: int, mode: RunMode = RunMode.FULL) -> list[Ask]:
        return await self.db.transact(lambda tx: self.collecting.plan(tx, self.mall, self.target, mode, run))

    async def fetched(self, run: int, ask: Ask, *found: Reads, body: bytes = b"", **more: Any) -> Fetched:
        body = body or json.dumps([run, ask.url, repr(found)]).encode()
        headers = {"content-type": "text/html; charset=utf-8", "etag": f'"{run}"', "set-cookie": "token=secret"}
        [sha] = await self.collecting.archive.keep([Answer(ask.url, 200, headers, body)])
        given = {"headers": headers, "media": "text/html", "size": len(body), **more}
        return Fetched(
            NAME,
            self.target.name,
            ask,
            found,
            self.mall.version,
            sha,
            ask.url,
            self.db.clock.now(),
            job_id=run,
            **given,
        )

    async def listed(
        self, run: int, *items: Snapshot, page: int = 1, total: int | None = None, last: bool = False
    ) -> Saved:
        """Save one page of the list."""
        keys = tuple(one.key for one in items)
        return await self.save(await self.fetched(run, list_ask(page), *items, Extent(keys, total, page, last)))

    async def detail(self, run: int, one: Snapshot) -> Saved:
        """Save one item's own page."""
        return await self.save(await self.fetched(run, item_ask(one.key), one))

    async def save(self, *fetched: Fetched) -> Saved:
        return await self.db.transact(lambda tx: self.collecting.save(tx, fetched))

    async def close(self, run: int, *, failed: int = 0) -> Summary:
        return await self.db.transact(lambda tx: self.collecting.close(tx, run, failed=failed))

    async def whole_run(self, run: int, *items: Snapshot) -> Summary:
        """Plan a run, read its one page, close it."""
        await self.plan(run)
        await self.listed(run, *items, total=len(items))
        return await self.close(run)

    async def truth(self) -> dict[str, dict[str, Any]]:
        """The fields of every record."""
        query = Statement("""
            select r.source_id, d.normalized_data from source_records r join source_data d on d.id = r.version_id
            order by r.source_id""")
        async with self.db.read() as tx:
            return {row["source_id"]: json.loads(row["normalized_data"]) for row in await tx.fetch(query)}

    async def prices(self) -> dict[str, int | None]:
        return {key: fields.get("price") for key, fields in (await self.truth()).items()}

    async def unlisted(self) -> set[str]:
        """Which records are known to be absent from their list."""
        return {key for key, fields in (await self.truth()).items() if fields.get("listed") is False}

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        async with self.db.read() as tx:
            return [tuple(dict(row).values()) for row in await tx.fetch(Statement(query))]  # type: ignore[call-overload]

    async def events(self, topic: str) -> list[Any]:
        found = await self.rows(f"select payload from outbox where topic = '{topic}' order by id")
        return [json.loads(payload) for (payload,) in found]

    async def do(self, work: Any) -> Any:
        """Any other work in a transaction."""

        async def once(tx: Tx) -> Any:
            return await work(tx)

        return await self.db.transact(once)
