"""Pictures of the sandbox's mall, by the real transport."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bobusang.catalog.tables.images import ImageState
from bobusang.kit.db import connect
from bobusang.kit.errors import BobusangError
from bobusang.kit.transport import AiohttpTransport
from bobusang.platform import blobs as stores
from bobusang.sandbox.okmall.addresses import pictures
from bobusang.sandbox.world import World
from bobusang.stages.image.model import Wanted
from bobusang.stages.image.recipe import Recipe
from bobusang.stages.image.service import Picturing
from bobusang.testing.sandbox import running
from tests.integration.image.mall import stock
from tests.integration.image.test_service import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bobusang.kit.http import Answer
    from bobusang.stages.image.model import Request


async def test_the_pictures_of_a_mall_are_told_apart(empty_sqlite: str, tmp_path: Path) -> None:
    """Its garments are plain and much alike: none of them may be taken for a banner."""
    world = World(5, 40)
    db = await connect(empty_sqlite)
    async with running(world) as door:
        host, _, port = door.host_port.partition(":")
        transport = AiohttpTransport(frozenset({(host, int(port))}))

        async def one(request: Request) -> Answer | BobusangError:
            try:
                return await transport.send(request.call)
            except BobusangError as error:
                return error

        async def fetch(requests: Sequence[Request]) -> list[Answer | BobusangError]:
            return list(await asyncio.gather(*map(one, requests)))

        stage = Picturing(db, stores.opened("", folder=tmp_path / "blobs", clock=db.clock), fetch)
        mall = world.mall("okmall")
        numbers = [no for brand in mall.brands for no in world.of_brand("okmall", brand)][:8]
        goods = {no: pictures(door.host_port, mall.product(no)) for no in numbers}
        await stock(db, *goods)
        wanted = [Wanted(id, "okmall", tuple(urls), published=False, referer=door.okmall) for id, urls in goods.items()]
        saved = await run(db, stage, *wanted, recipe=Recipe(side=200))
        async with db.read() as tx:
            shown = await stage.pictures(tx, list(goods), Recipe(side=200))
        stage.close()
        await transport.close()
    await db.close()

    assert {one.product_id: [image.source_url for image in one.images] for one in saved.pictured} == goods
    assert {image.state for one in saved.pictured for image in one.images} == {ImageState.READY}
    assert {id: len(its) for id, its in shown.items()} == {id: len(urls) for id, urls in goods.items()}
