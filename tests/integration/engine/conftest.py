"""An engine in a workshop, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.testing.clock import ManualClock


@pytest.fixture
async def shop(url: str, clock: ManualClock) -> AsyncIterator[Workshop]:
    """An engine on a clock that stands still."""
    async with Workshop.opened(url, clock=clock) as opened:
        yield opened


@pytest.fixture
async def other(shop: Workshop, clock: ManualClock) -> AsyncIterator[Workshop]:
    """A second process on the same database and the same clock."""
    async with Workshop.opened(shop.db.url, clock=clock) as opened:
        yield opened


@pytest.fixture
async def live(url: str) -> AsyncIterator[Workshop]:
    """An engine on the database's own time, for whole flows with real workers."""
    async with Workshop.opened(url) as opened:
        yield opened
