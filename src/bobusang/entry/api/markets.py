"""Records on markets, as design [C] asks for them: by market, active, never or long not synced, by quality, totals."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from bobusang.catalog import markets
from bobusang.catalog.markets import Offered
from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Form
from bobusang.entry.api.pages import Page, Paged, pack, page, unpack, unpacked
from bobusang.entry.api.resource import Resource

router = Resource("records", "/records")

Market = Annotated[str, Path(min_length=1, max_length=50, examples=["buyma"])]


class MarketQuery(Paged):
    """Which records of a market."""

    active: Annotated[bool, Field(description="only those that are for sale")] = False


class StaleQuery(Form):
    """Since when a market has not been told anything."""

    hours: Annotated[float, Field(ge=0, le=24 * 366)] = markets.STALE.total_seconds() / 3600
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class QualityQuery(Paged):
    """Which scores."""

    at_least: Annotated[float, Field(ge=0, le=1, examples=[0.8])]


class MarketTotal(BaseModel):
    """How many records a market has, by status."""

    market: str
    records: int
    by_status: dict[str, int]


class OnMarket(BaseModel):
    """A record on a market, and what the market says of it."""

    record_id: int
    source: str
    key: str
    version: int
    info: dict[str, Any]
    last_sync: datetime | None


class ScoredRecord(BaseModel):
    """A record and its quality score, 0 to 1."""

    record_id: int
    source: str
    key: str
    version: int
    quality: float


@router.get("/markets", summary="Count records by market")
async def list_market_totals(desk: Viewer) -> Page[MarketTotal]:
    """And by their status there."""
    async with desk.read() as tx:
        found = await markets.totals_by_market(tx)
    items = [MarketTotal(market=one.market, records=one.records, by_status=dict(one.by_status)) for one in found]
    return Page(items=items, next=None)


@router.get("/quality", summary="List records by quality")
async def list_by_quality(desk: Viewer, query: Annotated[QualityQuery, Query()]) -> Page[ScoredRecord]:
    """Those with at least this score, the lowest first."""
    after = unpacked("record-quality", query.cursor, str, int)
    score, last = (query.at_least, None) if after is None else (float.fromhex(after[0]), after[1])
    async with desk.read() as tx:
        found = await markets.quality_above(tx, score, after=last, limit=query.limit + 1)
    items = [
        ScoredRecord(record_id=one.record_id, source=one.system, key=one.key, version=one.version, quality=one.quality)
        for one in found[: query.limit]
    ]
    more = len(found) > query.limit
    return Page(
        items=items, next=pack("record-quality", items[-1].quality.hex(), items[-1].record_id) if more else None
    )


@router.get("/markets/{market}", summary="List records on a market")
async def list_on_market(desk: Viewer, market: Market, query: Annotated[MarketQuery, Query()]) -> Page[OnMarket]:
    """By record."""
    kind = f"records/markets/{market}"
    after = unpack(kind, query.cursor) or 0
    ask = markets.active_in_market if query.active else markets.by_market
    async with desk.read() as tx:
        found = await ask(tx, market, after=after, limit=query.limit + 1)
    return page(kind, [_shown(one) for one in found], query.limit, lambda one: one.record_id)


@router.get("/markets/{market}/stale", summary="List records whose price a market should be told again")
async def list_stale(desk: Viewer, market: Market, query: Annotated[StaleQuery, Query()]) -> Page[OnMarket]:
    """Those never synced first, then the longest ago; one that is synced leaves this list."""
    async with desk.read() as tx:
        found = await markets.needs_price_update(
            tx, market, now=tx.now, older_than=timedelta(hours=query.hours), limit=query.limit
        )
    return Page(items=[_shown(one) for one in found], next=None)


def _shown(one: Offered) -> OnMarket:
    return OnMarket(
        record_id=one.record_id,
        source=one.system,
        key=one.key,
        version=one.version,
        info=dict(one.info),
        last_sync=one.last_sync,
    )
