"""What was fetched, by day, source, target and endpoint."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Day, Form, Name
from bobusang.entry.api.pages import Page, pack, unpacked
from bobusang.entry.api.resource import Resource
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.counts import day_of
from bobusang.views import collect_statistics as view
from bobusang.views.collect_statistics import FetchDay, FetchFilter

router = Resource("statistics", "/collect")

WEEK = timedelta(days=6)
ZONE = "Asia/Seoul"


class FetchQuery(Form):
    """Which days (of the source's own zone), both included: the last seven unless said otherwise."""

    since: Day | None = None
    until: Day | None = None
    source: Name | None = None
    target: Annotated[str | None, Field(min_length=1, max_length=300, examples=["seller:luxboy"])] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 200
    cursor: Annotated[str | None, Field(max_length=3000, description="`next` of the page before")] = None


@router.get("/statistics", summary="Show what was fetched")
async def show_fetches(desk: Viewer, query: Annotated[FetchQuery, Query()]) -> Page[FetchDay]:
    """Per day, source, target and endpoint: successes, failures, retries, throttlings, items, changes. The newest day
    first."""
    after = unpacked("fetches", query.cursor, str, str, str, str)
    today = date.fromisoformat(day_of(desk.engine.db.clock.now(), ZONE))
    until = query.until or today
    since = query.since or until - WEEK
    if since > until:
        raise Invalid(f"since {since} is after until {until}", hint="swap them", field="since")
    wanted = FetchFilter(since=since, until=until, source=query.source or "", target=query.target or "")
    last = None if after is None else (after[0], after[1], after[2], after[3])
    async with desk.read() as tx:
        found = await view.days(tx, wanted, last, query.limit + 1)
    shown = found[: query.limit]
    return Page(items=shown, next=_cursor(shown[-1]) if len(found) > query.limit else None)


def _cursor(day: FetchDay) -> str:
    return pack("fetches", day.day.isoformat(), day.source, day.target, day.endpoint)
