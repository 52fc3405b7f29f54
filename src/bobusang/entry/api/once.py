"""Requests that are done once, however often they are sent: the caller names them by an Idempotency-Key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Annotated

from fastapi import Header, Request
from starlette.responses import Response

from bobusang.entry.api.desk import Desk
from bobusang.entry.api.fields import Form
from bobusang.kit.db import Tx
from bobusang.platform import replies
from bobusang.platform.replies import Reply

REPLAYED = "Idempotency-Replayed"
KEPT = ("etag", "location", "content-type")

IdempotencyKey = Annotated[
    str | None,
    Header(
        pattern=r"^[!-~]{1,200}$",
        description="a name of your own for this request: sent again within a day it is answered again, not done again",
        examples=["3e1f0b6c-order-17"],
    ),
]


async def once(
    desk: Desk, request: Request, name: str | None, form: Form, work: Callable[[Tx], Awaitable[Response]]
) -> Response:
    """Do the work in a transaction and remember its answer there; the same request gets that answer again."""
    if name is None:
        return await desk.write(work)
    told = f"{request.method} {request.url.path}\n{form.model_dump_json(exclude_unset=True)}"
    digest = sha256(told.encode()).hexdigest()

    async def first(tx: Tx) -> Response:
        known = await replies.given(tx, desk.caller, name, digest)
        if known is not None:
            return Response(known.body, known.status, {**known.headers, REPLAYED: "true"})
        answer = await work(tx)
        headers = {header: answer.headers[header] for header in KEPT if header in answer.headers}
        reply = Reply(answer.status_code, headers, bytes(answer.body).decode())
        await replies.keep(tx, desk.caller, name, digest, reply)
        return answer

    return await desk.write(first)
