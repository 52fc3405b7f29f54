"""The API of a stocked shop, held to its OpenAPI document by Schemathesis over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.keeper import Keeper
from bobusang.entry.tables import Role
from tests.integration.api.goods import crawled, told
from tests.integration.api.serving import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront

ROOT = Path(__file__).parents[3]
CONFIG = Path(__file__).parent / "schemathesis.toml"


async def stocked(front: Shopfront) -> Door:
    """A shop with something of most kinds in it, so that not every answer is 404. The malls are the sandbox's."""
    door = front.door
    await told(door)
    await told(door, product_id="4712", name="아디다스 트랙탑", brand="ADIDAS")
    await crawled(door, "9001")
    await door.operator.post("/sellers", json={"mall": "mustit", "seller_id": "luxboy"})
    await door.workflow("shop")
    await door.job()
    await door.app.finder.rebuilding.heal()
    return door


@asynccontextmanager
async def led(door: Door) -> AsyncIterator[None]:
    """Somebody does the rebuilds that are asked for, so that who waits for one does not wait in vain."""
    keeper = Keeper(door.app.engine.db, door.app.finder.duties())
    task = asyncio.create_task(keeper.run())
    try:
        yield
    finally:
        keeper.stop()
        await task


async def held_to_it(door: Door, *options: str, seed: int = 1) -> str:
    """Run it against the API; what it says when something is wrong."""
    door.api.openapi()  # made once; it takes long enough to be given up on a busy machine
    async with served(door.api, door.keys[Role.ADMIN]) as client, led(door):
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG), "run"]
        address = str(client.base_url.join("/openapi.json"))
        key = f"Authorization: Bearer {door.keys[Role.ADMIN]}"
        given = ["--header", key, "--seed", str(seed), "--no-shrink", "--continue-on-failure", "--warnings", "off"]
        process = await asyncio.create_subprocess_exec(
            *(*command, address, *given, *options),
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
    return said.decode() if process.returncode else ""
