"""Search in a real OpenSearch: the suite of every index, and what is particular to a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.platform.searches.opensearch.index import OpenSearch
from bobusang.testing.search_suite import SearchSuite
from tests.servers import opensearch
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator


@pytest.fixture(scope="module")
def address(opensearch_url: str) -> Iterator[str]:
    """A prefix of this module's own."""
    with opensearch.fresh(opensearch_url) as url:
        yield url


@pytest.fixture
def url(address: str) -> Iterator[str]:
    """That address, with no index of products."""
    yield address
    wait_for(opensearch.emptied(address, "products-*"))


@pytest.fixture
async def search(url: str) -> AsyncIterator[OpenSearch]:
    search = OpenSearch(url)
    yield search
    await search.close()


@pytest.fixture
async def other(url: str) -> AsyncIterator[OpenSearch]:
    search = OpenSearch(url)
    yield search
    await search.close()


@pytest.fixture
def lose(url: str) -> Callable[[], Awaitable[None]]:
    async def lost() -> None:
        await opensearch.emptied(url, "products-*")

    return lost


class TestOpenSearch(SearchSuite):
    """The server conforms."""
