"""What the tests of the API hold: an application on a real database, and callers of every role."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Done, Fail, Outcome, Park, Snooze, Wait
from bobusang.entry.api import create_app, keys
from bobusang.entry.tables import Role
from bobusang.kit.db import connect
from bobusang.settings import Settings
from bobusang.wiring import App, build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
    from pathlib import Path

    from fastapi import FastAPI

    from bobusang.engine.handlers import Handlers
    from bobusang.engine.model import Task
    from bobusang.engine.upkeep.keeper import Keeper
    from bobusang.engine.worker import Worker

PATIENCE = 60.0


async def until(ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]) -> Any:
    """Ask again and again, for a bounded time; the answer for which it holds."""
    async with asyncio.timeout(PATIENCE):
        while not holds(answer := await ask()):  # noqa: ASYNC110  (what is waited for happens in a database)
            await asyncio.sleep(0.01)
    return answer


def by_word(task: Task) -> Outcome:
    """The input says what is to become of a task."""
    word = task.input.get("do", "done") if isinstance(task.input, dict) else "done"
    match word:
        case "park":
            return Park(ReasonClass.INVALID, f"cannot read page {task.id}")
        case "fail":
            return Fail("no such page")
        case "wait":
            return Wait("order 7", task.run.input["until"])
        case "snooze":
            return Snooze(task.run.input["until"], "429 Too Many Requests")
    return Done({"seen": task.input})


def register(handlers: Handlers) -> None:
    """The handlers of these tests."""

    @handlers.handles("echo", batch=10)
    async def echo(batch: Sequence[Task]) -> list[Outcome]:
        return [by_word(task) for task in batch]

    @handlers.handles("strict", required=frozenset({"url"}), optional=frozenset({"page"}))
    async def strict(batch: Sequence[Task]) -> list[Outcome]:
        return [Done() for _ in batch]


@dataclass(slots=True)
class Door:
    """An API and its callers."""

    app: App
    api: FastAPI
    keys: dict[Role, str] = field(default_factory=dict)
    clients: dict[Role | None, httpx.AsyncClient] = field(default_factory=dict)

    @property
    def viewer(self) -> httpx.AsyncClient:
        return self.clients[Role.VIEWER]

    @property
    def operator(self) -> httpx.AsyncClient:
        return self.clients[Role.OPERATOR]

    @property
    def admin(self) -> httpx.AsyncClient:
        return self.clients[Role.ADMIN]

    @property
    def stranger(self) -> httpx.AsyncClient:
        return self.clients[None]

    async def workflow(self, name: str = "shop", *, handler: str = "echo", **said: Any) -> int:
        """Store a workflow; its id."""
        body = {"workflow": name, "steps": [{"name": "work", "type": "FETCH", "handler": handler}]} | said
        answer = await self.admin.post("/workflows", json=body)
        assert answer.status_code in (200, 201), answer.text
        found: int = answer.json()["id"]
        return found

    async def job(self, workflow: str | int = "shop", **said: Any) -> int:
        """Make a job; its id."""
        answer = await self.operator.post("/jobs", json={"workflow": workflow, **said})
        assert answer.status_code == 201, answer.text
        found: int = answer.json()["id"]
        return found

    async def ended(self, job_id: int) -> dict[str, Any]:
        """Wait until a job is over; how it then looks."""
        found: dict[str, Any] = await until(
            lambda: self.get(f"/jobs/{job_id}"), lambda job: job["completed_at"] is not None
        )
        return found

    async def get(self, path: str, **query: Any) -> Any:
        """What a viewer sees."""
        answer = await self.viewer.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """A worker and upkeep, until the block ends."""
        parts: list[Worker | Keeper] = [self.app.worker("tester"), self.app.keeper()]
        running = [asyncio.create_task(part.run()) for part in parts]
        try:
            yield
        finally:
            for part in parts:
                part.stop()
            await asyncio.gather(*running)


def settings(url: str, home: Path, **said: Any) -> Settings:
    """Quick beats, so that tests need not wait; nobody dies here, so that a server that stands still for some seconds
    beside other tests makes nobody believe it."""
    return Settings(home=str(home), database_url=url, beat_seconds=0.5, dead_seconds=15.0, drain_seconds=5.0, **said)


@asynccontextmanager
async def opened(url: str, home: Path, **said: Any) -> AsyncIterator[Door]:
    """An API on a migrated database, with a key for each role."""
    database = await connect(url)
    try:
        app = build(settings(url, home, **said), database)
        register(app.engine.handlers)
        door = Door(app, create_app(app))
        for role in Role:
            made = await database.transact(lambda tx, role=role: keys.make(tx, f"the {role}", role))  # type: ignore[misc]
            door.keys[role] = made.key
        for caller in (*Role, None):
            headers = {} if caller is None else {"authorization": f"Bearer {door.keys[caller]}"}
            transport = httpx.ASGITransport(door.api)
            door.clients[caller] = httpx.AsyncClient(transport=transport, base_url="http://door", headers=headers)
        yield door
        for client in door.clients.values():
            await client.aclose()
        await app.finder.close()
    finally:
        await database.close()
