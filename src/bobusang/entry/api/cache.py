"""The cache of search answers: looked at, and forgotten by hand where that is needed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.resource import Resource
from bobusang.kit.errors import Unavailable
from bobusang.platform.cache import Size
from bobusang.platform.search import LONGEST_KEYWORD
from bobusang.views import searching

router = Resource("cache", "/cache")

Keyword = Annotated[str, Path(min_length=1, max_length=LONGEST_KEYWORD, examples=["패딩"])]


class CacheStatistics(BaseModel):
    """What is kept by all, and what this process has served since it began."""

    keys: Annotated[int | None, Field(description="null while the cache cannot be asked")]
    bytes: Annotated[int | None, Field(description="null while the cache cannot be asked")]
    away: Annotated[str | None, Field(description="why it cannot be asked; null: it can")]
    hits: int
    misses: int
    hit_rate: Annotated[float | None, Field(description="null before anything was asked")]
    served: Annotated[dict[str, int], Field(description="by how the answer came about")]


class Forgotten(BaseModel):
    """How many answers were forgotten."""

    forgotten: int


@router.get("/stats", summary="How the cache of search answers does")
async def show_cache(desk: Viewer) -> CacheStatistics:
    """`stale` answers were renewed after they were served, `joined` ones were being made for somebody else, and those
    while the cache was `away` for whoever asked."""
    asked, away = desk.app.finder.searching, None
    try:
        size: Size | None = await asked.kept()
    except Unavailable as error:
        size, away = None, str(error)
    counts = asked.counts
    return CacheStatistics(
        keys=size.keys if size else None,
        bytes=size.bytes if size else None,
        away=away,
        hits=counts.hits,
        misses=counts.misses,
        hit_rate=counts.rate,
        served={served.value: count for served, count in counts.served.items()},
    )


@router.delete("/all", summary="Forget all search answers")
async def forget_all(desk: Operator) -> Forgotten:
    """They are made anew when they are asked for."""
    return await _forget(desk, None)


@router.delete("/{keyword:path}", summary="Forget the answers to a keyword")
async def forget_keyword(desk: Operator, keyword: Keyword) -> Forgotten:
    """With whichever filters; the word `all` means all answers, so a search for `all` is forgotten with the others, and
    so is one for `stats`, which is another path. A slash in the keyword may stand as it is, or as `%2F`."""
    return await _forget(desk, searching.keyword(keyword))


async def _forget(desk: Desk, keyword: str | None) -> Forgotten:
    forgotten = await desk.app.finder.searching.forget(keyword)
    await desk.write(lambda tx: desk.note(tx, "cache.forget", "cache", keyword or "all"))
    return Forgotten(forgotten=forgotten)
