"""The audit log: who did what to which thing, with what was different before; searched, and handed out as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from bobusang.entry.api.pages import pack
from bobusang.entry.web import alerts, lists
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE, Filter
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.sheets import sheet
from bobusang.kit import json
from bobusang.views import audit as view
from bobusang.views.audit import AuditFilter, AuditLine

if TYPE_CHECKING:
    from bobusang.entry.web.visit import Visit

ENTRY = "/audit"
pages = Pages()

MOST_SAVED = 10_000
PART = 2500
FILTERS = (
    Filter("actor", N_("Who")),
    Filter("action", N_("Act")),
    Filter("subject_type", N_("Kind of thing")),
    Filter("subject_id", N_("Its number or name")),
)
SUBJECTS = {
    "batch": "/runs/{}",
    "job": "/jobs/{}",
    "task": "/tasks/{}",
    "schedule": "/schedules/{}",
    "product": "/products/{}",
    "listing": "/listings/{}",
    "dead_letter": "/dead-letters/{}",
    "user": "/settings/people",
    "api_key": "/settings/keys",
    "search": "/settings/system",
    "cache": "/settings/system",
}
"""Where a thing is shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field before and after; None: it was not there."""

    name: str
    before: str | None
    after: str | None


def differences(act: AuditLine) -> list[Difference]:
    """What an act changed, field by field; what stayed is left out."""
    before, after = _fields(act.before), _fields(act.after)
    return [
        Difference(name, before.get(name), after.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def place(act: AuditLine) -> str:
    """The page of the thing, if it has one."""
    known = SUBJECTS.get(act.subject_type, "")
    return known.format(act.subject_id) if act.subject_id or "{}" not in known else ""


@pages.get(ENTRY)
async def listed(visit: Visit) -> Response:
    """The newest first. A search that no index helps goes on from page to page."""
    visit.entry = alerts.ENTRY
    asked = await lists.asked(visit, ENTRY, FILTERS)
    if isinstance(asked, Response):
        return asked
    async with visit.desk.read() as tx:
        found = await view.acts(tx, _wanted(dict(asked.kept)), asked.before(), PAGE)
    asked.fill_page(found.lines, pack(ENTRY, found.resume) if found.resume is not None else None)
    return visit.page("audit.html", list=asked, differences=differences, place=place, most=MOST_SAVED)


@pages.get("/audit.csv")
async def saved(visit: Visit) -> Response:
    """The same as a file, to a bound."""
    wanted = _wanted(visit.query.some(*(one.name for one in FILTERS)))
    lines: list[AuditLine] = []
    before: int | None = None
    async with visit.desk.read() as tx:
        while len(lines) < MOST_SAVED:
            found = await view.acts(tx, wanted, before, PART)
            lines += found.lines
            before = found.resume
            if before is None:
                break
    heading = ("id", "at", "actor", "action", "subject_type", "subject_id", "before", "after")
    rows = (
        (one.id, one.at, one.actor, one.action, one.subject_type, one.subject_id, _told(one.before), _told(one.after))
        for one in lines[:MOST_SAVED]
    )
    return sheet("audit.csv", heading, rows)


def _wanted(given: dict[str, str]) -> AuditFilter:
    return AuditFilter(**given)


def _fields(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        return {"": _told(value)}
    return {str(name): _told(one) for name, one in value.items() if one is not None}


def _told(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
