"""Suppliers: how the goods of each come (by API, by spreadsheet, by webhook), set, paused, resumed, asked now."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from bobusang.catalog import suppliers as catalog
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.entry.api.accounts import Secret
from bobusang.entry.api.conditions import shown
from bobusang.entry.api.desk import Admin, Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form, Payload
from bobusang.entry.api.once import IdempotencyKey, once
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.flows.product_sync import asking
from bobusang.flows.sheets import inbox
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict, Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.views import suppliers as view
from bobusang.views.suppliers import SupplierDetail, SupplierLine

router = Resource("suppliers", "/suppliers")

SETTINGS = ("targets", "refresh_hours", "inbox", "sheet", "note")
"""What a supplier's settings may say."""
LONGEST_REFRESH = 24 * 60
"""Hours: after sixty days everything is collected whole in any case."""

SupplierName = Annotated[str, Path(min_length=1, max_length=50, examples=["acme"])]
NewName = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[a-z][a-z0-9_-]*$", examples=["acme"])]
Kind = Annotated[SupplierKind, Field(examples=["webhook"])]
Address = Annotated[str, Field(max_length=500, pattern=r"^https?://\S+$", examples=["https://api.example.com"])]


class SupplierQuery(Form):
    """Which suppliers."""

    kind: Kind | None = None
    active: bool | None = None


class SupplierFacts(Form):
    """All that is set of a supplier; what is left out is empty."""

    kind: Kind
    base_url: Address | None = None
    settings: Annotated[
        Payload,
        Field(
            description="`targets` (KIND:KEY, what an API is asked for), `inbox` (the folder that is watched for "
            "spreadsheets), `sheet` (its columns), `note`",
            examples=[{"note": "Monday's list"}],
            default_factory=dict,
        ),
    ]
    secret: Annotated[Secret | None, Field(description="where the secret of its webhooks is, never what it is")] = None
    active: Flag = True


class SupplierForm(SupplierFacts):
    """A new supplier; its name is that of its source, and of its records."""

    name: NewName


class SupplierChange(Form):
    """What is to be different; what is left out stays. A setting that is null is taken away."""

    kind: Kind = SupplierKind.API
    base_url: Address | None = None
    settings: Annotated[Payload, Field(default_factory=dict)]
    secret: Secret | None = None
    active: Flag = True


class Begun(BaseModel):
    """What was begun for a supplier, and why nothing was."""

    supplier: str
    jobs: list[int]
    why: str | None


@router.get("", summary="List suppliers")
async def list_suppliers(desk: Viewer, query: Annotated[SupplierQuery, Query()]) -> Page[SupplierLine]:
    """By name, with when something last came of each, and what is wrong."""
    async with desk.read() as tx:
        found = await view.listed(tx, desk.app.collector.sources, kind=query.kind, active=query.active)
    return Page(items=found, next=None)


@router.post("", summary="Add a supplier", status_code=201, response_model=SupplierDetail)
async def add_supplier(
    desk: Admin, request: Request, form: SupplierForm, idempotency_key: IdempotencyKey = None
) -> Response:
    """Its source is enabled apart from that: `POST /sources/{name}/enable` says why it may be collected."""

    async def work(tx: Tx) -> Response:
        if await catalog.find(tx, form.name) is not None:
            hint = f"`bobusang supplier set {form.name}` changes it"
            raise Conflict(f"there is a supplier '{form.name}' already", hint=hint, field="name")
        await catalog.put(tx, supplier_of(form.name, form))
        await desk.note(tx, "supplier.add", "supplier", form.name, after=form.model_dump())
        found = await view.one(tx, desk.app.collector.sources, form.name)
        return shown(found, 201, Location=f"/suppliers/{form.name}")

    return await once(desk, request, idempotency_key, form, work)


@router.get("/{name}", summary="Show a supplier")
async def show_supplier(desk: Viewer, name: SupplierName) -> SupplierDetail:
    """With its settings, its last runs, webhooks and files, and how many records are of it."""
    async with desk.read() as tx:
        return await view.one(tx, desk.app.collector.sources, name)


@router.put("/{name}", summary="Replace what is set of a supplier")
async def replace_supplier(desk: Admin, name: SupplierName, form: SupplierFacts) -> SupplierDetail:
    """What is left out is taken away."""
    return await _changed(desk, name, "supplier.replace", lambda before: supplier_of(name, form))


@router.patch("/{name}", summary="Change a supplier")
async def change_supplier(desk: Admin, name: SupplierName, form: SupplierChange) -> SupplierDetail:
    """Counts from its next run."""
    given = form.model_dump(exclude_unset=True)
    if not given:
        raise Invalid("nothing to change was given", hint=f"one of {', '.join(type(form).model_fields)}")

    def after(before: Supplier) -> Supplier:
        settings = {**before.settings, **given.pop("settings", {})}
        names = {"secret": "secret_name", "active": "is_active"}
        values = {names.get(one, one): value for one, value in given.items()}
        kept = {one: value for one, value in settings.items() if value is not None}
        return replace(before, **values, settings=_checked(kept))

    return await _changed(desk, name, "supplier.change", after)


@router.post("/{name}/pause", summary="Pause a supplier")
async def pause_supplier(desk: Operator, name: SupplierName) -> SupplierDetail:
    """Nothing more is asked of it or taken from it; what is known of it stays."""
    return await _changed(desk, name, "supplier.pause", lambda before: replace(before, is_active=False))


@router.post("/{name}/resume", summary="Resume a supplier")
async def resume_supplier(desk: Operator, name: SupplierName) -> SupplierDetail:
    """It takes part in the next sync."""
    return await _changed(desk, name, "supplier.resume", lambda before: replace(before, is_active=True))


@router.post("/{name}/collect", summary="Collect a supplier now")
async def collect_supplier(desk: Operator, name: SupplierName) -> Begun:
    """What is new since the last time: windows of time where its source has such, all of it otherwise, webhooks that
    wait. Spreadsheets come by themselves."""
    engine, collector = desk.engine, desk.app.collector

    async def work(tx: Tx) -> Begun:
        supplier = await catalog.get(tx, name)
        if not supplier.is_active:
            raise Conflict(f"the supplier {name} is paused", hint=f"`bobusang supplier resume {name}` lets it go on")
        begun = await asking.ask(tx, engine, collector, supplier)
        await desk.note(tx, "supplier.collect", "supplier", name, after={"jobs": list(begun.jobs), "why": begun.why})
        return Begun(supplier=name, jobs=list(begun.jobs), why=begun.why or None)

    return await desk.write(work)


def supplier_of(name: str, form: SupplierFacts) -> Supplier:
    """What a form says, as the catalog takes it."""
    return Supplier(name, form.kind, form.base_url, _checked(form.settings), form.secret, form.active)


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that somebody reads; a word nobody reads is most likely a mistake."""
    for name in settings:
        if name not in SETTINGS:
            raise Invalid(
                f"a supplier has no setting '{name[:50]}'", hint=did_you_mean(name, SETTINGS), field="settings"
            )
    targets = settings.get("targets", [])
    if not isinstance(targets, list) or not all(isinstance(one, str) and ":" in one.strip(":") for one in targets):
        raise Invalid(
            "targets is a list of KIND:KEY", hint='as in ["brand:NIKE", "list:all"]', field="settings.targets"
        )
    hours = settings.get("refresh_hours", 0)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 <= hours <= LONGEST_REFRESH:
        raise Invalid(f"refresh_hours is a number from 0 to {LONGEST_REFRESH}", field="settings.refresh_hours")
    for name in ("inbox", "note"):
        if not isinstance(settings.get(name, ""), str):
            raise Invalid(f"{name} is a text", field=f"settings.{name}")
    if "inbox" in settings:
        inbox.place(settings["inbox"])  # raises what would otherwise be told by an alert only
    return settings


async def _changed(desk: Desk, name: str, action: str, change: Any) -> SupplierDetail:
    async def work(tx: Tx) -> SupplierDetail:
        before = await catalog.get(tx, name)
        after = change(before)
        if after != before:
            await catalog.put(tx, after)
            await desk.note(tx, action, "supplier", name, before=_told(before, after), after=_told(after, before))
        return await view.one(tx, desk.app.collector.sources, name)

    return await desk.write(work)


def _told(one: Supplier, other: Supplier) -> dict[str, Any]:
    """What of one differs from the other."""
    names = ("kind", "base_url", "settings", "secret_name", "is_active")
    return {name: getattr(one, name) for name in names if getattr(one, name) != getattr(other, name)}
