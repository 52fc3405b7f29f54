"""An API over a running sandbox: its malls are enabled, and nothing else is called."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running
from bobusang.wiring import prepare
from tests.integration.api.door import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.testing.sandbox import Door as Sandbox
    from tests.integration.api.door import Door

SIZE = 60


@dataclass(frozen=True, slots=True)
class Shopfront:
    """The API, and the malls it collects from."""

    door: Door
    sandbox: Sandbox

    async def brand(self, least: int = 1) -> str:
        """A brand of OKmall with at least so many products, as its index names it."""
        brands = (await self.sandbox.world())["malls"]["okmall"]
        found: str = min((count, name) for name, count in brands.items() if count >= least)[1]
        return found

    async def started(self, body: dict[str, Any]) -> int:
        """Start collecting one target; its job."""
        answer = await self.door.operator.post("/collect", json=body)
        assert answer.status_code == 201, answer.text
        (one,) = answer.json()["items"]
        found: int = one["job_id"]
        return found


@asynccontextmanager
async def trading(url: str, home: Path, *, size: int = SIZE, **options: Any) -> AsyncIterator[Shopfront]:
    """An API whose sources are those of a sandbox in this process; `options` are the sandbox's."""
    async with (
        running(World(seed=1, size=size), **options) as sandbox,
        opened(url, home, sandbox_url=sandbox.url) as door,
    ):
        await prepare(door.app)
        try:
            yield Shopfront(door, sandbox)
        finally:
            await door.app.collector.close()
