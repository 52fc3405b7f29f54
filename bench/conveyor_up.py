"""`bobusang up`, with a note at its end of how much CPU time each handler, duty and door took."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.stage_time import StageTime
from bobusang import wiring
from bobusang.engine.worker import Worker
from bobusang.entry import worker as process
from bobusang.entry.cli import main as command
from bobusang.kit import json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.engine.upkeep.keeper import Keeper
    from bobusang.kit.db import Database
    from bobusang.settings import Settings
    from bobusang.wiring import App

ENGINE, DOOR, UPKEEP = "engine", "API", "upkeep"


def watch(meter: StageTime) -> None:
    """Put labels on what an application is made of, before one is made."""
    build, keeper, create, run = wiring.build, wiring.App.keeper, process._asgi, Worker.run

    def built(settings: Settings, database: Database) -> App:
        app = build(settings, database)
        meter.install(asyncio.get_running_loop())
        handlers = app.engine.handlers
        for one in handlers:
            save = None if one.save is None else labelled(meter, one.name, one.save)
            handlers._by_name[one.name] = replace(one, work=labelled(meter, one.name, one.work), save=save)
        return app

    def kept(app: App, **how: Any) -> Keeper:
        found = keeper(app, **how)
        found._duties = [replace(one, run=labelled(meter, f"{UPKEEP}: {one.name}", one.run)) for one in found._duties]
        return found

    def opened(app: App, *more: Any) -> Any:
        made = create(app, *more)

        async def door(scope: Any, receive: Any, send: Any) -> None:
            with meter.named(f"{DOOR}: /{str(scope.get('path', '')).strip('/').partition('/')[0]}"):
                await made(scope, receive, send)

        return door

    wiring.build = built
    setattr(wiring.App, "keeper", kept)  # noqa: B010
    setattr(process, "_asgi", opened)  # noqa: B010
    setattr(Worker, "run", labelled(meter, ENGINE, run))  # noqa: B010


def labelled(meter: StageTime, name: str, work: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(work)
    async def named(*given: Any) -> Any:
        with meter.named(name):
            return await work(*given)

    return named


def main(arguments: list[str]) -> int:
    """The first argument is the file that is told, the others are those of the command."""
    meter = StageTime()
    watch(meter)
    try:
        return command(arguments[1:])
    finally:
        rows = [[*names, seconds] for names, seconds in meter.total().items()]
        told = Path(arguments[0])
        told.parent.mkdir(exist_ok=True)
        told.write_text(json.dumps(rows), "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
