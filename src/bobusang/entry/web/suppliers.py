"""Suppliers: how the goods of each come, when something last came, what is wrong; set, paused, collected, synced."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.catalog.model import SupplierKind
from bobusang.entry.api import product_sync
from bobusang.entry.api import suppliers as api
from bobusang.entry.api.product_sync import SyncForm
from bobusang.entry.api.suppliers import LONGEST_REFRESH, SupplierChange, SupplierForm, SupplierQuery
from bobusang.entry.tables import Role
from bobusang.entry.web import forms, sellers
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import BobusangError, Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit

pages = Pages()

TAB = "/suppliers"
KINDS = {
    SupplierKind.API: N_("it is asked by its API"),
    SupplierKind.EXCEL: N_("it sends spreadsheets"),
    SupplierKind.WEBHOOK: N_("it sends webhooks"),
}
PROBLEMS = (
    (re.compile(r"no source of this name is known"), N_("no source of this name is known")),
    (re.compile(r"its source is off"), N_("its source is off")),
    (re.compile(r"([\d,]+) files failed"), N_("%(count)s files failed")),
    (re.compile(r"([\d,]+) webhooks could not be read"), N_("%(count)s webhooks could not be read")),
    (re.compile(r"the last run was not seen to its end"), N_("the last run was not seen to its end")),
)
SETTINGS = ("targets", "refresh_hours", "inbox", "note")
FIELDS = ("name", "kind", "base_url", "secret", *SETTINGS)
HOURS = re.compile(r"\d{1,9}(?:\.\d{1,9})?", re.ASCII)


def frame(visit: Visit) -> dict[str, Any]:
    """What all pages of suppliers are given."""

    def problem(text: str) -> str:
        for pattern, words in PROBLEMS:
            if found := pattern.fullmatch(text):
                return visit.say(words, count=found[1]) if found.groups() else visit.say(words)
        return text

    return sellers.frame(visit, TAB) | {"kinds": KINDS, "problem": problem}


@pages.get(TAB)
async def listed(visit: Visit) -> Response:
    """All of them."""
    given = frame(visit)
    found = (await api.list_suppliers(visit.desk, SupplierQuery())).items
    return visit.page("suppliers.html", rows=found, **given)


@pages.get("/suppliers/new", role=Role.ADMIN)
async def new(visit: Visit) -> Response:
    """An empty form."""
    return _form(visit, {"kind": SupplierKind.EXCEL.value})


@pages.post("/suppliers/new", role=Role.ADMIN)
async def add(visit: Visit) -> Response:
    """Add it."""
    form = await visit.form()
    try:
        given = {"name": form.get("name"), **_given(visit, form)}
        await api.add_supplier(visit.desk, visit.request, SupplierForm.model_validate(given), None)
    except (BobusangError, ValidationError) as error:
        return _form(visit, _typed(form), error=forms.wrong(error))
    return visit.done(N_("The supplier was added."), f"{TAB}/{form.get('name')}")


@pages.post("/suppliers/sync")
async def sync(visit: Visit) -> Response:
    """Carry the goods of all active suppliers to the markets now, or those of one."""
    name = (await visit.form()).get("name")
    done = await product_sync.start_sync(visit.desk, SyncForm(suppliers=[name] if name else []))
    text = N_("Job %(job)s syncs them.") if done.is_new else N_("Job %(job)s is syncing already.")
    return visit.done(text, f"/jobs/{done.job_id}", job=done.job_id)


@pages.get("/suppliers/{name}")
async def shown(visit: Visit) -> Response:
    """One of them."""
    given = frame(visit)
    return visit.page("supplier.html", one=await api.show_supplier(visit.desk, visit.path["name"]), **given)


@pages.post("/suppliers/{name}/pause")
async def pause(visit: Visit) -> Response:
    """Nothing more is taken from it."""
    done = await api.pause_supplier(visit.desk, visit.path["name"])
    return visit.done(N_("%(name)s is paused."), name=done.name)


@pages.post("/suppliers/{name}/resume")
async def resume(visit: Visit) -> Response:
    """It takes part again."""
    done = await api.resume_supplier(visit.desk, visit.path["name"])
    return visit.done(N_("%(name)s takes part in the next sync."), name=done.name)


@pages.post("/suppliers/{name}/collect")
async def collect(visit: Visit) -> Response:
    """Collect it now."""
    done = await api.collect_supplier(visit.desk, visit.path["name"])
    if not done.jobs:
        return visit.refused(visit.say(N_("Nothing was begun: %(why)s"), why=done.why or "–"))
    return visit.done(N_("It is collected by job %(job)s."), job=done.jobs[0])


@pages.get("/suppliers/{name}/edit", role=Role.ADMIN)
async def edit(visit: Visit) -> Response:
    """The form with what is set now."""
    found = await api.show_supplier(visit.desk, visit.path["name"])
    settings = found.settings
    said = {
        "name": found.name,
        "kind": found.kind.value,
        "base_url": found.base_url or "",
        "secret": found.secret or "",
        "targets": "\n".join(settings.get("targets", [])),
        "refresh_hours": str(settings.get("refresh_hours", "")),
        "inbox": settings.get("inbox", ""),
        "note": settings.get("note", ""),
    }
    return _form(visit, said, known=found.name)


@pages.post("/suppliers/{name}/edit", role=Role.ADMIN)
async def change(visit: Visit) -> Response:
    """Change it; what a form does not show stays."""
    form, name = await visit.form(), visit.path["name"]
    try:
        given = {"base_url": None, "secret": None, **_given(visit, form)}
        given["settings"] = dict.fromkeys(SETTINGS) | given["settings"]
        await api.change_supplier(visit.desk, name, SupplierChange.model_validate(given))
    except (BobusangError, ValidationError) as error:
        return _form(visit, _typed(form) | {"name": name}, known=name, error=forms.wrong(error))
    return visit.done(N_("%(name)s was changed."), f"{TAB}/{name}", name=name)


def _given(visit: Visit, form: Fields) -> dict[str, Any]:
    """What was filled in, as the API takes it."""
    settings: dict[str, Any] = form.some("inbox", "note")
    if targets := [line.strip() for line in form.text("targets").splitlines() if line.strip()]:
        settings["targets"] = targets
    if hours := form.get("refresh_hours"):
        settings["refresh_hours"] = _hours(visit, hours)
    return {**form.some("kind", "base_url", "secret"), "settings": settings}


def _hours(visit: Visit, typed: str) -> int | float:
    found = float(typed) if HOURS.fullmatch(typed) else -1.0
    if not 0 <= found <= LONGEST_REFRESH:
        words = N_("the hours until it is collected whole again are a number from 0 to %(most)s")
        raise Invalid(visit.say(words, most=f"{LONGEST_REFRESH:,}"), field="settings.refresh_hours")
    return int(found) if found.is_integer() else found


def _typed(form: Fields) -> dict[str, str]:
    return {name: form.text(name) for name in FIELDS}


def _form(visit: Visit, filled: Mapping[str, str], *, known: str = "", error: BobusangError | None = None) -> Response:
    given = frame(visit)
    said = dict.fromkeys(FIELDS, "") | dict(filled)
    status = 422 if error else 200
    shown = {"filled": said, "known": known, "error": error, "longest": LONGEST_REFRESH}
    return visit.page("supplier_form.html", status=status, **shown, **given)
