"""A small sandbox on a free port, and a visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
import pytest

from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.testing.sandbox import Door


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with running(World(5, 300)) as found:
        yield found


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """A visitor that keeps no cookies by itself."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers={"User-Agent": "visitor"}) as found:
        yield found
