"""Search in a folder: the suite of every index, and what is particular to files."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from bobusang.platform.search import Document, Query
from bobusang.platform.searches.embedded import EmbeddedSearch
from bobusang.testing.search_suite import SearchSuite, build, ids

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

    async def test_a_brand_goes_before_what_only_mentions_it_from_the_first_that_does(
        self, search: EmbeddedSearch
    ) -> None:
        """As long as nobody does, both are one query."""
        await build(search, [Document(2, "okmall", "B", name="경량 패딩", brand_ko="나이키")])
        alone = await search.search(Query("나이키"))

        await search.put([Document(1, "okmall", "A", name="나이키 같은 패딩", brand_ko="아디다스")])

        assert (ids(alone), ids(await search.search(Query("나이키")))) == ([2], [2, 1])

    async def test_a_word_that_only_deleted_products_have_is_a_typo(self, search: EmbeddedSearch) -> None:
        """Though tantivy still counts them."""
        await build(search, [Document(1, "okmall", "A", name="나이끼"), Document(2, "okmall", "B", name="나이키")])
        typed = await search.search(Query("나이끼"))

        await search.delete([1])
        meant = await search.search(Query("나이끼"))

        assert (ids(typed), typed.loose, ids(meant), meant.loose) == ([1], False, [2], True)
