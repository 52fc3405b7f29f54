"""Lines in, lines out, at the same time: a body is read line by line while the answer to the first of them goes out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

NDJSON = "application/x-ndjson"


class Duplex(Response):
    """An answer that is made while the request is still read.

    Reading never waits for the caller to take the answer: many clients send all of theirs before they read any of
    ours, and both would wait for ever. So what is not taken yet is kept; whoever makes the answer bounds it.
    """

    media_type = NDJSON

    def __init__(self, made: AsyncIterator[bytes]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._made = made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ready: asyncio.Queue[bytes | None] = asyncio.Queue()

        async def make() -> None:
            try:
                async for part in self._made:
                    ready.put_nowait(part)
            finally:
                ready.put_nowait(None)

        making = asyncio.create_task(make())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while (part := await ready.get()) is not None:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await making
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)


async def lines(parts: AsyncIterator[bytes], longest: int) -> AsyncIterator[bytes | None]:
    """The lines of a body, None for one that is too long; of that no more is kept than was found too long."""
    rest, skipping = b"", False
    async for part in parts:
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield None if skipping or len(line) > longest else line
            skipping = False
        if len(rest) > longest:
            rest, skipping = b"", True
    if skipping:
        yield None
    elif rest.strip():
        yield rest if len(rest) <= longest else None
