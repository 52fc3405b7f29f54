"""A part of the server that is made when it is first asked for: starting does not wait for it, and who never asks does
not pay for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send


class Later:
    """Makes it in a thread, once, while the first who asks waits."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._making = asyncio.Lock()
        self._made: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            async with self._making:
                if self._made is None:
                    self._made = await asyncio.to_thread(self._make)
        await self._made(scope, receive, send)
