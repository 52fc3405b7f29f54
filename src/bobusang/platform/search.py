"""The search contract: products found by how people type; SQL stays the truth, an index can be lost and made anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Protocol

from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

SETTING = "BOBUSANG_SEARCH_URL"
LONGEST_KEYWORD = 200
MOST = 100
"""Hits of one answer."""
MOST_FACETS = 20
"""Values of one facet, the most frequent first."""
COUNTED = 10_000
"""Up to here a total is exact; above, `Found.more` says that there are more."""


@dataclass(frozen=True, slots=True)
class Document:
    """A product as searching knows it. `aliases` are other names of its brand; prices are minor units of `currency`."""

    id: int
    mall: str
    product_id: str
    name: str = ""
    translated: str = ""
    """Its name in the market's language (Japanese), when it was converted: searched like the name."""
    brand: str = ""
    brand_ko: str = ""
    aliases: tuple[str, ...] = ()
    model: str = ""
    colours: str = ""
    """Those that it comes in, as its mall writes them: searched like the name."""
    category: str = ""
    seller: str = ""
    price: int | None = None
    currency: str = ""
    in_stock: bool | None = None
    image: str = ""
    url: str = ""
    changed: int = 0
    """Microseconds since 1970 of the product's last change."""

    def digest(self) -> str:
        """What `verify` compares: equal for equal documents, on every machine."""
        return blake2b(json.dumps(self).encode(), digest_size=8).hexdigest()


class Sort(StrEnum):
    """In which order hits come; equal ones by number."""

    RELEVANCE = "relevance"
    CHEAPEST = "price"
    DEAREST = "-price"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. A bound of 0 is no bound; several brands or malls mean any of them.

    A brand is named by any of its names, folded as `searches.words` does; a mall exactly. With a bound a product
    without a price is not found; sorted by price it comes last.
    """

    keyword: str = ""
    min_price: int = 0
    max_price: int = 0
    brands: tuple[str, ...] = ()
    malls: tuple[str, ...] = ()
    in_stock: bool | None = None
    sort: Sort = Sort.RELEVANCE
    limit: int = 20
    after: tuple[float | int, ...] = ()
    """`Found.next` of the answer before."""
    facets: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """One product found; `marked` has texts in which what was found stands between « and »."""

    document: Document
    score: float
    marked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Count:
    """How many of what was found have this value."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Found:
    """An answer. Facets (`brand`, `mall`, `category`, `in_stock`) and the price range are over all that was found.

    A brand's facet goes by `brand`, or `brand_ko` where that is empty; `in_stock` by `true` and `false`.
    """

    hits: tuple[Hit, ...]
    total: int
    more: bool = False
    facets: Mapping[str, tuple[Count, ...]] = field(default_factory=dict)
    prices: tuple[int, int] | None = None
    next: tuple[float | int, ...] = ()
    loose: bool = False
    """What was typed was not enough by itself, so that typos, other keyboards and parts were looked for: any product
    could come into this answer. Otherwise each product that is or could come in has every token of one word of it
    (`searches.tokens.shared`)."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A completion of what was typed: a brand, a model number or a product's name."""

    text: str
    kind: str
    count: int = 0


class Rebuild(Protocol):
    """A new index that is filled beside the one that serves; what is written meanwhile goes into both."""

    async def put(self, documents: Sequence[Document]) -> None: ...

    async def finish(self) -> None:
        """Serve from the new one at once, and drop the old."""
        ...

    async def abandon(self) -> None:
        """Drop what was filled; the old one goes on serving."""
        ...


class Search(Protocol):
    """An index of products. One process writes at a time; any number search.

    What `put` and `delete` have returned is found by the next search of this process and, in the others, by the next
    search after `renew`, and survives a crash. An index that cannot be reached raises Unavailable naming the setting,
    one that is broken or not there Drifted with the hint to rebuild it; it never answers with nothing instead. So does
    `put` where nothing was ever built: an index begins by `rebuild`. A second writer raises Conflict.
    """

    async def put(self, documents: Sequence[Document]) -> None:
        """Add them, or put them in the place of those with the same number."""
        ...

    async def delete(self, ids: Sequence[int]) -> None:
        """Take them out; one that is not there is no error."""
        ...

    async def get(self, ids: Sequence[int]) -> dict[int, Document]:
        """Those of them that are there, whole."""
        ...

    async def search(self, query: Query) -> Found: ...

    async def suggest(self, typed: str, limit: int = 10) -> tuple[Suggestion, ...]:
        """Completions of what was typed so far, 초성 included, the likeliest first."""
        ...

    async def renew(self) -> int:
        """See what others have written; a number that differs when something was written since the last call."""
        ...

    async def count(self) -> int: ...

    def digests(self) -> AsyncIterator[tuple[int, str]]:
        """Number and digest of every document, by number."""
        ...

    async def rebuild(self) -> Rebuild:
        """Begin a new index; a rebuild that was left behind by a crash is dropped."""
        ...

    async def check(self) -> None:
        """Raise when it cannot be used, naming the setting."""
        ...

    async def close(self) -> None: ...
