"""Webhooks of markets: stored as they come and answered at once; the signature is the key."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from bobusang.entry.api.problems import TooLarge, Unauthorised
from bobusang.kit import log
from bobusang.kit.db import Tx
from bobusang.kit.errors import Missing, Unavailable
from bobusang.stages.register import accounts
from bobusang.stages.register.inbox import LARGEST
from bobusang.stages.register.model import Account
from bobusang.stages.register.service import Register
from bobusang.wiring import App

router = APIRouter(prefix="/webhooks", tags=["webhooks"])


@router.post("/{market}/{account}", summary="Receive a market's webhook", response_class=Response)
async def receive_webhook(request: Request, market: str, account: str) -> Response:
    """Whatever a market tells an account of ours. It takes effect after the answer, in the order of the market's own
    times. 401: the signature is not that of this body."""
    app: App = request.app.state.bobusang
    register = app.belt.register
    if market != register.market.name:
        raise Missing(f"no market '{market}' tells us anything")
    body = await _body(request)
    headers = dict(request.headers)

    async def work(tx: Tx) -> bool:
        ours = await accounts.named(tx, market, account)
        _must_know(register, ours)
        return await register.receive(tx, ours, headers, body)

    if not await app.engine.db.transact(work):
        raise Unauthorised(
            "this is not signed with the secret of this account",
            hint="the account's secret must be the client secret of its app",
        )
    return Response(status_code=200)


def _must_know(register: Register, account: Account) -> None:
    """Without its secret nothing is known of a webhook: the market is to send it again, and a stranger learns nothing
    of where the secret should be."""
    try:
        register.secret(account.secret_ref)
    except Missing as error:
        log.get("webhooks").error("a webhook cannot be checked", account=account.name, error=str(error))
        raise Unavailable("signatures of this account cannot be checked now", hint="the log says why") from error


async def _body(request: Request) -> bytes:
    """The bytes as they were signed; one that is too large is not read to its end."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST:
            raise TooLarge(f"a webhook has at most {LARGEST:,} bytes", hint="this is no webhook of a market")
        parts.append(part)
    return b"".join(parts)
