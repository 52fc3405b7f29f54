"""What the tests of indexing do: collect products, let the relay work, search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.platform.search import Query
from bobusang.testing.catalog import collect, reading

if TYPE_CHECKING:
    from bobusang.flows.indexing.indexer import Indexer
    from bobusang.kit.db import Database
    from bobusang.platform.relay import Relay
    from bobusang.platform.searches.embedded import EmbeddedSearch
    from bobusang.views.searching import Searching


@dataclass(frozen=True, slots=True)
class Library:
    """A database with its index."""

    db: Database
    index: EmbeddedSearch
    indexer: Indexer
    relay: Relay
    searching: Searching

    async def collect(self, key: str = "A1", **fields: Any) -> int:
        """A page said this of a product; its number."""
        told: dict[str, Any] = {
            "name": "나이키 구스다운 패딩",
            "brand": "NIKE",
            "brand_ko": "나이키",
            "price": 100,
            "currency": "KRW",
        }
        _, written = await collect(self.db, reading(key, **(told | fields)))
        return written.ids[0]

    async def deliver(self) -> None:
        """Let events reach whoever waits for them."""
        while await self.relay.step():
            pass

    async def find(self, keyword: str) -> tuple[list[int], str]:
        """The products found, and how the answer came about."""
        answer = await self.searching.find(Query(keyword))
        return [item["id"] for item in json.loads(answer.body)["items"]], answer.served.value
