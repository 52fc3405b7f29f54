"""Looking at a shop that is not known yet: one page, over the checked transport, and what robots.txt says of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.connectors.sources.generator.sample import Sample
from bobusang.kit import robots
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.kit.http import Call

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.sample import Request
    from bobusang.kit.http import Transport
    from bobusang.kit.robots import Judgement

PATIENCE = timedelta(seconds=20)
LARGEST = 8 << 20


@dataclass(frozen=True, slots=True)
class Looked:
    """A page, and what the shop's robots.txt says of its address."""

    sample: Sample
    robots: Judgement
    size: int


async def look(transport: Transport, request: Request, *, user_agent: str, home: str = "") -> Looked:
    """Fetch one page, once, and robots.txt before it.

    `home` is the sandbox, where one is set: then nothing else is called. The transport refuses private addresses.
    """
    parts = urlsplit(request.url)
    host = f"{parts.scheme}://{parts.netloc}"
    if home and host != home.rstrip("/"):
        hint = "unset BOBUSANG_SANDBOX_URL for a real shop"
        raise Invalid(f"{host} is not the sandbox, and nothing else is called while one is set", hint=hint, field="url")
    judged = await _robots(transport, request, f"{host}/robots.txt", user_agent)
    headers = {"user-agent": user_agent, **{name.lower(): value for name, value in request.headers.items()}}
    body = None if request.body is None else request.body.encode()
    call = Call(request.url, request.method, headers, body=body, most=LARGEST, timeout=PATIENCE)
    answer = await transport.send(call)
    sample = Sample(request, answer.body, answer.status, str(answer.headers.get("content-type", "")))
    return Looked(sample, judged, len(answer.body))


async def _robots(transport: Transport, request: Request, place: str, user_agent: str) -> Judgement:
    call = Call(place, headers={"user-agent": user_agent}, most=robots.LARGEST, timeout=PATIENCE)
    status: int | None = None
    text = ""
    try:
        answer = await transport.send(call)
        status, text = answer.status, answer.body.decode("utf-8", "replace")
    except BobusangError:
        pass
    return robots.judged(status, text, url=request.url, agent=user_agent)
