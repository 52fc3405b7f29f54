"""Starting a process that stays: it says where it is, where its key is, and how to stop it.

What can be wrong with folder and port is found before anything heavy is imported, so a mistake is answered at once.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import socket
import sys
from typing import TYPE_CHECKING

import msgspec

from bobusang import __version__
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.place import prepare
from bobusang.entry.worker import Roles, Stop, run
from bobusang.kit import cores, log, memory
from bobusang.settings import masked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bobusang.entry.cli.session import Session
    from bobusang.entry.demo.staying import Demo
    from bobusang.settings import Settings
    from bobusang.wiring import App

BACKLOG = 2048
SWITCH_SECONDS = 0.0005
YOUNG = 10_000
"""Objects that are made before garbage is looked for. A page or a product makes thousands and leaves hardly a circle:
at Python's own 700 the looking took 1.2 ms of CPU a product."""
MIDDLE, OLD = 2, 40
"""How often that happens before what has survived is looked through too, and then everything: the same work as by
Python's own ten and ten, in smaller parts. Ten took 26 ms at once, in which nobody was answered; two take half."""


def start(session: Session, settings: Settings, *, api: bool, worker: str | None, upkeep: bool) -> None:
    """Run until stopped."""
    # What is imported and built now stays for good: looking through it for garbage takes a tenth of the start.
    gc.disable()
    # Pages are read in a thread that keeps the interpreter; whoever answers a webhook meanwhile must not wait five
    # milliseconds each time it comes back from a socket or the database.
    sys.setswitchinterval(SWITCH_SECONDS)
    memory.settle()
    prepare(settings)
    listener = listening(settings.host, settings.port) if api else None
    if listener is not None:
        # Port 0 has become a real one: markets are told where our pictures are.
        settings = msgspec.structs.replace(settings, port=listener.getsockname()[1])
    roles = Roles(worker, upkeep, listener)
    try:
        log.configure(settings.log_level, settings.log_format)
        if settings.log_level == "INFO":
            logging.getLogger("alembic").setLevel(logging.WARNING)  # six lines a start that tell nobody anything
        asyncio.run(_run(session, settings, roles))
    except asyncio.CancelledError:
        raise Failure("interrupted", session.words("left at once; what was running is given back")) from None
    finally:
        gc.enable()
        if listener is not None:
            listener.close()


async def _run(session: Session, settings: Settings, roles: Roles) -> None:
    from bobusang.migrations import apart

    # Tables are made while everything else is imported, and not in this process, which would keep 20 MB for it.
    upgrading = await apart.begin(settings.database) if settings.is_embedded else None
    from bobusang.wiring import opened

    if roles.listener is not None:
        import bobusang.entry.api.keys  # noqa: F401
    if upgrading is not None:
        await upgrading.wait()
    demo = await _demo(settings, roles)
    try:
        is_first = True
        while True:
            stop = Stop()
            stop.on_first = lambda: session.note(
                "stopping: what is running is finished first (Ctrl-C again leaves at once)"
            )
            current = settings if demo is None else demo.settings(settings)
            async with opened(current, fetches=True) as app, cores.one(wanted=settings.one_core):
                ready = await _announced(session, app, roles) if is_first else lambda: None
                await run(app, roles, stop, ready, demo)
            if stop.times or demo is None:
                break
            is_first = False  # the screen has asked for the demo: the same program once more, with the sandbox alone
    finally:
        if demo is not None:
            await demo.close()
    session.note("stopped")


async def _demo(settings: Settings, roles: Roles) -> Demo | None:
    """The demo that this program may become, or is since the last time."""
    if roles.listener is None:
        return None
    from bobusang.entry.demo.staying import Demo, possible

    if not possible(settings, all_in_one=roles.worker is not None and roles.upkeep):
        return None
    found = Demo(settings)
    if found.was_left_on:
        await found.begin()
    return found


async def _announced(session: Session, app: App, roles: Roles) -> Callable[[], None]:
    """What says that the program is ready, with the first key and the first link if nobody has one yet."""
    key: Path | None = None
    link: str | None = None
    if roles.listener is not None:
        from bobusang.entry.api.keys import first_key
        from bobusang.entry.people import links

        key = await first_key(app)
        link = await links.first(app.engine.db)
    return lambda: _ready(session, app.settings, roles, key, link)


def _ready(session: Session, settings: Settings, roles: Roles, key: Path | None, link: str | None) -> None:
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    gc.enable()
    memory.give_back()  # starting, and most of all making the tables, has used some megabytes that are not needed again
    url = None if roles.listener is None else address(roles.listener)
    if session.options.machine:
        found = {
            "pid": os.getpid(),
            "url": url,
            "key_file": None if key is None else str(key),
            "welcome": None if link is None else f"{url}/ui/welcome/{link}",
            "worker": roles.worker,
            "upkeep": roles.upkeep,
            "database": masked(settings.database),
            "version": __version__,
        }
        session.screen.document(found)
        return
    session.note("Bobusang {version} is ready", version=__version__)
    session.note("  database  {url}", url=masked(settings.database))
    if url is not None:
        session.note("  screen    {url}", url=f"{url}/ui/welcome/{link} (once, for the first admin)" if link else url)
        session.note("  API       {url} (documentation at {url}/docs)", url=url)
    if key is not None:
        session.note("  API key   in {path}", path=key)
    elif url is not None:
        session.note("  API key   {command} makes one", command="`bobusang key add NAME --role admin`")
    if roles.worker is not None:
        session.note("  worker    {name}", name=roles.worker)
    session.note("Ctrl-C finishes what is running and stops; twice leaves at once.")


def listening(host: str, port: int) -> socket.socket:
    """A socket bound to that address, or a message that says whose mistake it is."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        found = socket.socket(
            family, socket.SOCK_STREAM, socket.IPPROTO_TCP
        )  # named: or asyncio leaves Nagle's delay on
    except OSError as error:
        raise Failure("invalid", f"BOBUSANG_HOST: '{host}' is no address: {error.strerror}", "try 127.0.0.1") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
        found.listen(BACKLOG)
    except OSError as error:
        found.close()
        hint = "check BOBUSANG_HOST and BOBUSANG_PORT"
        if error.errno == errno.EADDRINUSE:
            hint = "is another `bobusang up` running? choose another port with --port, or --port 0 for a free one"
        message = f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}"
        raise Failure("failed", message, hint, exit_code=Exit.FAILED) from error
    found.setblocking(False)
    return found


def address(listener: socket.socket) -> str:
    """Where a browser finds us."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
