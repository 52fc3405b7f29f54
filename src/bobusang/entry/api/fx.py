"""Rates of exchange: added, imported, and those that were held believed or refused by a person."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated

from fastapi import Query, Request
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from bobusang.entry.api.desk import Admin, Desk, Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form, Instant, Name, Numeric, PathId
from bobusang.entry.api.files import BODY, sent_text
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.stages.price import fx, fxbook
from bobusang.stages.price.model import FxQuote, FxState
from bobusang.views import prices as view
from bobusang.views.prices import FxLine

router = Resource("rates", "/fx")

DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?")

Code = Annotated[str, Field(pattern="^[A-Z]{3}$", examples=["JPY"]), Capitals]


def _decimal(value: str) -> str:
    if not DECIMAL.fullmatch(value):
        raise PydanticCustomError("decimal", "should be a decimal number as text, such as 9.4121")
    return value


Exact = Annotated[
    str, Field(examples=["9.4121"], json_schema_extra={"pattern": f"^{DECIMAL.pattern}$"}), AfterValidator(_decimal)
]


class FxQuery(Paged):
    """Which rates of exchange."""

    base: Code | None = None
    quote: Code | None = None
    state: Annotated[FxState | None, Capitals] = None


class FxForm(Form):
    """So many `quote` for `per` units of `base`; without a time it is of now."""

    base: Code
    quote: Code
    rate: Exact
    per: Annotated[int, Field(ge=1, le=1_000_000), Numeric] = 1
    spread: Exact = "0"
    source: Name
    quoted_at: Instant | None = None


class FxTaken(BaseModel):
    """How many rates were given, and which of them were new: believed, or held until a person has looked."""

    given: int
    trusted: int
    held: int


@router.get("", summary="List rates of exchange")
async def list_fx(desk: Viewer, query: Annotated[FxQuery, Query()]) -> Page[FxLine]:
    """Those that came last first; a held one says why."""
    before = unpack("fx", query.cursor)
    async with desk.read() as tx:
        found = await view.rates(
            tx, base=query.base, quote=query.quote, state=query.state, before=before, limit=query.limit + 1
        )
    return page("fx", found, query.limit, lambda rate: rate.id)


@router.post("", summary="Add a rate of exchange", status_code=201)
async def add_fx(desk: Admin, form: FxForm) -> FxTaken:
    """One that jumps is held; a rate that is there already changes nothing."""
    return await _record(desk, lambda now: [_quote(form, now)])


@router.post("/import", summary="Import rates of exchange", openapi_extra=BODY)
async def import_fx(desk: Admin, request: Request) -> FxTaken:
    """A CSV file with base, quote, rate, per, spread, source and quoted_at; all of it or nothing."""
    quotes = fx.read_csv(await sent_text(request))
    return await _record(desk, lambda _: quotes)


@router.post("/{rate_id}/accept", summary="Believe a held rate")
async def accept_fx(desk: Operator, rate_id: PathId) -> FxLine:
    """Prices of its pair are made with it from now on."""
    return await _decide(desk, rate_id, accept=True)


@router.post("/{rate_id}/reject", summary="Refuse a held rate")
async def reject_fx(desk: Operator, rate_id: PathId) -> FxLine:
    """It is never used."""
    return await _decide(desk, rate_id, accept=False)


def _quote(form: FxForm, now: datetime) -> FxQuote:
    rate = (Decimal(form.rate) / form.per).normalize()
    return FxQuote(form.base, form.quote, f"{rate:f}", form.source, form.quoted_at or now, form.spread)


async def _record(desk: Desk, quotes: Callable[[datetime], list[FxQuote]]) -> FxTaken:
    async def work(tx: Tx) -> FxTaken:
        given = quotes(tx.now)
        kept = await fxbook.record(tx, given)
        held = sum(one.state is FxState.HELD for one in kept)
        for one in kept:
            await desk.note(tx, "fx.add", "fx_quote", f"{one.base}/{one.quote}", after=one)
        return FxTaken(given=len(given), trusted=len(kept) - held, held=held)

    return await desk.write(work)


async def _decide(desk: Desk, rate_id: int, *, accept: bool) -> FxLine:
    async def work(tx: Tx) -> FxLine:
        await view.rate(tx, rate_id)
        await fxbook.decide(tx, rate_id, desk.actor, accept=accept)
        return await view.rate(tx, rate_id)

    return await desk.write(work)
