"""Webhooks of markets: stored as they come and answered at once; the signature is the key."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from bobusang.entry.api.problems import TooLarge, Unauthorised
from bobusang.entry.api.resource import Resource
from bobusang.flows.market.receiving import Receiver
from bobusang.kit.errors import Missing
from bobusang.stages.register.inbox import LARGEST
from bobusang.wiring import App


class Straight(APIRoute):
    """Calls its function with the request and the path's texts: solving dependencies, of which there are none, takes
    FastAPI 60 of 95 microseconds."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        async def handle(request: Request) -> Response:
            answer: Response = await self.endpoint(request, **request.path_params)
            return answer

        return handle


router = Resource("webhooks", "/webhooks", route_class=Straight)


BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "What the market says, as it has signed it.",
        "content": {"application/json": {"schema": {}, "example": {"event": "product/update"}}},
    }
}


@router.post(
    "/{market}/{account}",
    summary="Receive a market's webhook",
    response_class=Response,
    openapi_extra=BODY,
)
async def receive_webhook(request: Request, market: str, account: str) -> Response:
    """Whatever a market tells an account of ours. It takes effect after the answer, in the order of the market's own
    times. 401: the signature is not that of this body."""
    app: App = request.app.state.bobusang
    if market != app.belt.register.market.name:
        raise Missing(f"no market '{market}' tells us anything")
    body = await _body(request)
    if not await _receiver(request, app).receive(account, request.headers, body):
        raise Unauthorised(
            "this is not signed with the secret of this account",
            hint="the account's secret must be the client secret of its app",
        )
    return Response(status_code=200)


def _receiver(request: Request, app: App) -> Receiver:
    """The one of this application."""
    state = request.app.state
    if not hasattr(state, "receiver"):
        state.receiver = Receiver(app.engine.db, app.belt.register)
    found: Receiver = state.receiver
    return found


async def _body(request: Request) -> bytes:
    """The bytes as they were signed; one that is too large is not read to its end."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise TooLarge(f"a webhook has at most {LARGEST:,} bytes", hint="this is no webhook of a market")
        parts.append(part)
    return b"".join(parts)
