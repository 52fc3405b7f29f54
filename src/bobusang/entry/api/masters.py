"""The market's own lists, imported from its CSV files version by version."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Form
from bobusang.entry.api.files import BODY, sent_bytes
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.selling import MARKETS, Market
from bobusang.flows.market import masters
from bobusang.kit.db import Tx
from bobusang.kit.errors import Conflict
from bobusang.stages.convert import mastering
from bobusang.stages.convert.mastering import Imported
from bobusang.stages.convert.masters import Kind
from bobusang.views import mappings as view
from bobusang.views.mappings import MasterLine

router = Resource("masters", "/masters")

SHOWN = 100
SANDBOX_LISTS = "/buyma/downloads"

ListKind = Annotated[Kind, Path(examples=["brands"])]


class MasterQuery(Form):
    """Whose list, and whether it may lose rows."""

    market: Market = MARKETS[0]
    shrink: Annotated[bool, Field(description="it may have lost more than a fifth of its rows")] = False


class MasterTaken(BaseModel):
    """What an import has done; the keys of what came, changed and vanished are the first hundred of each."""

    kind: Kind
    version: int
    rows: int
    changed: bool
    added_count: int
    changed_count: int
    vanished_count: int
    added: list[str]
    altered: list[str]
    vanished: list[str]


@router.get("", summary="List the market's lists")
async def list_masters(desk: Viewer) -> Page[MasterLine]:
    """The newest version of each that was imported."""
    async with desk.read() as tx:
        return Page(items=await view.masters(tx), next=None)


@router.post("/fetch", summary="Fetch all of the market's lists")
async def fetch_masters(desk: Operator, query: Annotated[MasterQuery, Query()]) -> Page[MasterTaken]:
    """From where the settings say; all of them are imported, or none."""
    settings, collector = desk.app.settings, desk.app.collector
    url = settings.masters_url
    if settings.sandbox_url:
        url = f"{settings.sandbox_url.rstrip('/')}{SANDBOX_LISTS}"
    if not url:
        hint = "set BOBUSANG_MASTERS_URL, or import the files with `bobusang master import`"
        raise Conflict(f"nobody has said where the lists of {query.market} are", hint=hint, field="masters_url")
    files = await masters.fetched(collector.transport, url)

    async def work(tx: Tx) -> Page[MasterTaken]:
        done = [taken(one) for one in await masters.take_in(tx, query.market, files, shrink=query.shrink)]
        for one in done:
            await _noted(desk, tx, query.market, one)
        return Page(items=done, next=None)

    return await desk.write(work)


@router.post("/{kind}", summary="Import one of the market's lists", openapi_extra=BODY)
async def import_master(
    desk: Operator, kind: ListKind, request: Request, query: Annotated[MasterQuery, Query()]
) -> MasterTaken:
    """The next version of it; the same rows again make none, and half a file is refused."""
    data = await sent_bytes(request)

    async def work(tx: Tx) -> MasterTaken:
        done = taken(await mastering.take_in(tx, query.market, kind, data, shrink=query.shrink))
        await _noted(desk, tx, query.market, done)
        return done

    return await desk.write(work)


async def _noted(desk: Desk, tx: Tx, market: str, done: MasterTaken) -> None:
    if done.changed:
        told = {"version": done.version, "rows": done.rows, "vanished": done.vanished_count}
        await desk.note(tx, "master.import", "master", f"{market}/{done.kind}", after=told)


def taken(done: Imported) -> MasterTaken:
    """An import as it is told."""
    found = done.difference
    return MasterTaken(
        kind=done.kind,
        version=done.version,
        rows=done.rows,
        changed=not found.same,
        added_count=len(found.added),
        changed_count=len(found.changed),
        vanished_count=len(found.vanished),
        added=list(found.added[:SHOWN]),
        altered=list(found.changed[:SHOWN]),
        vanished=list(found.vanished[:SHOWN]),
    )
