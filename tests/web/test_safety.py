"""The live channel lets in who is signed in and looks from a page of ours, and nobody else, and lets nobody stay."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bobusang.entry.people import signed_in
from tests.integration.api.serving import served
from tests.web.screen import COOKIE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from websockets.asyncio.client import ClientConnection

    from tests.web.screen import Screen, Visitor

GONE = 4401


@asynccontextmanager
async def live(screen: Screen, visitor: Visitor, origin: str = "") -> AsyncIterator[ClientConnection]:
    """The channel as a browser opens it, over a real server."""
    async with served(screen.api, "") as client:
        host = f"{client.base_url.host}:{client.base_url.port}"
        cookie = visitor.client.cookies.get(COOKIE)
        headers = {"cookie": f"{COOKIE}={cookie}"} if cookie else {}
        address = f"ws://{host}/ui/live"
        async with connect(address, origin=origin or f"http://{host}", additional_headers=headers) as socket:  # type: ignore[arg-type]
            yield socket


async def closed(socket: ClientConnection) -> int | None:
    """The code by which we are shown out."""
    with suppress(ConnectionClosed):
        while True:
            await socket.recv()  # what was on its way
    return socket.close_code


async def test_who_is_signed_in_is_sent_the_whole_page_first(screen: Screen) -> None:
    async with live(screen, screen.viewer) as socket:
        await socket.send(json.dumps(["overview"]))
        told = json.loads(await socket.recv())

    assert (told["topic"], told["gone"]) == ("overview", [])
    assert {"figures", "needs", "throughput", "belts"} <= set(told["parts"])
    assert not any("csrf" in part for part in told["parts"].values())


@pytest.mark.parametrize("origin", ["http://evil.test", "https://127.0.0.1.evil.test", "null"])
async def test_a_page_of_another_site_is_refused(screen: Screen, origin: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with live(screen, screen.viewer, origin):
            pass

    assert caught.value.response.status_code == 403


async def test_a_stranger_is_told_to_sign_in(screen: Screen) -> None:
    async with live(screen, screen.stranger) as socket:
        assert await closed(socket) == GONE


async def test_who_signs_out_is_shown_nothing_more(screen: Screen) -> None:
    async with live(screen, screen.viewer) as socket:
        await socket.send(json.dumps(["overview"]))
        await socket.recv()
        await screen.viewer.post("/sign-out")

        assert await closed(socket) == GONE


async def test_whose_session_ended_elsewhere_is_shown_nothing_more(screen: Screen) -> None:
    async with live(screen, screen.viewer) as socket:
        await socket.send(json.dumps(["overview"]))
        await socket.recv()
        token = screen.viewer.client.cookies[COOKIE]
        await screen.app.engine.db.transact(lambda tx: signed_in.end(tx, token))
        screen.site.attendance.forget()

        assert await closed(socket) == GONE


@pytest.mark.parametrize(
    "sent",
    ["not json", "{}", json.dumps(["x"] * 11), json.dumps([1]), json.dumps(["x" * 201]), b"\x00\xff", "[" * 5000],
)
async def test_what_names_no_topics_ends_the_channel(screen: Screen, sent: str | bytes) -> None:
    async with live(screen, screen.viewer) as socket:
        await socket.send(sent)

        assert await closed(socket) == 1003


async def test_topics_that_are_not_there_are_not_answered(screen: Screen) -> None:
    async with live(screen, screen.viewer) as socket:
        await socket.send(json.dumps(["nothing", "run:1:2", "run:../../etc/passwd", "overview"]))

        assert json.loads(await socket.recv())["topic"] == "overview"
