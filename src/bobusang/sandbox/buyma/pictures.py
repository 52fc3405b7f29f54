"""BUYMA fetches the pictures it is told of, from the very addresses it is given."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.sandbox.fault import Faults

SECONDS = 10.0
MOST_BYTES = 20 << 20
HEADS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"RIFF")
KEPT = 200_000


class Pictures:
    """Fetches, and counts how often each address was fetched."""

    def __init__(self, faults: Faults) -> None:
        self.http: aiohttp.ClientSession | None = None
        self.fetched: Counter[str] = Counter()
        self.lately: set[str] = set()
        """What was fetched since somebody last kept it."""
        self._faults = faults

    def clear(self) -> None:
        """Nothing was fetched yet."""
        self.fetched.clear()
        self.lately.clear()

    async def missing(self, paths: Iterable[str]) -> list[str]:
        """Those of these pictures that cannot be had."""
        return [path for path in paths if not await self._fetch(path)]

    async def _fetch(self, path: str) -> bool:
        assert self.http is not None
        if len(self.fetched) < KEPT or path in self.fetched:
            self.fetched[path] += 1
            self.lately.add(path)
        if self._faults.befall("buyma", "fetch", path, ""):
            return False
        try:
            async with asyncio.timeout(SECONDS), self.http.get(path, allow_redirects=False) as answer:
                if answer.status != 200 or not answer.content_type.startswith("image/"):
                    return False
                head, size = b"", 0
                async for chunk in answer.content.iter_chunked(1 << 16):
                    head, size = head or chunk[:8], size + len(chunk)
                    if size > MOST_BYTES:
                        return False
                return head.startswith(HEADS)
        except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
            return False
