"""Webhooks of suppliers: stored as they come and answered at once, the signature being the key; and what became of
them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Capitals, Form, Name, PathId
from bobusang.entry.api.pages import Page, Paged, page, unpack
from bobusang.entry.api.problems import TooLarge, Unauthorised
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.webhooks import Straight
from bobusang.flows.inbound.receiving import LARGEST, Answer, Receiver
from bobusang.kit.db import Tx
from bobusang.stages.collect import events
from bobusang.stages.collect.intake_tables import EventState
from bobusang.views import inbound as view
from bobusang.views.inbound import EventDetail, EventLine
from bobusang.wiring import App

door = Resource("inbound", "/in", route_class=Straight)
shown = Resource("inbound", "/inbound")

SourceName = Annotated[str, Path(min_length=1, max_length=50, examples=["acme"])]

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What happened, as the supplier has signed it.",
        "content": {"application/json": {"schema": {}, "example": {"event_id": "evt-1", "type": "product.updated"}}},
    }
}
REFUSED = {
    Answer.FORGED: (
        "this is not signed with the secret of this source",
        "sign the bytes as they are sent; `bobusang source key` gives the source its secret",
    ),
    Answer.STALE: (
        "this was signed too long ago",
        "sign it when it is sent, and see that the clock is right",
    ),
}


class EventQuery(Paged):
    """Which events."""

    source: Name | None = None
    state: Annotated[EventState | None, Capitals] = None


class RetryForm(Form):
    """What is to be read again."""

    source: Annotated[str, Field(min_length=1, max_length=50, examples=["acme"])]
    event_id: Annotated[int, Field(ge=0, le=2**62, description="our number of one event; 0: all that failed")] = 0


class Retried(BaseModel):
    """How many events are read again."""

    source: str
    events: int


@door.post("/{source}", summary="Receive a supplier's webhook", response_class=Response, openapi_extra=BODY)
async def receive_event(request: Request, source: str) -> Response:
    """Whatever a supplier tells us. It is read after the answer; the same event again changes nothing. 401: the
    signature is not that of this body, or too old. 409: the source is off, or the event once said something else."""
    answer = await _receiver(request).receive(source, request.headers, await _body(request))
    if answer in REFUSED:
        message, hint = REFUSED[answer]
        raise Unauthorised(message, hint=hint)
    return JSONResponse({"status": answer.value})


@shown.get("", summary="List webhooks of suppliers")
async def list_events(desk: Viewer, query: Annotated[EventQuery, Query()]) -> Page[EventLine]:
    """Newest first, with what became of each."""
    before = unpack("inbound", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(
            tx, source=query.source or "", state=query.state, before=before, limit=query.limit + 1
        )
    return page("inbound", found, query.limit, lambda event: event.id)


@shown.get("/{event_id}", summary="Show a webhook of a supplier")
async def show_event(desk: Viewer, event_id: PathId) -> EventDetail:
    """With what was sent, as far as it is text."""
    async with desk.read() as tx:
        return await view.one(tx, desk.app.collector.blobs, event_id)


@shown.post("/retry", summary="Read webhooks again that could not be read")
async def retry_events(desk: Operator, form: RetryForm) -> Retried:
    """Once the shop is mended: all of a source that failed, or one of them."""
    desk.app.collector.source(form.source)

    async def work(tx: Tx) -> int:
        many = await events.again(tx, form.source, form.event_id)
        await desk.note(tx, "inbound.retry", "source", form.source, after={"event": form.event_id, "events": many})
        return many

    return Retried(source=form.source, events=await desk.write(work))


def _receiver(request: Request) -> Receiver:
    """The one of this application."""
    state = request.app.state
    if not hasattr(state, "inbound"):
        app: App = state.bobusang
        state.inbound = Receiver(app.collector, app.belt.register.secret)
    found: Receiver = state.inbound
    return found


async def _body(request: Request) -> bytes:
    """The bytes as they were signed; one that is too large is not read to its end."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise TooLarge(f"a webhook has at most {LARGEST:,} bytes", hint="send fewer products at a time")
        parts.append(part)
    return b"".join(parts)


router = APIRouter()
router.routes += [*door.routes, *shown.routes]
