"""`GET /products/{id}` of the API, with key, role, rate and log line, beside a bare route that does one query."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import socket
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import aiohttp

from bench.report import Line, at_least, interleaved, rate
from bench.servers import FRESH
from bobusang import migrations
from bobusang.catalog import records
from bobusang.entry.api import keys
from bobusang.entry.tables import Role
from bobusang.kit import log
from bobusang.kit.db import connect
from bobusang.kit.sql import Statement
from bobusang.testing.catalog import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.kit.db import Tx

PRODUCTS = 1000
CALLERS = 16
PLAIN = Statement("select * from products where id = :id")
SECONDS = {"quick": 4.0, "full": 15.0}
ROUNDS = {"quick": 3, "full": 7}
SAID: dict[str, Any] = {
    "name": "나이키 롱패딩",
    "brand": "NIKE",
    "brand_ko": "나이키",
    "model": "DD1234-010",
    "price": 129_000,
    "currency": "KRW",
    "url": "https://mall.example/4711",
    "images": ["https://mall.example/4711.jpg"],
    "category": "의류 > 패딩",
}


def run(size: str) -> Iterator[Line]:
    for name in FRESH:
        with FRESH[name]() as url:
            key, ids = asyncio.run(_fill(url))
            with _served(_ours, url) as ours, _served(_bare, url) as bare:
                found = interleaved(
                    ROUNDS[size],
                    {
                        "ours": partial(_measured, ours, "/products/{}", key, ids, SECONDS[size]),
                        "bare": partial(_measured, bare, "/{}", key, ids, SECONDS[size]),
                    },
                )
        yield rate(f"{name}: GET /products/{{id}}", found["ours"])
        yield rate(f"{name}: a bare FastAPI route with one query", found["bare"])
        yield at_least(f"{name}: ours ÷ bare", median(found["ours"]) / median(found["bare"]), 0.6, "")


async def _fill(url: str) -> tuple[str, list[int]]:
    await migrations.upgrade(url)
    db = await connect(url)

    async def work(tx: Tx) -> tuple[str, list[int]]:
        changes = await records.compare(tx, [reading(f"A{n}", **SAID) for n in range(PRODUCTS)], groups={})
        written = await records.write(tx, changes, run=1, now=tx.now)
        return (await keys.make(tx, "bench", Role.VIEWER)).key, list(written.ids)

    try:
        return await db.transact(work)
    finally:
        await db.close()


@contextmanager
def _served(serve: Any, url: str) -> Iterator[str]:
    """A server in a process of its own; its address."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    process = multiprocessing.get_context("fork").Process(target=serve, args=(url, listener), daemon=True)
    process.start()
    host, port = listener.getsockname()
    listener.close()
    try:
        yield f"http://{host}:{port}"
    finally:
        process.terminate()
        process.join()


def _ours(url: str, listener: socket.socket) -> None:
    with Path(os.devnull).open("w") as nowhere, tempfile.TemporaryDirectory() as home:
        log.configure(format="json", stream=nowhere)  # a line a request is part of it
        asyncio.run(_serve_ours(url, listener, home))


async def _serve_ours(url: str, listener: socket.socket, home: str) -> None:
    from bobusang.entry.api import create_app
    from bobusang.settings import Settings
    from bobusang.wiring import opened

    async with opened(Settings(home=home, database_url=url, api_rate=10_000_000)) as app:
        await _serve(create_app(app), listener)


def _bare(url: str, listener: socket.socket) -> None:
    asyncio.run(_serve_bare(url, listener))


async def _serve_bare(url: str, listener: socket.socket) -> None:
    from fastapi import FastAPI

    api = FastAPI()
    db = await connect(url)

    @api.get("/{product_id}")
    async def show(product_id: int) -> dict[str, Any]:
        async with db.read() as tx:
            row = await tx.first(PLAIN, id=product_id)
        return dict(row)  # type: ignore[call-overload,no-any-return]

    await _serve(api, listener)


async def _serve(api: Any, listener: socket.socket) -> None:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(api, log_config=None, access_log=False, server_header=False))
    await server.serve(sockets=[listener])


def _measured(base: str, path: str, key: str, ids: list[int], seconds: float) -> float:
    return asyncio.run(_calls(base, path, key, ids, seconds))


async def _calls(base: str, path: str, key: str, ids: list[int], seconds: float) -> float:
    """Calls a second of some callers at once."""
    headers = {"authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(base, headers=headers) as session:
        await _until_served(session)
        done, begun = 0, time.perf_counter()

        async def call(place: int) -> None:
            nonlocal done
            while time.perf_counter() - begun < seconds:
                place = (place + 7) % len(ids)
                async with session.get(path.format(ids[place])) as answer:
                    body = await answer.read()
                    assert answer.status == 200, body
                done += 1

        await asyncio.gather(*(call(place) for place in range(CALLERS)))
        return done / (time.perf_counter() - begun)


async def _until_served(session: aiohttp.ClientSession) -> None:
    for _ in range(600):
        try:
            async with session.get("/nothing"):
                return
        except aiohttp.ClientError:
            await asyncio.sleep(0.05)  # it is still starting
    raise RuntimeError("the server does not start")
