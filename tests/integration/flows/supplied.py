"""What the tests of suppliers hold: a yard with its API behind real HTTP, to which the sandbox's Acme sends."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn

from bobusang.entry.api import create_app
from bobusang.entry.cli.process import listening
from bobusang.sandbox.world import World
from bobusang.testing.yard import Yard

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.testing.sandbox import Door

PATIENCE = 60.0
WAITS = "select count(*) as n from inbound_events where state = 'RECEIVED'"
EVENTS = "select event, state, error from inbound_events order by id"


@dataclass(slots=True)
class Supplied:
    """A yard that webhooks come to."""

    yard: Yard
    url: str

    @property
    def acme(self) -> str:
        """Where Acme sends to."""
        return f"{self.url}/in/acme"

    async def sends(self, **what: Any) -> dict[str, Any]:
        """Let Acme send."""
        return await self.yard.door.acme_sends(self.acme, **what)

    async def read(self) -> None:
        """Wait until nothing waits to be read."""
        async with asyncio.timeout(PATIENCE):
            while (await self.yard.rows(WAITS))[0]["n"]:  # noqa: ASYNC110  (it happens in a database)
                await asyncio.sleep(0.02)

    async def records(self) -> dict[str, dict[str, Any]]:
        """The fields of all that Acme has told of, by key."""
        return await self.yard.records("acme")

    async def versions(self) -> dict[str, int]:
        """How often each was changed."""
        found = await self.yard.rows("select source_id, version from source_records where source_system = 'acme'")
        return {row["source_id"]: row["version"] for row in found}


@asynccontextmanager
async def supplied(
    home: Path, *, door: Door | None = None, world: World | None = None, **said: Any
) -> AsyncIterator[Supplied]:
    """A yard and its API, on a free port; nothing works in it yet."""
    world = world or World(seed=5, size=240, brands=6)
    async with Yard.opened(home, world=None if door else world, door=door, **said) as yard:
        listener = listening("127.0.0.1", 0)
        config = uvicorn.Config(create_app(yard.app), log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield Supplied(yard, f"http://127.0.0.1:{listener.getsockname()[1]}")
        finally:
            server.should_exit = True
            await serving
