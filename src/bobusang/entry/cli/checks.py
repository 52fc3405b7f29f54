"""What the doctor looks at. Nothing here changes anything, and one check that cannot be made does not stop the rest."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bobusang.entry.cli.failure import Failure, failed
from bobusang.entry.cli.place import database_file, origins, quietly
from bobusang.kit.errors import BobusangError
from bobusang.settings import Settings, masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bobusang.entry.cli.session import Session
    from bobusang.entry.cli.words import Words

OLDEST_PYTHON = (3, 11)
LEAST_SPACE = 1 << 30
CLOCK_SECONDS = 2.0
"""Workers agree by the database's clock; beyond this a person reading two logs is misled."""


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    detail: str
    advice: str = ""

    def document(self, words: Words) -> dict[str, str]:
        return {"check": words(self.name), "state": self.state, "detail": self.detail, "advice": words(self.advice)}


def examined(session: Session) -> list[Check]:
    """All checks that can be made from here."""
    if session.options.url is not None:
        return [_python(), *_remote(session)]
    found = [_python()]
    try:
        settings = session.settings()
    except BobusangError as error:
        return [*found, Check("settings", State.BROKEN, error.message, error.hint)]
    quietly(settings)
    found += [Check("settings", State.OK, "all understood"), _folder(settings), _space(settings)]
    database = _tried("database", lambda: _database(settings))
    found.append(database)
    if database.state is State.OK:
        found.append(_tried("clock", lambda: _clock(settings)))
        found += _service(session, settings)
    return found


def known_settings(session: Session) -> list[dict[str, Any]]:
    """Every setting with its value, secrets masked, and where it came from."""
    try:
        settings = session.settings()
    except BobusangError:
        return []
    came = origins(session.options)
    return [
        {"name": name, "value": value, "origin": came.get(name, "default")} for name, value in settings.shown().items()
    ]


def _tried(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (BobusangError, Failure) as error:
        failure = failed(error) if isinstance(error, BobusangError) else error
        return Check(name, State.BROKEN, failure.message, failure.hint)


def _python() -> Check:
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < OLDEST_PYTHON:
        return Check("Python", State.BROKEN, version, "install Python 3.11 or newer")
    return Check("Python", State.OK, version)


def _folder(settings: Settings) -> Check:
    home = Path(settings.home).absolute()
    nearest = next(path for path in (home, *home.parents) if path.exists())
    if not nearest.is_dir():
        return Check("folder", State.BROKEN, f"{nearest} is no folder", "choose another with --home or BOBUSANG_HOME")
    if not os.access(nearest, os.W_OK | os.X_OK):
        return Check("folder", State.BROKEN, f"{nearest} cannot be written", "change its rights, or choose another")
    return Check("folder", State.OK, f"{home} can be written" if home == nearest else f"{home} can be made")


def _space(settings: Settings) -> Check:
    home = Path(settings.home).absolute()
    free = shutil.disk_usage(next(path for path in (home, *home.parents) if path.exists())).free
    said = f"{free / (1 << 30):,.1f} GB free"
    if free < LEAST_SPACE:
        return Check("disk", State.WARNING, said, "free some space: a full disk stops all work")
    return Check("disk", State.OK, said)


def _database(settings: Settings) -> Check:
    from bobusang import migrations

    where, path = masked(settings.database), database_file(settings)
    if path is not None and not path.exists():
        return Check("database", State.WARNING, f"{where} is not there yet", "start with `bobusang up`")
    status = asyncio.run(migrations.status(settings.database))
    if not status.is_current:
        said = f"{where} is at {status.current or 'no revision'}, this program needs {status.head}"
        return Check("database", State.BROKEN, said, "run `bobusang db upgrade`")
    return Check("database", State.OK, f"{where} is at {status.current}")


def _clock(settings: Settings) -> Check:
    from bobusang.kit.db import connect

    async def difference() -> float:
        database = await connect(settings.database, pool=2)
        try:
            return (database.clock.now() - datetime.now(UTC)).total_seconds()
        finally:
            await database.close()

    apart = round(asyncio.run(difference()), 2) or 0.0  # no -0.00
    said = f"{apart:+.2f} s from the database"
    if abs(apart) > CLOCK_SECONDS:
        return Check("clock", State.WARNING, said, "set this machine's clock, by NTP for instance")
    return Check("clock", State.OK, said)


def _remote(session: Session) -> Iterator[Check]:
    yield (health := _tried("API", lambda: _answers(session)))
    if health.state is not State.BROKEN:
        yield from _service(session)


def _answers(session: Session) -> Check:
    found = session.api.get("/health")
    said = f"{session.options.url} runs {found['version']}"
    return Check("API", State.OK, said)


def _service(session: Session, settings: Settings | None = None) -> Iterator[Check]:
    """What only the running program knows."""
    yield _tried("workers", lambda: _workers(session, settings))
    yield _tried("leader", lambda: _leader(session))
    yield _tried("alerts", lambda: _alerts(session))


def _workers(session: Session, settings: Settings | None) -> Check:
    alive = [worker for worker in session.api.get("/workers")["items"] if worker["is_alive"]]
    if not alive:
        return Check("workers", State.WARNING, "none is running", "start `bobusang up` or `bobusang worker`")
    if len(alive) > 1 and settings is not None and not settings.limiter_url:
        said = f"{len(alive)} alive share no limiter: sources with identities wait"
        return Check("workers", State.WARNING, said, "set BOBUSANG_LIMITER_URL for all workers, or run only one")
    return Check("workers", State.OK, f"{len(alive)} alive: {', '.join(worker['name'] for worker in alive[:5])}")


def _leader(session: Session) -> Check:
    leader = session.api.get("/health")["leader"]
    if leader is None or not leader["is_held"]:
        advice = "start `bobusang up` or `bobusang scheduler`"
        return Check("leader", State.WARNING, "nobody leads upkeep: schedules do not fire", advice)
    return Check("leader", State.OK, f"term {leader['term']}")


def _alerts(session: Session) -> Check:
    found = session.api.get("/alerts")["items"]
    if found:
        return Check("alerts", State.WARNING, f"{len(found)} open: {found[0]['title']}", "see `bobusang alerts`")
    return Check("alerts", State.OK, "none is open")
