"""Analytics: how much came through, why not all, how fresh the market is, what is earned; each chart with its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.entry.web.charts import Drawing
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Entry, Pages
from bobusang.entry.web.sheets import sheet
from bobusang.kit.errors import Missing
from bobusang.views import analytics as view
from bobusang.views.analytics import PERIODS, Analytics, Period

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.charts import Chart
    from bobusang.entry.web.visit import Visit

ENTRY = "/analytics"
pages = Pages(Entry(ENTRY, N_("Analytics"), "chart", 120))

USUAL = "day"
LABELS = {"hour": N_("Last hour"), "day": N_("Last 24 hours"), "week": N_("Last 7 days")}


@dataclass(frozen=True, slots=True)
class Compared:
    """A number beside that of the period before; None: there is none."""

    now: float | None
    before: float | None = None

    @property
    def change(self) -> float | None:
        """By which share it grew."""
        return None if self.now is None or not self.before else self.now / self.before - 1


@dataclass(frozen=True, slots=True)
class Figures:
    """What stands above the charts."""

    registered: Compared
    done: Compared
    failed: Compared
    slowest: float | None
    margin: float | None
    used: float | None
    """The largest share of a day's calls that an account has used."""


@pages.get(ENTRY)
async def shown(visit: Visit) -> Response:
    """All charts of a period."""
    visit.entry = ENTRY
    found = await _read(visit)
    charts = Drawing(visit, found).charts()
    return visit.page(
        "analytics.html", found=found, charts=charts, figures=_figures(found), labels=LABELS, period=found.period.name
    )


@pages.get("/analytics/{chart}.csv")
async def saved(visit: Visit) -> Response:
    """The table of one chart, as a file."""
    found = await _read(visit)
    charts: dict[str, Chart] = {chart.name: chart for chart in Drawing(visit, found).charts()}
    chart = charts.get(visit.path["chart"])
    if chart is None:
        raise Missing(f"there is no chart '{visit.path['chart']}'", hint=f"there are {', '.join(charts)}")
    heading = [visit.say(chart.heading), *(line.label for line in chart.lines)]
    rows = [[at, *(None if value is None else round(value, 3) for value in values)] for at, values in chart.rows]
    return sheet(f"{chart.name}-{found.period.name}.csv", heading, rows)


async def _read(visit: Visit) -> Analytics:
    period: Period = PERIODS.get(visit.query.get("period", USUAL)) or PERIODS[USUAL]
    async with visit.desk.read() as tx:
        return await view.read(tx, period)


def _figures(found: Analytics) -> Figures:
    measured = found.measured
    return Figures(
        registered=Compared(
            measured.total("throughput", "REGISTER"), measured.total("throughput", "REGISTER", before=True)
        ),
        done=Compared(_share(found), _share(found, before=True)),
        failed=Compared(measured.total("failures"), measured.total("failures", before=True)),
        slowest=found.slowest,
        margin=found.margin,
        used=max((one.day / one.day_limit for one in found.calls if one.day_limit), default=None),
    )


def _share(found: Analytics, *, before: bool = False) -> float | None:
    """Of the jobs that ended by themselves those that went well."""
    done = found.measured.total("jobs", "SUCCESS", before=before)
    ended = done + found.measured.total("jobs", "FAILED", before=before)
    return done / ended if ended else None
