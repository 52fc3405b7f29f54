"""Requests to an application of this very process, as HTTP has them: an answer is handed on while it is made."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Message, Scope

BROKEN = 500


class Inside(httpx.AsyncBaseTransport):
    """Unlike httpx's own it keeps no answer whole: an export may be larger than memory."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = Answer(self._app, request, await request.aread())
        try:
            status, headers = await answer.begun
        except BaseException:
            await answer.aclose()
            raise
        return httpx.Response(status, headers=headers, stream=answer)


class Answer(httpx.AsyncByteStream):
    """One call of the application, which waits whenever a part of its answer was not taken yet."""

    def __init__(self, app: ASGIApp, request: httpx.Request, body: bytes) -> None:
        self.begun: asyncio.Future[tuple[int, list[tuple[bytes, bytes]]]] = asyncio.get_running_loop().create_future()
        self._asked: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
        self._parts: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._whole = asyncio.Event()
        self._work = asyncio.create_task(self._call(app, _scope(request)))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._parts.get()) is not None:
            yield part
        if not self._whole.is_set():
            raise httpx.RemoteProtocolError("the answer broke off")

    async def aclose(self) -> None:
        self._work.cancel()  # has ended where the answer was read to its end
        await asyncio.gather(self._work, return_exceptions=True)

    async def _call(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception:  # as a server does: who asked is told by the status, the log says why
            if not self.begun.done():
                self._whole.set()
        if not self.begun.done():
            self.begun.set_result((BROKEN, []))
        await self._parts.put(None)

    async def _receive(self) -> Message:
        if self._asked:
            return self._asked.pop()
        await self._whole.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun.set_result((message["status"], list(message.get("headers", ()))))
            return
        if part := message.get("body", b""):
            await self._parts.put(part)
        if not message.get("more_body", False):
            self._whole.set()


def _scope(request: httpx.Request) -> dict[str, Any]:
    url = request.url
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "scheme": url.scheme,
        "path": url.path,
        "raw_path": url.raw_path.split(b"?")[0],
        "query_string": url.query,
        "server": (url.host, url.port),
        "client": ("127.0.0.1", 123),
        "root_path": "",
    }
