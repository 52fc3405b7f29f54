"""Searching as doors offer it: answers through the cache, under keys a person can read, with cursors."""

from __future__ import annotations

import base64
import binascii
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.platform.cache import LONGEST_KEY
from bobusang.platform.caching import Made
from bobusang.platform.search import LONGEST_KEYWORD, Document, Query, Sort
from bobusang.platform.searches import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.platform.cache import Size
    from bobusang.platform.caching import Answer, Caching, Counts
    from bobusang.platform.search import Found, Hit, Search, Suggestion
    from bobusang.platform.searches.elsewhere import Elsewhere

PREFIX = "search:"
DEFAULT_LIMIT = 20
LONGEST_CURSOR = 200
ESCAPES = str.maketrans({"%": "%25", ":": "%3A"})


class FoundItem(BaseModel):
    """One product found; `marked` has texts in which what was found stands between « and »."""

    id: int
    mall: str
    product_id: str
    name: str
    brand: str
    brand_ko: str
    model: str
    category: str
    seller: str
    price: int | None
    currency: str
    in_stock: bool | None
    image: str
    url: str
    score: float
    marked: dict[str, str]


class FacetValue(BaseModel):
    """How many of what was found have this value."""

    value: str
    count: int


class Prices(BaseModel):
    """The lowest and the highest price of what was found."""

    min: int
    max: int


class SearchResults(BaseModel):
    """An answer; `more`: there are more than `total`, which is counted to ten thousand only."""

    items: list[FoundItem]
    total: int
    more: bool
    facets: dict[str, list[FacetValue]]
    prices: Prices | None
    next: str | None


SHOWN = tuple(name for name in FoundItem.model_fields if name in Document.__dataclass_fields__)


class Searching:
    """The index behind its cache; `elsewhere` is asked whether another process has written it."""

    def __init__(self, index: Search, caching: Caching, elsewhere: Elsewhere) -> None:
        self._index = index
        self._caching = caching
        self._elsewhere = elsewhere

    @property
    def counts(self) -> Counts:
        """What was served since this process began."""
        return self._caching.counts

    async def find(self, query: Query) -> Answer:
        """The answer as JSON, from the cache or from the index."""
        with _readable():
            await self._elsewhere.look()

        async def make() -> Made:
            with _readable():
                await self._index.renew()
                found = await self._index.search(query)
            body = json.dumps(results(found)).encode()
            return Made(body, empty=not found.hits, tags=tags.of_answer(query, found))

        return await self._caching.through(key_of(query), tags.of_query(query), make)

    async def suggest(self, typed: str, limit: int) -> tuple[Suggestion, ...]:
        """Completions of what was typed so far."""
        with _readable():
            await self._index.renew()
            return await self._index.suggest(typed, limit)

    async def forget(self, keyword: str | None = None) -> int:
        """Forget the answers to a keyword, or all; how many there were."""
        return await self._caching.delete(PREFIX if keyword is None else f"{PREFIX}{_word(keyword)}:")

    async def kept(self) -> Size:
        """How many answers are kept, and their bytes."""
        return await self._caching.size(PREFIX)


@contextmanager
def _readable() -> Iterator[None]:
    """An index that cannot be read is made anew by upkeep: whoever searches meanwhile comes back."""
    try:
        yield
    except Drifted as error:
        raise Unavailable(error.message, hint=error.hint) from error


def key_of(query: Query) -> str:
    """Where the answer to a query is kept: `search:패딩:0:0` when only a keyword and prices are given."""
    plain = f"{PREFIX}{_word(query.keyword)}:{query.min_price}:{query.max_price}"
    more = [
        *(f"brand={_word(brand)}" for brand in sorted(query.brands)),
        *(f"mall={_word(mall)}" for mall in sorted(query.malls)),
        *([f"in_stock={int(query.in_stock)}"] if query.in_stock is not None else []),
        *([f"sort={query.sort}"] if query.sort is not Sort.RELEVANCE else []),
        *([f"limit={query.limit}"] if query.limit != DEFAULT_LIMIT else []),
        *(["facets=0"] if not query.facets else []),
        *([f"after={cursor(query.after)}"] if query.after else []),
    ]
    whole = ":".join((plain, *more))
    if len(whole) <= LONGEST_KEY:
        return whole
    return f"{plain}:~{blake2b(whole.encode(), digest_size=16).hexdigest()}"


def keyword(typed: str) -> str:
    """A keyword as it is looked for and kept: without spaces around it, with single ones inside."""
    found = " ".join(typed.split())
    if len(found) > LONGEST_KEYWORD:
        raise Invalid(f"a keyword has at most {LONGEST_KEYWORD} characters", field="keyword")
    return found


def _word(text: str) -> str:
    return text.translate(ESCAPES)


def cursor(after: tuple[float | int, ...]) -> str:
    """Where to go on, as a caller hands it back."""
    return base64.urlsafe_b64encode(json.dumps(list(after)).encode()).decode().rstrip("=")


def after(text: str | None) -> tuple[float | int, ...]:
    """Where a cursor says to go on."""
    if not text:
        return ()
    try:
        found: Any = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True))
    except (Invalid, binascii.Error, ValueError):
        found = None
    if isinstance(found, list) and 0 < len(found) <= 3 and all(type(one) in (int, float) for one in found):
        return tuple(found)
    raise Invalid("the cursor is none of this search", hint="hand back `next` as it came", field="cursor")


def results(found: Found) -> dict[str, Any]:
    """An answer as it is served, in the shape of `SearchResults`; not as one, for checking it costs as much as
    searching."""
    return {
        "items": [_item(hit) for hit in found.hits],
        "total": found.total,
        "more": found.more,
        "facets": found.facets,
        "prices": None if found.prices is None else dict(zip(("min", "max"), found.prices, strict=True)),
        "next": cursor(found.next) if found.next else None,
    }


def _item(hit: Hit) -> dict[str, Any]:
    shown = {name: getattr(hit.document, name) for name in SHOWN}
    return shown | {"score": round(hit.score, 4), "marked": hit.marked}
