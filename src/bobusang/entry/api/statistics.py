"""What the engine knows of itself: figures, workers, alerts, and who did what."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.pages import Page, Paged, pack, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.views import audit, statistics, workers
from bobusang.views.audit import AlertLine, AuditFilter, AuditLine
from bobusang.views.statistics import Statistics
from bobusang.views.workers import WorkerLine

router = Resource("statistics")

Word = Annotated[str, Field(min_length=1, max_length=200)]


class AlertQuery(Paged):
    """Which alerts."""

    open: Annotated[bool | None, Field(description="true: those that last; false: those that are over")] = None


class AuditQuery(Paged):
    """Which acts."""

    actor: Word | None = None
    action: Annotated[Word | None, Field(examples=["job.cancel"])] = None
    subject_type: Annotated[Word | None, Field(examples=["job"])] = None
    subject_id: Word | None = None


@router.get("/statistics", summary="Show figures")
async def show_statistics(desk: Viewer) -> Statistics:
    """What upkeep measured last (every 15 seconds), and seven days of jobs by workflow."""
    async with desk.read() as tx:
        return await statistics.read(tx)


@router.get("/workers", summary="List workers")
async def list_workers(desk: Viewer) -> Page[WorkerLine]:
    """Newest first, with what they hold; one that is silent too long is not alive."""
    async with desk.read() as tx:
        return Page(items=await workers.listed(tx, desk.alive_since(tx)), next=None)


@router.get("/alerts", summary="List alerts")
async def list_alerts(desk: Viewer, query: Annotated[AlertQuery, Query()]) -> Page[AlertLine]:
    """Newest first."""
    before = unpack("alerts", query.cursor)
    resolved = None if query.open is None else not query.open
    async with desk.read() as tx:
        found = await audit.troubles(tx, resolved=resolved, before=before, limit=query.limit + 1)
    return page("alerts", found, query.limit, lambda alert: alert.id)


@router.get("/audit", summary="List who did what")
async def list_acts(desk: Viewer, query: Annotated[AuditQuery, Query()]) -> Page[AuditLine]:
    """Newest first. A filter that no index helps looks through a bounded number of acts a call, so a page may be
    short or even empty while `next` is not null: go on until it is."""
    before = unpack("audit", query.cursor)
    wanted = AuditFilter(
        actor=query.actor, action=query.action, subject_type=query.subject_type, subject_id=query.subject_id
    )
    async with desk.read() as tx:
        found = await audit.acts(tx, wanted, before, query.limit)
    return Page(items=found.lines, next=None if found.resume is None else pack("audit", found.resume))
