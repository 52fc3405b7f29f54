"""One run: its belt as it moves, its stages in time, its errors by cause, and how it compares with the run before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bobusang.entry.api import batches
from bobusang.entry.api.batches import RetryForm, WhyForm
from bobusang.entry.api.moving import LiveBatch, Rates
from bobusang.entry.web import belts, runs
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.flows.conveyor import asking, reporting
from bobusang.flows.conveyor.model import BatchStatus, Stage, StageStatus
from bobusang.stages.collect.tables import AnswerWord
from bobusang.views import gate

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.flows.conveyor.watching import BrandRow, StageCell
    from bobusang.kit.db import Tx
    from bobusang.views.gate import GateLine

pages = Pages()

PARTS = "run_parts.html"
MOST_ROWS = 200
"""Brands on one page; those that failed are among the first, and a filter finds any other."""
WIDTH = 1000
"""Of a timeline, in its own units."""
TABS = (
    ("", N_("Belt")),
    ("/timeline", N_("Timeline")),
    ("/errors", N_("Errors")),
    ("/compare", N_("Compare")),
    ("/settings", N_("Settings of the run")),
)

_rates: WeakKeyDictionary[Site, Rates] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Bar:
    """A stage of a brand in time, in units of the timeline."""

    stage: Stage
    status: StageStatus
    x: int
    width: int
    start: datetime
    seconds: float


def rates_of(site: Site) -> Rates:
    """How fast batches move, by what the pages of this process have seen of them."""
    return _rates.setdefault(site, Rates())


def bottleneck(batch: LiveBatch) -> Stage | None:
    """The stage where most wait, while a batch runs."""
    if batch.status is not BatchStatus.RUNNING:
        return None
    waiting: dict[Stage, int] = {}
    for brand in batch.brands:
        for cell in brand.stages:
            waiting[cell.stage] = waiting.get(cell.stage, 0) + cell.waiting
    most = max(waiting, key=lambda stage: waiting[stage], default=None)
    return most if most is not None and waiting[most] else None


async def waits_of(site: Site, tx: Tx, batch: LiveBatch) -> list[GateLine]:
    """Which malls of a run that moves have to be waited for, and why."""
    if batch.status is not BatchStatus.RUNNING:
        return []
    malls = {brand.mall for brand in batch.brands if belts.status_of(brand) is not StageStatus.DONE}
    found = await gate.lines(tx, sorted(site.app.collector.sources))
    return [line for line in found if line.source in malls and line.answer is AnswerWord.WAIT and line.reason]


def counted(batch: LiveBatch) -> dict[StageStatus, int]:
    """How many brands stand how."""
    found = dict.fromkeys(StageStatus, 0)
    for brand in batch.brands:
        found[belts.status_of(brand)] += 1
    return found


@pages.get("/runs/{batch_id}")
async def belt(visit: Visit) -> Response:
    """The belt."""
    async with visit.desk.read() as tx:
        given = await _head(visit, tx)
        waits = await waits_of(visit.site, tx, given["batch"])
    batch, state, named = given["batch"], visit.query.get("state"), visit.query.get("brand")
    rows = [brand for brand in belts.failed_first(batch.brands) if _is_wanted(brand, state, named)]
    more = max(0, len(rows) - MOST_ROWS)
    shown: dict[str, Any] = {"rows": rows[:MOST_ROWS], "more": more, "state": state, "named": named, "waits": waits}
    return visit.page("run.html", **given, **shown, tab="")


@pages.get("/runs/{batch_id}/timeline")
async def timeline(visit: Visit) -> Response:
    """Which stage of which brand took how long."""
    async with visit.desk.read() as tx:
        given = await _head(visit, tx)
        end = given["batch"].end_time or tx.now
    batch = given["batch"]
    rows = [(brand, bars_of(brand.stages, batch.start_time, end)) for brand in batch.brands[:MOST_ROWS]]
    whole = _whole(batch, end)
    return visit.page("run_timeline.html", **given, tab="/timeline", rows=rows, whole=whole, end=end)


@pages.get("/runs/{batch_id}/errors")
async def errors(visit: Visit) -> Response:
    """Why what is not on the market is not."""
    job = next(iter(visit.query.numbers("job")), None)
    async with visit.desk.read() as tx:
        given = await _head(visit, tx)
        causes = await reporting.causes(tx, given["batch"].batch_id, job)
    brands = given["batch"].brands
    of_job = next((one for one in brands if job is not None and job in {cell.job_id for cell in one.stages}), None)
    shown = [of_job] if of_job else brands
    told = [(brand, cell) for brand in shown for cell in brand.stages if cell.error][:MOST_ROWS]
    return visit.page("run_errors.html", **given, tab="/errors", causes=causes, told=told, of_job=of_job)


@pages.get("/runs/{batch_id}/compare")
async def compare(visit: Visit) -> Response:
    """Beside the run of the same mode before it."""
    async with visit.desk.read() as tx:
        given = await _head(visit, tx)
        found = await reporting.compared(tx, given["batch"].batch_id)
    return visit.page("run_compare.html", **given, tab="/compare", found=found)


@pages.get("/runs/{batch_id}/settings")
async def settings(visit: Visit) -> Response:
    """What it was asked for, and by which jobs it is done."""
    async with visit.desk.read() as tx:
        given = await _head(visit, tx)
        told = await asking.asked(tx, given["batch"])
    return visit.page("run_settings.html", **given, tab="/settings", told=told, most=MOST_ROWS)


@pages.post("/runs/{batch_id}/pause")
async def pause(visit: Visit) -> Response:
    """Let what waits wait."""
    done = await batches.pause_batch(visit.desk, visit.path["batch_id"])
    return visit.done(N_("The run is paused: %(count)s brands wait."), count=done.brands)


@pages.post("/runs/{batch_id}/resume")
async def resume(visit: Visit) -> Response:
    """Let it go on."""
    done = await batches.resume_batch(visit.desk, visit.path["batch_id"])
    return visit.done(N_("The run goes on with %(count)s brands."), count=done.brands)


@pages.post("/runs/{batch_id}/retry")
async def retry(visit: Visit) -> Response:
    """What failed, or all brands from a stage on."""
    form, batch_id = await visit.form(), visit.path["batch_id"]
    stage = form.get("stage") if form.get("from") else ""
    done = await batches.retry_batch(visit.desk, batch_id, RetryForm.model_validate({"stage": stage or None}))
    return visit.done(N_("%(tasks)s tasks of %(brands)s brands run again."), tasks=done.tasks, brands=len(done.brands))


@pages.post("/runs/{batch_id}/cancel")
async def cancel(visit: Visit) -> Response:
    """End it now."""
    why = (await visit.form()).get("why")
    done = await batches.cancel_batch(visit.desk, visit.path["batch_id"], WhyForm(why=why))
    return visit.done(N_("The run was cancelled; %(count)s brands had not ended."), count=done.cancelled)


@pages.live("run:{batch_id}")
async def live(site: Site, topic: Mapping[str, str]) -> Draw:
    """The figures, the buttons, and every brand's row."""
    async with site.app.engine.db.read() as tx:
        batch = await rates_of(site).live(tx, topic["batch_id"])
        waits = await waits_of(site, tx, batch)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        return _parts(site, eyes, batch, waits)

    return draw


def bars_of(stages: list[StageCell], begin: datetime, end: datetime) -> list[Bar]:
    """The stages that have begun, between two instants."""
    whole = max((end - begin).total_seconds(), 0.001)
    found = []
    for cell in stages:
        if cell.started_at is None:
            continue
        over = cell.updated_at if cell.status in (StageStatus.DONE, StageStatus.ERROR) else end
        seconds = max(0.0, (over - cell.started_at).total_seconds())
        x = round(WIDTH * max(0.0, (cell.started_at - begin).total_seconds()) / whole)
        width = max(4, round(WIDTH * seconds / whole))
        x = min(x, WIDTH - 4)
        found.append(Bar(cell.stage, cell.status, x, min(width, WIDTH - x), cell.started_at, round(seconds, 1)))
    return found


def _whole(batch: LiveBatch, end: datetime) -> list[Bar]:
    """All brands together: from the first that begins a stage to the last that ends it."""
    found = []
    for stage in Stage:
        bars = [
            bar for brand in batch.brands for bar in bars_of(brand.stages, batch.start_time, end) if bar.stage is stage
        ]
        if bars:
            first = min(bars, key=lambda bar: bar.start)
            last = max(bar.start.timestamp() + bar.seconds for bar in bars)
            failed = any(bar.status is StageStatus.ERROR for bar in bars)
            width = max(bar.x + bar.width for bar in bars) - first.x
            status = StageStatus.ERROR if failed else StageStatus.DONE
            seconds = round(last - first.start.timestamp(), 1)
            found.append(Bar(stage, status, first.x, width, first.start, seconds))
    return found


def _is_wanted(brand: BrandRow, state: str, named: str) -> bool:
    if state and belts.status_of(brand) != state:
        return False
    return named.casefold() in f"{brand.mall} {brand.brand}".casefold()


async def _head(visit: Visit, tx: Tx) -> dict[str, Any]:
    """What every tab shows above."""
    visit.entry = runs.ENTRY
    batch = await rates_of(visit.site).live(tx, visit.path["batch_id"])
    usual = await reporting.usual_seconds(tx)
    begun = await reporting.begun_by(tx, [batch.batch_id])
    return {
        "batch": batch,
        "stages": list(Stage),
        "tabs": TABS,
        "by": begun.get(batch.batch_id, ""),
        "span": runs.span_of(batch, usual, tx.now),
        "counts": counted(batch),
        "bottleneck": bottleneck(batch),
    }


def _parts(site: Site, eyes: Eyes, batch: LiveBatch, waits: list[GateLine]) -> Mapping[str, str]:
    macro, slow = site.rendering.macro, bottleneck(batch)
    parts = {
        "run-waits": macro(PARTS, "waits", eyes, waits),
        "run-figures": macro(PARTS, "figures", eyes, batch, counted(batch), slow),
        "run-actions": macro(PARTS, "actions", eyes, batch),
        "run-head": macro(PARTS, "head", eyes, list(Stage), slow),
    }
    for brand in batch.brands:
        parts[belts.row_id(batch.batch_id, brand.mall, brand.brand)] = macro("belt.html", "row", eyes, batch, brand)
    return parts
