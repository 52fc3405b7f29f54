"""Data quality: what products lack, which rules they break, whether pages can still be read, and what guards and gates
stop. Every number leads to what it counts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.entry.api.selling import MARKETS
from bobusang.entry.web import deciding, guards, reasons
from bobusang.entry.web.formats import HOME_ZONE, zone
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter, Listing
from bobusang.entry.web.pages import Entry, Pages
from bobusang.kit.errors import Missing
from bobusang.views import held, quality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response

    from bobusang.entry.web.visit import Visit
    from bobusang.stages.collect.guards import Guard
    from bobusang.views.quality import Failing, Sampled

ENTRY = "/quality"
pages = Pages(Entry(ENTRY, N_("Data quality"), "quality", 110))

MARKET = MARKETS[0]
DAYS = 14
MOST_HELD = 1000
MOST_TRIPPED = 10
GOOD, FAIR = 0.99, 0.9
"""Shares from which a cell is good, or at least fair."""

FIELDS = {
    "name": N_("name"),
    "brand": N_("brand"),
    "price": N_("price"),
    "image": N_("picture"),
    "url": N_("address"),
    "in_stock": N_("stock"),
    "category": N_("category"),
    "model": N_("model number"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in words, and whether a product that breaks it can be sold."""

    text: str
    blocks: bool


RULES = {
    "price_above_zero": Rule(N_("The price is above 0."), blocks=True),
    "list_price": Rule(N_("The price is not above the list price."), blocks=False),
    "currency": Rule(N_("A price has its currency."), blocks=True),
    "address": Rule(N_("The address of the product is a web address."), blocks=False),
    "plain_name": Rule(N_("The name is plain text, without markup."), blocks=False),
}


@dataclass(frozen=True, slots=True)
class Sum:
    """One rule over all malls."""

    products: int
    failing: int

    @property
    def passing(self) -> float | None:
        return 1 - self.failing / self.products if self.products else None


def tone(share: float | None) -> str:
    """The shade of a cell."""
    if share is None:
        return "idle"
    return "good" if share >= GOOD else "warn" if share >= FAIR else "bad"


@pages.get(ENTRY)
async def shown(visit: Visit) -> Response:
    """All of it."""
    visit.entry = ENTRY
    async with visit.desk.read() as tx:
        samples = await quality.sampled(tx, _malls(visit))
        readable, tripped = await quality.runs(tx)
        gates, looked_at = await quality.gates(tx, MARKET)
        held_lately = await held.latest(tx, MOST_HELD)
        now = tx.now
    return visit.page(
        "quality.html",
        samples=samples,
        fields=FIELDS,
        rules=[(name, rule, _sum(samples, name)) for name, rule in RULES.items()],
        complete=_complete(samples),
        readable=readable,
        drifting=[one for one in readable if one.is_drift],
        tripped=tripped[:MOST_TRIPPED],
        gates=[(gate, reasons.of(gate.why, gate.rule)) for gate in gates],
        looked_at=looked_at,
        chart=_by_day(visit, held_lately, now),
        guards=guards.CHANGES,
        retold=lambda text: guards.retold(visit, text),
        tone=tone,
        needs=visit.site.standing.frame.needs,
        sample=quality.SAMPLE,
        most_held=MOST_HELD if len(held_lately) == MOST_HELD else 0,
    )


@pages.get("/quality/failing")
async def failing(visit: Visit) -> Response:
    """The products behind a number of a rule or a field."""
    visit.entry = ENTRY
    check, mall = visit.query.get("check"), deciding.plain(visit.query.get("mall"), 100)
    if check not in quality.CHECKS:
        raise Missing("there is no such rule")
    malls = [mall] if mall else _malls(visit)
    found = _listing("/quality/failing", {"check": check, "mall": mall}, visit.query.get("cursor"))
    async with visit.desk.read() as tx:
        lines = await quality.failing(tx, malls, check, found.before(), PAGE + 1)
    found.fill(lines, lambda one: one.id)
    if check in RULES:
        title = visit.say(RULES[check].text)
    else:
        title = visit.say(N_("Missing: %(field)s"), field=visit.say(FIELDS[check]))
    return visit.page("quality_failing.html", list=found, title=title, mall=mall, sample=quality.SAMPLE)


def _malls(visit: Visit) -> list[str]:
    return sorted(visit.desk.app.collector.sources)


def _listing(path: str, asked: dict[str, str], cursor: str) -> Listing[Failing]:
    """A list that is reached by a number; what it is of stands in its address, and is not remembered."""
    return Listing(path, [Filter(name, name, value=value) for name, value in asked.items()], [], cursor, kind=path)


def _sum(samples: Sequence[Sampled], check: str) -> Sum:
    return Sum(sum(one.products for one in samples), sum(one.failing[check] for one in samples))


def _complete(samples: Sequence[Sampled]) -> float | None:
    """Of all fields that the samples should tell, the share that they do."""
    whole = sum(one.products for one in samples) * len(FIELDS)
    lacking = sum(one.failing[name] for one in samples for name in FIELDS)
    return 1 - lacking / whole if whole else None


def _by_day(visit: Visit, found: Sequence[tuple[Guard, datetime]], now: datetime) -> dict[str, Any]:
    """How many each guard stopped on each of the last days, for a chart, in the visitor's days."""
    here = zone(visit.eyes.zone or HOME_ZONE)
    today = now.astimezone(here).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    places = {day.date(): place for place, day in enumerate(days)}
    series: dict[Guard, list[int]] = {}
    for guard, at in found:
        place = places.get(at.astimezone(here).date())
        if place is not None:
            series.setdefault(guard, [0] * DAYS)[place] += 1
    told = [
        {"label": visit.say(guards.CHANGES[guard].label), "values": values} for guard, values in sorted(series.items())
    ]
    return {"x": [int(day.timestamp()) for day in days], "series": told}
