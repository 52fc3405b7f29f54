"""Overview: the belt as it moves, what needs a person, what comes next, and how the whole is doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.entry.web import belts
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Entry, Pages
from bobusang.flows.conveyor import watching
from bobusang.flows.conveyor.model import BatchStatus, Stage
from bobusang.flows.conveyor.watching import BatchDetail, BatchFilter
from bobusang.views import history, schedules
from bobusang.views.history import Series
from bobusang.views.schedules import ScheduleFilter, ScheduleLine

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.standing import Frame
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

pages = Pages(Entry("/", N_("Overview"), "overview", 10))

SHOWN_BATCHES = 3
LOOKS_BACK = timedelta(hours=1)
NEXT_RUNS = 5
PARTS = "overview_parts.html"


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page shows."""

    batches: list[BatchDetail]
    is_running: bool
    today: Mapping[str, int]
    throughput: Series
    next_runs: list[ScheduleLine]
    now: datetime

    @property
    def rows(self) -> int:
        """How many brands are on the belt."""
        return sum(len(batch.brands) for batch in self.batches)


async def loaded(tx: Tx) -> Overview:
    """Running batches, or the last one where none runs."""
    running = await watching.listed(tx, BatchFilter(status=BatchStatus.RUNNING), None, SHOWN_BATCHES)
    shown = running or await watching.listed(tx, BatchFilter(), None, 1)
    coming = await schedules.listed(tx, ScheduleFilter(active=True), None, 100)
    next_runs = sorted((one for one in coming if one.next_run_at), key=lambda one: one.next_run_at or tx.now)
    return Overview(
        batches=await watching.detailed(tx, shown),
        is_running=bool(running),
        today=await history.totals(tx, tx.now - timedelta(days=1)),
        throughput=await history.series(tx, tx.now - LOOKS_BACK, whole=True),
        next_runs=next_runs[:NEXT_RUNS],
        now=tx.now,
    )


@pages.get("/")
async def overview(visit: Visit) -> Response:
    """The first page."""
    visit.entry = "/"
    async with visit.desk.read() as tx:
        found = await loaded(tx)
    return visit.page("overview.html", found=found, stages=list(Stage), frame=visit.site.standing.frame)


@pages.live("overview")
async def live(site: Site, _: Mapping[str, str]) -> Draw:
    """Every brand's row, the figures, the chart and what needs a person."""
    frame = await site.standing.look()
    async with site.app.engine.db.read() as tx:
        found = await loaded(tx)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        return _parts(site, eyes, found, frame)

    return draw


def _parts(site: Site, eyes: Eyes, found: Overview, frame: Frame) -> Mapping[str, str]:
    macro = site.rendering.macro
    parts = {
        "figures": macro(PARTS, "figures", eyes, found, frame),
        "needs": macro(PARTS, "needs", eyes, frame),
        "throughput": macro(PARTS, "throughput", eyes, found),
        "belts": macro(PARTS, "belts", eyes, found),
    }
    for batch in found.batches:
        parts[f"belt-{batch.batch_id}"] = macro(PARTS, "title", eyes, batch)
        for brand in batch.brands:
            parts[belts.row_id(batch.batch_id, brand.mall, brand.brand)] = macro("belt.html", "row", eyes, batch, brand)
    return parts
