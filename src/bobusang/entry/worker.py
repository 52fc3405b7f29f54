"""Runs worker, upkeep and API in one process: starts them, keeps them going, and drains them when asked to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from bobusang.kit import log

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

    from fastapi import FastAPI, Request, Response
    from starlette.types import ASGIApp

    from bobusang.entry.demo.staying import Demo
    from bobusang.wiring import App

AGAIN_SECONDS = 1.0
"""How long to wait before a part that ended by itself is started anew."""
CANCEL_SECONDS = 1.0
"""How long a cancelled part may take before it is cancelled once more."""
LEAVE_SECONDS = 5.0
"""How long a second Ctrl-C leaves at most for giving claims back; a third does not."""
CLOSE_SECONDS = 5
"""How long open requests may take when the API closes."""
LARGEST_MESSAGE = 8 * 1024
"""Of what a page says to us by its live channel, in bytes: which topics are on it."""
INTERRUPTED = 130

_log = log.get("process")


@dataclass(frozen=True, slots=True)
class Roles:
    """What this process does."""

    worker: str | None = None
    """The worker's name; None: no worker."""
    upkeep: bool = True
    """Whether it may lead upkeep; what every process owes to its own work it does anyway."""
    listener: socket.socket | None = None
    """Where the API listens; None: no API."""


@dataclass(slots=True)
class Stop:
    """Asked to stop: once drains, twice leaves at once, and gives up waiting soon after."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    times: int = 0
    on_first: Callable[[], None] | None = None

    @contextmanager
    def listening(self, main: asyncio.Task[Any]) -> Iterator[None]:
        """Hear Ctrl-C and SIGTERM; not by the loop alone, because a handler may keep the loop busy."""
        loop = asyncio.get_running_loop()

        def hear(_signal: int, _frame: FrameType | None) -> None:
            self.times += 1
            if self.times == 1:
                loop.call_soon_threadsafe(self._first)
            elif self.times == 2:
                loop.call_soon_threadsafe(main.cancel)
                timer = threading.Timer(LEAVE_SECONDS, os._exit, (INTERRUPTED,))
                timer.daemon = True
                timer.start()
            else:
                os._exit(INTERRUPTED)

        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _first(self) -> None:
        self.asked.set()
        if self.on_first is not None:
            self.on_first()


async def run(app: App, roles: Roles, stop: Stop, ready: Callable[[], None], demo: Demo | None = None) -> None:
    """Run until asked to stop, then drain: the API closes, the worker finishes, upkeep counts what it finished.

    With a `demo` somebody before the screen may ask for it; it then asks us to stop, to be started anew with it.
    """
    main = asyncio.current_task()
    assert main is not None
    with stop.listening(main):
        keeper = Part("upkeep", lambda: app.keeper(lead=roles.upkeep))
        parts = [keeper]
        if roles.worker is not None:
            name = roles.worker
            parts.insert(0, Part("worker", lambda: app.worker(name)))
        server = None if roles.listener is None else Api(_asgi(app, demo), roles.listener)
        try:
            for part in parts:
                part.start()
            if server is not None:
                await server.start()
            ready()
            if demo is not None:
                demo.serve(app, stop)
            await _until(stop.asked, server)
            if demo is not None:
                await demo.leave()
            for part in parts[:-1]:
                await part.stop()
            if server is not None:
                await server.stop()
            await keeper.stop()
        finally:
            await asyncio.gather(*(part.leave() for part in parts))
            if server is not None:
                await server.leave()


def _asgi(app: App, demo: Demo | None) -> FastAPI:
    from starlette.responses import RedirectResponse
    from starlette.routing import Mount, Route

    from bobusang.entry.api import create_app
    from bobusang.entry.later import Later

    async def front(_: Request) -> Response:
        return RedirectResponse("/ui/")

    def screen() -> ASGIApp:
        from bobusang.entry.web import opened

        site = opened(app)
        site.demo = demo
        return site.asgi()

    api = create_app(app)
    # Before the API's routes, each of which would be tried for every page.
    api.router.routes[:0] = [Mount("/ui", Later(screen)), Route("/", front)]
    return api


async def _until(asked: asyncio.Event, server: Api | None) -> None:
    """Wait until asked to stop; an API that dies takes the process with it, so that whoever watches it knows."""
    waiting = asyncio.create_task(asked.wait())
    try:
        watched: list[asyncio.Task[Any]] = [waiting]
        if server is not None and server.task is not None:
            watched.append(server.task)
        done, _ = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        waiting.cancel()


class Runs(Protocol):
    """A worker or a keeper."""

    async def run(self) -> None:
        """Work until stopped."""

    def stop(self) -> None:
        """Finish what was begun and end."""


class Part:
    """A worker or a keeper, made anew when it ends by itself: after a suspended night, or a database that was away."""

    def __init__(self, name: str, make: Callable[[], Runs], *, again: float = AGAIN_SECONDS) -> None:
        self._name = name
        self._make = make
        self._again = again
        self._running: Runs | None = None
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def _run(self) -> None:
        while not self._stopping.is_set():
            self._running = self._make()
            try:
                await self._running.run()
            except asyncio.CancelledError:
                if self._task is not None and self._task.cancelling():
                    raise  # we leave; otherwise it was one of its own tasks that was cancelled, by a fence for instance
            except Exception as error:
                _log.error("part failed", part=self._name, error=repr(error))
            if not self._stopping.is_set():
                _log.warning("part ended and is started again", part=self._name)
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._again):
                        await self._stopping.wait()

    async def stop(self) -> None:
        """Let it finish what it has begun."""
        self._stopping.set()
        if self._running is not None:
            self._running.stop()
        if self._task is not None:
            await self._task

    async def leave(self) -> None:
        """Whatever it is doing, it ends now."""
        self._stopping.set()
        if self._running is not None:
            self._running.stop()  # somebody's code inside may swallow a cancellation; its loop must know too
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CANCEL_SECONDS)


class Api:
    """The HTTP server on a socket that is already ours, so a port in use is found before anything is begun."""

    def __init__(self, api: FastAPI, listener: socket.socket) -> None:
        import uvicorn

        class Server(uvicorn.Server):
            def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
                return nullcontext()  # signals are ours: they drain the worker too

        config = uvicorn.Config(
            api,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,  # its memory is a hundred times that of the page that is looked at
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
        self._server = Server(config)
        self._listener = listener.dup()  # uvicorn closes what it is given, and we may be started anew on the same
        self.task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        task = self.task = asyncio.create_task(self._server.serve(sockets=[self._listener]), name="api")
        while not self._server.started:
            if task.done():
                task.result()
                raise RuntimeError("the API ended before it had begun")
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        self._server.should_exit = True
        if self.task is not None:
            await self.task

    async def leave(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        if self.task is not None:
            self.task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self.task
