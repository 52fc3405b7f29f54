"""What goes over the wire to a model's server: our headers and no other, and an answer that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2

from bobusang import __version__
from bobusang.platform.model import Garbled

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_ANSWER = 4 << 20
OURS = {"User-Agent": f"bobusang/{__version__}", "Content-Type": "application/json", "Accept": "application/json"}


class Wire(httpx2.AsyncBaseTransport):
    """Below the vendors' libraries, which take headers over from a dozen environment variables and tell of this
    machine in others. The key stands only here, so that none of their requests, errors and log lines can show it."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        # A compressed answer may be a thousand times as long as it looks.
        self._headers = {**OURS, "Accept-Encoding": "identity", **headers}
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The whole answer."""
        # With a name and password in the address, httpx2 has made this header of them.
        own = {"Authorization": request.headers["Authorization"]} if request.url.userinfo else {}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={**self._headers, **own},
            content=await request.aread(),
            extensions=request.extensions,
        )
        answer = await self._inner.handle_async_request(sent)
        try:
            body = await _whole(answer)
        finally:
            await answer.aclose()
        headers = {name: value for name, value in answer.headers.items() if name.lower() != "content-encoding"}
        return httpx2.Response(answer.status_code, headers=headers, content=body)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


async def _whole(answer: httpx2.Response) -> bytes:
    chunks, size = [], 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > LONGEST_ANSWER:
            raise Garbled(f"the model's answer does not end within {LONGEST_ANSWER:,} bytes")
        chunks.append(chunk)
    return b"".join(chunks)
