"""The API in this very process: its answers come as they are made, whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from bobusang.entry.cli.inside import Inside

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

PARTS = 1_000


class Press:
    """Answers without an end to speak of, and counts what it has made of them."""

    def __init__(self) -> None:
        self.made = 0
        self.afterwards: list[str] = []

    async def pages(self) -> AsyncIterator[bytes]:
        for _ in range(PARTS):
            self.made += 1
            yield b"page\n"

    async def breaking(self) -> AsyncIterator[bytes]:
        yield b"page\n"
        raise ValueError("out of ink")

    def client(self) -> httpx.AsyncClient:
        async def pages(_: Request) -> StreamingResponse:
            return StreamingResponse(self.pages())

        async def breaking(_: Request) -> StreamingResponse:
            return StreamingResponse(self.breaking())

        async def broken(_: Request) -> StreamingResponse:
            raise ValueError("no paper")

        async def echo(request: Request) -> PlainTextResponse:
            said = (await request.body()).decode()
            later = BackgroundTask(self.afterwards.append, said)
            return PlainTextResponse(f"{request.url.path}?{request.url.query} {said}", 201, background=later)

        works: dict[str, Any] = {"pages": pages, "breaking": breaking, "broken": broken}
        routes = [Route(f"/{name}", work) for name, work in works.items()]
        app = Starlette(routes=[*routes, Route("/echo", echo, methods=["POST"])])
        return httpx.AsyncClient(transport=Inside(app), base_url="http://local")


async def test_a_part_is_handed_on_before_the_next_ones_are_made() -> None:
    press = Press()

    async with press.client() as client, client.stream("GET", "/pages") as answer:
        parts = answer.aiter_bytes()
        first = await anext(parts)
        made = press.made
        rest = [part async for part in parts]

    assert (first, made < 5, len(rest), press.made) == (b"page\n", True, PARTS - 1, PARTS)


async def test_who_reads_no_further_ends_the_making() -> None:
    ended = list[bool]()

    async def endless(_: Scope, __: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200})
            while True:
                await send({"type": "http.response.body", "body": b"page\n", "more_body": True})
        finally:
            ended.append(True)

    async with httpx.AsyncClient(transport=Inside(endless)) as client, client.stream("GET", "http://local") as answer:
        assert await anext(answer.aiter_bytes()) == b"page\n"

    assert ended == [True]


async def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one() -> None:
    async with Press().client() as client:
        with pytest.raises(httpx.RemoteProtocolError, match="the answer broke off"):
            await client.get("/breaking")


async def test_what_fails_before_it_answers_is_a_500() -> None:
    async with Press().client() as client:
        answer = await client.get("/broken")

    assert (answer.status_code, answer.text) == (500, "Internal Server Error")


async def test_a_body_arrives_and_what_is_done_after_the_answer_is_waited_for() -> None:
    press = Press()

    async with press.client() as client:
        answer = await client.post("/echo?a=1", content=b"said")

    assert (answer.status_code, answer.text, press.afterwards) == (201, "/echo?a=1 said", ["said"])
