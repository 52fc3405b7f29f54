"""Search in a folder: the suite of every index, and what is particular to files."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.testing.search_suite import SearchSuite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedSearch]:
    search = EmbeddedSearch(tmp_path)
    yield search
    await search.close()


class TestEmbedded(SearchSuite):
    """The folder conforms."""

    @pytest.fixture
    def search(self, embedded: EmbeddedSearch) -> EmbeddedSearch:
        return embedded

    @pytest.fixture
    async def other(self, tmp_path: Path) -> AsyncIterator[EmbeddedSearch]:
        search = EmbeddedSearch(tmp_path)
        yield search
        await search.close()

    @pytest.fixture
    def lose(self, tmp_path: Path) -> Callable[[], Awaitable[None]]:
        def gone() -> None:
            """At once: what is written into it meanwhile finds no folder."""
            shutil.rmtree(tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}-lost")))

        async def lost() -> None:
            await asyncio.to_thread(gone)

        return lost
