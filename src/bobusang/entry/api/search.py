"""Searching: products by how people type, completions, and the index itself looked after."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.types import Scope

from bobusang.entry.api import express
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import LARGEST_ID, Flag, Form
from bobusang.entry.api.resource import Resource
from bobusang.flows.indexing import asking, verifying, watching
from bobusang.flows.indexing.asking import Standing
from bobusang.kit.db import Tx
from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.platform import search
from bobusang.platform.search import LONGEST_KEYWORD, MOST, Sort
from bobusang.views import searching, workers
from bobusang.views.searching import SearchResults

PREFIX = "/search"
LOOK = 0.2
"""Seconds between two looks at a rebuild that somebody waits for; who is at it tells of it in the database."""
MOST_READ = 4096
LONGEST_READ = 500

router = Resource("search", PREFIX)

Keyword = Annotated[str, Field(max_length=LONGEST_KEYWORD, examples=["나이키 패딩", "ㄴㅇㅋ", "CW2288"])]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=20)]
Bound = Annotated[int, Field(ge=0, le=LARGEST_ID, description="in minor units of its currency; 0: no bound")]


class SearchQuery(Form):
    """What is looked for; several brands or malls mean any of them."""

    keyword: Annotated[Keyword, Field(description="as people type: words, 초성, a model number or a part of it")] = ""
    q: Annotated[Keyword, Field(description="the same as keyword")] = ""
    min_price: Bound = 0
    max_price: Bound = 0
    brand: Annotated[Names, Field(default_factory=list, examples=[["나이키"]])]
    mall: Annotated[Names, Field(default_factory=list, examples=[["okmall"]])]
    in_stock: Annotated[bool | None, Field(description="only what is, or is not, known to be in stock")] = None
    sort: Sort = Sort.RELEVANCE
    limit: Annotated[int, Field(ge=1, le=MOST)] = searching.DEFAULT_LIMIT
    cursor: Annotated[
        str | None, Field(max_length=searching.LONGEST_CURSOR, description="`next` of the answer before")
    ] = None
    facets: Annotated[bool, Field(description="whether to count brands, malls, categories and stock")] = True

    def asked(self) -> search.Query:
        """The same as the index takes it."""
        if self.keyword and self.q and self.keyword != self.q:
            raise Invalid("keyword and q differ", hint="send one of them", field="q")
        if 0 < self.max_price < self.min_price:
            raise Invalid("max_price is below min_price", hint="0 means no bound", field="max_price")
        return search.Query(
            keyword=searching.keyword(self.keyword or self.q),
            min_price=self.min_price,
            max_price=self.max_price,
            brands=tuple(self.brand),
            malls=tuple(self.mall),
            in_stock=self.in_stock,
            sort=self.sort,
            limit=self.limit,
            after=searching.after(self.cursor),
            facets=self.facets,
        )


class SuggestQuery(Form):
    """What was typed so far."""

    q: Annotated[Keyword, Field(min_length=1)]
    limit: Annotated[int, Field(ge=1, le=20)] = 10


class Completion(BaseModel):
    """A completion: a brand, a model number or a product's name."""

    text: str
    kind: str
    count: int


class Completions(BaseModel):
    """Completions, the likeliest first."""

    items: list[Completion]


class RebuildProgress(BaseModel):
    """How far the rebuild is, whichever process is at it, or how the last one ended."""

    number: Annotated[int, Field(description="grows with each rebuild")]
    under_way: Annotated[bool, Field(description="asked for, and not ended yet")]
    phase: Annotated[str, Field(examples=["waiting", "reading", "catching up", "comparing", "done"])]
    done: int
    total: int
    error: str | None


class SearchStatus(BaseModel):
    """How the index stands: products in it, how far it is behind SQL, and its last rebuild."""

    products: int | None
    trouble: Annotated[str | None, Field(description="why it cannot be searched, if so")]
    lag_seconds: float
    waiting: Annotated[int, Field(description="changes on their way, counted to ten thousand")]
    paused: bool
    last_error: str
    rebuild: RebuildProgress | None


class StatusQuery(Form):
    """Whether to wait for news."""

    wait: Annotated[float, Field(ge=0, le=30, description="seconds to wait for a rebuild to move on")] = 0.0


class VerifyForm(Form):
    """What to do with what differs."""

    repair: Annotated[Flag, Field(description="bring what differs into the index")] = True


class IndexDifference(BaseModel):
    """A product of which the index says something else than SQL."""

    id: int
    kind: Annotated[str, Field(examples=["missing"])]


class Comparison(BaseModel):
    """What comparing SQL and index found; `clean`: they say the same now."""

    compared: int
    missing: int
    extra: int
    different: int
    repaired: int
    clean: bool
    first: list[IndexDifference]


@router.get("", summary="Search products", response_model=SearchResults)
async def search_products(desk: Viewer, request: Request, query: Annotated[SearchQuery, Query()]) -> Response:
    """By relevance unless sorted otherwise. Typos, missing spaces, 초성, the wrong keyboard and halves of model numbers
    are understood. The header X-Cache says whether the answer was kept (`hit`, `stale`, `joined`) or made (`miss`,
    `away`)."""
    asked = query.asked()
    _read.keep(request.scope["query_string"], asked)
    return await _found(desk, asked)


async def _found(desk: Desk, asked: search.Query) -> Response:
    answer = await desk.app.finder.searching.find(asked)
    return Response(answer.body, media_type="application/json", headers={"X-Cache": answer.served.value})


class Read:
    """Query strings that were read before: whoever asks the same in the same words means the same."""

    def __init__(self) -> None:
        self._known: dict[bytes, search.Query] = {}

    def keep(self, text: bytes, query: search.Query) -> None:
        """Know this one again, unless it is so long that it hardly comes back."""
        if len(self._known) >= MOST_READ:
            self._known.clear()
        if len(text) <= LONGEST_READ:
            self._known[text] = query

    def plain(self, scope: Scope) -> express.Work | None:
        """The search of a request whose words are known."""
        query = self._known.get(scope["query_string"]) if scope["path"] == PREFIX else None
        return None if query is None else lambda desk: _found(desk, query)


_read = Read()
DOOR = express.Door(router, _read.plain)


@router.get("/suggest", summary="Complete what is typed")
async def suggest(desk: Viewer, query: Annotated[SuggestQuery, Query()]) -> Completions:
    """Brands, model numbers and names that begin so."""
    found = await desk.app.finder.searching.suggest(query.q, query.limit)
    return Completions(items=[Completion(**asdict(one)) for one in found])


@router.get("/status", summary="How the search index stands")
async def show_status(desk: Viewer, request: Request, query: Annotated[StatusQuery, Query()]) -> SearchStatus:
    """With `wait` it answers when a rebuild that is under way has moved on."""
    finder = desk.app.finder
    if query.wait:
        await _by_ourselves(desk, request)
        await _moved(desk, query.wait)
    products, trouble = None, None
    try:
        await finder.index.renew()
        products = await finder.index.count()
    except (Drifted, Unavailable) as error:
        trouble = str(error)
    async with desk.read() as tx:
        lag, rebuild = await watching.lag(tx), await progress(tx)
    return SearchStatus(
        products=products,
        trouble=trouble,
        lag_seconds=lag.seconds,
        waiting=lag.waiting,
        paused=lag.paused,
        last_error=lag.error,
        rebuild=rebuild,
    )


async def progress(tx: Tx) -> RebuildProgress | None:
    """How far the rebuild is, or how the last one ended; None when there was none."""
    found = await asking.standing(tx)
    return None if found is None else _shown(found)


def _shown(found: Standing) -> RebuildProgress:
    return RebuildProgress(number=found.number, under_way=found.under_way, **asdict(found.progress), error=found.error)


async def _moved(desk: Desk, seconds: float) -> None:
    """Until a rebuild that is under way has moved on or ended, or the time is over."""
    async with desk.read() as tx:
        found = before = await asking.standing(tx)
    clock = asyncio.get_running_loop()
    end = clock.time() + seconds
    while found == before and found is not None and found.under_way and clock.time() < end:
        await asyncio.sleep(min(LOOK, max(0.0, end - clock.time())))
        async with desk.read() as tx:
            found = await asking.standing(tx)


@router.post("/rebuild", summary="Make the search index anew", status_code=202)
async def rebuild_index(desk: Operator, request: Request) -> RebuildProgress:
    """From SQL, while the old one serves, by the process that leads; GET /search/status of any process shows how far
    it is. While one is under way that one is meant."""

    async def ask(tx: Tx) -> Standing:
        await desk.note(tx, "search.rebuild", "search", "index")
        return await asking.ask(tx)

    found = await desk.write(ask)
    await _by_ourselves(desk, request)
    return _shown(found)


async def _by_ourselves(desk: Desk, request: Request) -> None:
    """A command on a database where nobody leads does it itself; beside a running program that one does."""
    if not getattr(request.app.state, "local", False):
        return
    async with desk.read() as tx:
        office = await workers.leader(tx)
    if office is None or not office.is_held:
        await desk.app.finder.rebuilding.begin()


@router.post("/verify", summary="Compare the search index with SQL")
async def verify_index(desk: Operator, form: VerifyForm | None = None) -> Comparison:
    """Product by product; what differs is repaired unless told otherwise."""
    repair = (form or VerifyForm()).repair
    verdict = await verifying.verify(desk.app.finder.indexer, repair=repair)
    if verdict.repaired:
        await desk.write(lambda tx: desk.note(tx, "search.repair", "search", "index", after=asdict(verdict)))
    return Comparison(
        compared=verdict.compared,
        missing=verdict.missing,
        extra=verdict.extra,
        different=verdict.different,
        repaired=verdict.repaired,
        clean=verdict.clean,
        first=[IndexDifference(id=one.id, kind=one.kind.value) for one in verdict.first],
    )
