"""Charts of analytics: what each draws, and the table that says the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from bobusang.engine.model import JobStatus, ReasonClass
from bobusang.entry.web import words
from bobusang.entry.web.formats import zone
from bobusang.entry.web.languages import N_
from bobusang.flows.conveyor.model import Mode, Stage

if TYPE_CHECKING:
    from bobusang.entry.web.visit import Visit
    from bobusang.views.analytics import Analytics

STAGES = {
    Stage.COLLECT: N_("Collect"),
    Stage.CONVERT: N_("Convert"),
    Stage.IMAGE: N_("Image"),
    Stage.PRICE: N_("Price"),
    Stage.REGISTER: N_("Register"),
}
CAUSES = {
    ReasonClass.TRANSPORT: N_("could not be reached"),
    ReasonClass.TIMEOUT: N_("took too long"),
    ReasonClass.CRASHED: N_("the worker was lost"),
    ReasonClass.INVALID: N_("the data was not usable"),
    ReasonClass.REJECTED: N_("refused by the other side"),
    ReasonClass.DRIFTED: N_("the page looks different now"),
    ReasonClass.BUG: N_("a fault of the program"),
}
FAMILIES = {"product": N_("product calls"), "stock": N_("stock calls")}
KINDS = {
    "CREATE": N_("new listing"),
    "EDIT": N_("edit"),
    "STOCK": N_("stock and options"),
    "CLOSE": N_("close"),
    "REVIVE": N_("open again"),
    "EXTEND": N_("extend"),
}
FATES = {
    "CONFIRMED": N_("confirmed"),
    "ACCEPTED": N_("accepted, not confirmed yet"),
    "INTENT": N_("about to be sent"),
    "UNKNOWN": N_("no answer yet"),
    "LOST": N_("lost, asks for a person"),
    "REJECTED": N_("refused"),
    "CANCELLED": N_("cancelled"),
    "SUPERSEDED": N_("overtaken"),
}
BINS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
MINUTE = 60


@dataclass(frozen=True, slots=True)
class Line:
    """One series; `tone` names its colour where it has a meaning, `dashed` marks what is only for comparison."""

    label: str
    values: Sequence[float | None]
    tone: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: `kind` is line, bar, stack (bars on bars) or lying (bars on their side)."""

    name: str
    title: str
    note: str
    kind: str
    x: Sequence[str]
    lines: Sequence[Line]
    heading: str = N_("Time")
    unit: str = ""
    nothing: str = N_("Nothing happened in this period.")
    digits: int = 0

    @property
    def is_empty(self) -> bool:
        return not any(value for line in self.lines for value in line.values)

    @property
    def data(self) -> dict[str, object]:
        """What the script draws."""
        lines = [
            {"name": one.label, "values": list(one.values), "tone": one.tone, "dashed": one.dashed}
            for one in self.lines
        ]
        return {"kind": self.kind, "x": list(self.x), "lines": lines, "unit": self.unit, "digits": self.digits}

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        """The table: points that say nothing are left out."""
        found = [(at, [line.values[place] for line in self.lines]) for place, at in enumerate(self.x)]
        return [(at, values) for at, values in found if any(value for value in values)]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Makes the charts of what was found, in the words and the zone of who looks."""

    visit: Visit
    found: Analytics

    def charts(self) -> list[Chart]:
        """All, in the order of the page."""
        makers = (
            self._throughput,
            self._jobs,
            self._failures,
            self._freshness,
            self._margins,
            self._runs,
            self._calls,
            self._sent,
        )
        return [make() for make in makers]

    def _throughput(self) -> Chart:
        measured = self.found.measured
        now, before = measured.now.get("throughput", {}), measured.before.get("throughput", {})
        nothing = [0.0] * len(measured.x)
        lines = [Line(self._said(label), now[stage]) for stage, label in STAGES.items() if stage in now]
        if Stage.REGISTER in before:
            label = self._said(N_("Register, the period before"))
            lines.append(Line(label, before.get(Stage.REGISTER, nothing), "idle", dashed=True))
        return Chart(
            "throughput",
            N_("Products through each stage"),
            N_("How many products left each stage of the belt."),
            "line",
            self._times(measured.x),
            lines,
        )

    def _jobs(self) -> Chart:
        now = self.found.measured.now.get("jobs", {})
        tones = {JobStatus.SUCCESS: "good", JobStatus.FAILED: "bad", JobStatus.CANCELLED: "idle"}
        lines = [Line(self._word(status), now[status], tone) for status, tone in tones.items() if status in now]
        return Chart(
            "jobs",
            N_("Jobs that ended"),
            N_("Done and failed, by when they ended."),
            "stack",
            self._times(self.found.measured.x),
            lines,
        )

    def _failures(self) -> Chart:
        measured = self.found.measured
        now = {label: sum(values) for label, values in measured.now.get("failures", {}).items()}
        before = {label: sum(values) for label, values in measured.before.get("failures", {}).items()}
        causes = sorted({*now, *before}, key=lambda cause: -now.get(cause, 0.0))
        labels = [self._said(CAUSES[ReasonClass(one)]) if one in CAUSES else one for one in causes]
        lines = [
            Line(self._said(N_("this period")), [round(now.get(one, 0.0)) for one in causes], "bad"),
            Line(self._said(N_("the period before")), [round(before.get(one, 0.0)) for one in causes], "idle"),
        ]
        return Chart(
            "failures",
            N_("Why attempts failed"),
            N_("Each failed attempt counts, also where a later one went well."),
            "lying",
            labels,
            lines,
            heading=N_("Cause"),
            nothing=N_("No attempt failed in this period."),
        )

    def _freshness(self) -> Chart:
        waited = self.found.waited
        points = sorted({one.at for one in waited})
        known = {(one.account, one.at): one for one in waited}
        lines = []
        for account in sorted({one.account for one in waited}):
            found = [known.get((account, at)) for at in points]
            half = [one.half / MINUTE if one else None for one in found]
            most = [one.most / MINUTE if one else None for one in found]
            lines.append(Line(self._said(N_("%(account)s: half within"), account=account), half))
            lines.append(Line(self._said(N_("%(account)s: 95 of 100 within"), account=account), most))
        return Chart(
            "freshness",
            N_("From the mall to the market"),
            N_("Minutes from seeing a change at the mall until the market confirmed it."),
            "line",
            self._times(points),
            lines,
            unit=self._said(N_("min")),
            nothing=N_("The market confirmed nothing in this period."),
            digits=1,
        )

    def _margins(self) -> Chart:
        counts = [0] * (len(BINS) + 1)
        for margin in self.found.margins:
            counts[bisect_right(BINS, margin)] += 1
        edges = [f"{edge:.0%}" for edge in BINS]
        labels = [f"< {edges[0]}", *(f"{low}–{high}" for low, high in pairwise(edges))]
        return Chart(
            "margins",
            N_("Margins of decided prices"),
            N_("The newest decided prices of this period, by their margin."),
            "bar",
            [*labels, f"≥ {edges[-1]}"],
            [Line(self._said(N_("prices")), counts, "good")],
            heading=N_("Margin"),
            nothing=N_("No price was decided in this period."),
        )

    def _runs(self) -> Chart:
        runs = self.found.runs
        lines = [
            Line(self._said(mode.value), [one.seconds / MINUTE if one.mode == mode else None for one in runs])
            for mode in Mode
            if any(one.mode == mode for one in runs)
        ]
        return Chart(
            "runs",
            N_("How long runs took"),
            N_("Minutes from the start of a run to its end."),
            "bar",
            [one.batch_id for one in runs],
            lines,
            heading=N_("Run"),
            unit=self._said(N_("min")),
            nothing=N_("Nothing ran in this period."),
            digits=1,
        )

    def _calls(self) -> Chart:
        calls = self.found.calls
        several = len(calls) > 1
        lines = [
            Line(f"{one.account}: {self._said(FAMILIES[family])}" if several else self._said(FAMILIES[family]), values)
            for one in calls
            for family, values in one.families.items()
            if any(values)
        ]
        return Chart(
            "calls",
            N_("Calls to the market by the hour"),
            N_("The last 24 hours, whichever period is chosen."),
            "stack",
            self._times(calls[0].x if calls else []),
            lines,
            nothing=N_("Nothing was sent in the last 24 hours."),
        )

    def _sent(self) -> Chart:
        sent = self.found.sent
        tones = {"CONFIRMED": "good", "REJECTED": "bad", "LOST": "bad", "CANCELLED": "idle", "SUPERSEDED": "idle"}
        fates = [one for one in FATES if any(one in states for states in sent.values())]
        lines = [
            Line(self._said(FATES[fate]), [states.get(fate, 0) for states in sent.values()], tones.get(fate, ""))
            for fate in fates
        ]
        return Chart(
            "sent",
            N_("What became of calls"),
            N_("The newest calls of this period, by what they were for."),
            "stack",
            [self._said(KINDS.get(kind, kind)) for kind in sent],
            lines,
            heading=N_("Kind"),
            nothing=N_("Nothing was sent in this period."),
        )

    def _times(self, points: Sequence[int]) -> list[str]:
        """Short where one day is shown, with the day where more are."""
        here = zone(self.visit.eyes.zone)
        form = "%m-%d %H:%M" if self.found.period.name == "week" else "%H:%M"
        return [f"{datetime.fromtimestamp(at, UTC).astimezone(here):{form}}" for at in points]

    def _said(self, text: str, **values: object) -> str:
        return self.visit.say(text, **values)

    def _word(self, state: str) -> str:
        return self.visit.say(words.of(state).label)
