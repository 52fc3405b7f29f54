"""A picture that the market could not fetch is told to a person when we cannot fetch it either, over real HTTP."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bobusang.flows.market.inbox import apply
from bobusang.flows.market.showing import looked
from bobusang.kit.transport import AiohttpTransport
from tests.integration.market.stall import Stall, selling

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ALERTS = "select alert_key, level, text, resolved_at is not null as is_over from alerts"


@dataclass(slots=True)
class Gallery:
    """Where our pictures are served."""

    url: str = ""
    port: int = 0
    status: int = 200

    async def show(self, _: web.Request) -> web.Response:
        return web.Response(status=self.status, body=b"\xff\xd8\xff", content_type="image/jpeg")

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator[Gallery]:
        gallery, app = cls(), web.Application()
        app.router.add_get("/media/1.jpg", gallery.show)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        gallery.port = runner.addresses[0][1]
        gallery.url = f"http://127.0.0.1:{gallery.port}/media/1.jpg"
        yield gallery
        await runner.cleanup()


@pytest.fixture
async def stall(url: str, tmp_path: Path) -> AsyncIterator[Stall]:
    async with selling(url, tmp_path) as found:
        yield found


async def test_a_picture_that_we_cannot_fetch_either_calls_a_person_until_it_can_be_had(stall: Stall) -> None:
    async with Gallery.opened() as gallery:
        transport = AiohttpTransport(frozenset({("127.0.0.1", gallery.port)}))
        (coat,) = stall.coats(1)
        gallery.status = 404
        await stall.go(replace(coat, images=(gallery.url,)))
        await stall.door.settle()
        await apply(stall.shop.db, stall.register).run()
        refused = await stall.rows("select state, cause from market_calls")
        await looked(stall.shop.db, stall.register, transport)
        opened = await stall.rows(ALERTS)
        gallery.status = 200
        await looked(stall.shop.db, stall.register, transport)
        over = await stall.rows(ALERTS)
        await transport.close()

    assert refused == [{"state": "REJECTED", "cause": "outage"}]
    text = (
        f"buyma came to nothing with {gallery.url}, and neither can we fetch it: it answers 404. Check "
        "BOBUSANG_PUBLIC_URL, and that it is answered from outside. New listings are tried again by themselves."
    )
    expected = {"alert_key": "pictures_unseen", "level": "CRITICAL", "text": text}
    assert [{**row, "is_over": bool(row["is_over"])} for row in opened] == [{**expected, "is_over": False}]
    assert [{**row, "is_over": bool(row["is_over"])} for row in over] == [{**expected, "is_over": True}]


async def test_without_an_outage_nothing_is_fetched_and_nobody_is_called(stall: Stall) -> None:
    async with Gallery.opened() as gallery:
        gallery.status = 404
        await stall.go(*stall.coats(1))
        await stall.door.settle()
        await apply(stall.shop.db, stall.register).run()
        await looked(stall.shop.db, stall.register, AiohttpTransport())

    assert await stall.rows(ALERTS) == []
