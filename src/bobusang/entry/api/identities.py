"""Identities: who we are when we call a mall, how they fare, taken out of use and back by a person."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form, Name, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.stages.collect import intervening
from bobusang.stages.collect.tables import IdentityState
from bobusang.views import identities as view
from bobusang.views.identities import Analytics, IdentityLine

router = Resource("identities", "/identities")


class IdentityQuery(Paged):
    """Which identities."""

    source: Name | None = None
    state: Annotated[IdentityState | None, Capitals] = None


class AnalyticsQuery(Form):
    """Whose identities."""

    source: Name | None = None


class DisableForm(Form):
    """Why an identity is not to be used."""

    why: Annotated[str, Field(max_length=500)] = "disabled by hand"


@router.get("", summary="List identities")
async def list_identities(desk: Viewer, query: Annotated[IdentityQuery, Query()]) -> Page[IdentityLine]:
    """By number, with their states as of now; tokens and cookies are never shown."""
    after = unpack("identities", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(tx, source=query.source or "", state=query.state, after=after, limit=query.limit + 1)
    return page("identities", found, query.limit, lambda identity: identity.id)


@router.get("/analytics", summary="Show how identities fare")
async def show_analytics(desk: Viewer, query: Annotated[AnalyticsQuery, Query()]) -> Page[Analytics]:
    """Success and 429 rate of each source and each identity, the least successful first."""
    async with desk.read() as tx:
        return Page(items=await view.analytics(tx, query.source or ""), next=None)


@router.post("/{identity_id}/disable", summary="Take an identity out of use")
async def disable_identity(desk: Operator, identity_id: PathId, form: DisableForm | None = None) -> IdentityLine:
    """Until a person lets it recover; what it is fetching is finished."""
    why = (form or DisableForm()).why

    async def work(tx: Tx) -> IdentityLine:
        source = await intervening.disable(tx, identity_id, why=why, by=desk.actor)
        return await view.one(tx, identity_id, source)

    return await desk.write(work)


@router.post("/{identity_id}/recover", summary="Let an identity be used again")
async def recover_identity(desk: Operator, identity_id: PathId) -> IdentityLine:
    """One that rests after a 429, or was disabled by hand."""

    async def work(tx: Tx) -> IdentityLine:
        source = await intervening.recover(tx, desk.app.collector.pools, identity_id, by=desk.actor)
        return await view.one(tx, identity_id, source)

    return await desk.write(work)
