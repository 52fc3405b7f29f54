"""The API behind a real HTTP server on a loopback port."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
import uvicorn

from bobusang.entry.cli.process import listening
from tests.integration.api.door import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fastapi import FastAPI


@asynccontextmanager
async def served(api: FastAPI, key: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API over HTTP, with this key."""
    listener = listening("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(api, log_config=None, access_log=False, server_header=False))
    running = asyncio.create_task(server.serve(sockets=[listener]))

    async def started() -> bool:
        return server.started

    try:
        await until(started, bool)
        host, port = listener.getsockname()
        headers = {"authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        await running
        listener.close()
