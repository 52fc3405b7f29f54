"""The demo inside a program that stays: asked for on the screen, it brings a sandbox along and starts the program anew
with nothing but it; the next `bobusang up` in the same folder goes on with it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bobusang.entry.api.desk import Desk
from bobusang.entry.demo import equipping, places
from bobusang.entry.tables import Role
from bobusang.kit import cores, log
from bobusang.kit.errors import BobusangError, Conflict, Unavailable

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from bobusang.entry.worker import Stop
    from bobusang.settings import Settings
    from bobusang.wiring import App

SIZE = 220
"""Products of each mall: several minutes of something to look at."""
START_SECONDS = 60.0
STOP_SECONDS = 20.0
LOG = "sandbox.log"

_log = log.get("demo")


@dataclass(slots=True)
class Standing:
    """How far the demo is: which step is being done, the first run once there is one, and what went wrong."""

    step: str = ""
    batch_id: str = ""
    error: str = ""

    @property
    def is_busy(self) -> bool:
        return bool(self.step) and not self.batch_id and not self.error


class Demo:
    """The demo of one process that has API, worker and upkeep on the embedded database: whoever has more than that
    has a real shop, and other processes that would go on calling real malls."""

    def __init__(self, settings: Settings) -> None:
        self._home = Path(settings.home)
        self._port = settings.port
        self._sandbox: Process | None = None
        self._app: App | None = None
        self._stop: Stop | None = None
        self._equipping: asyncio.Task[None] | None = None
        self._by = ""
        self.standing = Standing()

    @property
    def is_on(self) -> bool:
        """Whether the sandbox runs, and we with it."""
        return self._sandbox is not None and self._sandbox.returncode is None

    @property
    def was_left_on(self) -> bool:
        """Whether the folder is the demo's."""
        known = places.stored(self._home)
        return known is not None and known.stays

    async def load(self, by: str, size: int = SIZE) -> None:
        """Bring the sandbox up and start the program anew with it; returns before that."""
        if self._stop is None:
            raise Conflict("the program is not ready yet", hint="try again in a moment")
        if self.standing.is_busy:
            raise Conflict("the demo is being loaded already", hint="it takes some seconds")
        self._by = by
        if self.is_on and self._app is not None:
            self._equipping = asyncio.create_task(self._equip(self._app))
            return
        self.standing = Standing("sandbox")
        try:
            await self.begin(size)
        except BobusangError as error:
            self.standing = Standing(error=str(error))
            raise
        self._stop.asked.set()

    async def begin(self, size: int = SIZE) -> None:
        """Start the sandbox, on the port that it had the last time."""
        known = places.stored(self._home)
        if known is None:
            known = places.Places(places.free_ports(1)[0], self._port, size)
        at = places.store(self._home, replace(known, api=self._port, stays=True))
        with (self._home / LOG).open("ab") as out, cores.everywhere():
            child = await asyncio.create_subprocess_exec(
                *places.sandbox_line(self._home, at),
                env=places.plain_environment(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=out,
                start_new_session=True,
            )
        assert child.stdout is not None
        self._sandbox = child
        try:
            async with asyncio.timeout(START_SECONDS):
                ready = await child.stdout.readline()
        except TimeoutError:
            ready = b""
        if not ready:
            await self.close()
            raise Unavailable("the demo's sandbox did not start", hint=f"{self._home / LOG} tells why")

    def settings(self, settings: Settings) -> Settings:
        """The same program, with nothing but the sandbox to call."""
        at = places.stored(self._home) if self.is_on else None
        return settings if at is None else msgspec.structs.replace(settings, sandbox_url=at.sandbox_url)

    def serve(self, app: App, stop: Stop) -> None:
        """The program is ready: equip it if it is to be the demo, and hear from the screen."""
        self._app, self._stop = app, stop
        if self.is_on:
            self._equipping = asyncio.create_task(self._equip(app))

    async def leave(self) -> None:
        """The program ends, or is started anew."""
        self._app = self._stop = None
        if self._equipping is not None:
            self._equipping.cancel()
            with suppress(asyncio.CancelledError):
                await self._equipping

    async def close(self) -> None:
        """End the sandbox, gently."""
        child, self._sandbox = self._sandbox, None
        if child is None or child.returncode is not None:
            return
        child.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await child.wait()
        except TimeoutError:
            child.kill()
            await child.wait()

    async def _equip(self, app: App) -> None:
        def told(step: str) -> None:
            self.standing = Standing(step)

        try:
            self.standing = Standing("run", await equipping.equip(Desk(app, self._by or "demo", Role.ADMIN), told))
        except BobusangError as error:
            _log.warning("the demo could not be equipped", error=str(error))
            self.standing = Standing(error=str(error))


def possible(settings: Settings, *, all_in_one: bool) -> bool:
    """Whether a program may become the demo: alone on its own database, and not told which sandbox to call."""
    return all_in_one and settings.is_embedded and not settings.sandbox_url
