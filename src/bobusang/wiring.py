"""The one place where settings and contracts meet implementations."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from bobusang import migrations
from bobusang.engine.alarms import Thresholds
from bobusang.engine.books import Books
from bobusang.engine.service import Engine
from bobusang.engine.upkeep.alerts import alerts
from bobusang.engine.upkeep.archive import archive
from bobusang.engine.upkeep.clock import clock
from bobusang.engine.upkeep.fire import fire
from bobusang.engine.upkeep.fold import contexts, fold
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.engine.upkeep.promote import promote
from bobusang.engine.upkeep.relay import prune, relay
from bobusang.engine.upkeep.rescue import rescue
from bobusang.engine.upkeep.start import start
from bobusang.engine.upkeep.statistics import statistics
from bobusang.engine.upkeep.sweep import sweep
from bobusang.engine.worker import Pace, Worker
from bobusang.kit import db
from bobusang.kit.errors import Conflict
from bobusang.platform.alerting import Alerting
from bobusang.platform.buses.http import Http
from bobusang.platform.buses.inprocess import InProcess
from bobusang.platform.notifiers.email import EmailNotifier
from bobusang.platform.notifiers.log import LogNotifier
from bobusang.platform.notifiers.many import ManyNotifiers
from bobusang.platform.notifiers.slack import SlackNotifier
from bobusang.platform.relay import Relay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.engine.handlers import Handlers
    from bobusang.platform.notifier import Notifier
    from bobusang.settings import Settings

HANDLERS = "bobusang.handlers"
"""The entry-point group of step handlers: each entry is a function that adds its own to `Handlers`."""


@dataclass(frozen=True, slots=True)
class App:
    """Everything a door needs, put together."""

    settings: Settings
    engine: Engine
    notifier: Notifier
    alerting: Alerting
    relays: tuple[Relay, ...]
    consumers: InProcess

    def worker(self, name: str) -> Worker:
        """A worker for all handlers that are registered."""
        engine = self.engine
        return Worker(engine.db, engine.handlers, engine.books, name=name, pace=engine.pace)

    def keeper(self, *, lead: bool = True) -> Keeper:
        """Upkeep; without `lead` only the duties that every process has."""
        engine = self.engine
        duties = [
            clock(engine),
            fold(engine),
            contexts(engine),
            promote(engine),
            rescue(engine),
            sweep(engine),
            start(engine),
            fire(engine),
            *(relay(outbox, name) for name, outbox in zip(("consumers", "subscribers"), self.relays, strict=True)),
            prune(self.relays[0]),
            statistics(engine),
            alerts(engine, self.alerting, thresholds(self.settings)),
            archive(engine),
        ]
        return Keeper(engine.db, duties, lead=lead, lease=engine.pace.dead_after / 2)


@asynccontextmanager
async def opened(settings: Settings, *, migrate: bool | None = None) -> AsyncIterator[App]:
    """Build the application on its database: the embedded one is brought up to date, any other must be."""
    url = settings.database
    if settings.is_embedded if migrate is None else migrate:
        await migrations.upgrade(url)
    else:
        await _must_be_current(url)
    database = await db.connect(url, pool=settings.database_pool)
    app = build(settings, database)
    try:
        await app.consumers.install(database)
        yield app
    finally:
        for outbox in app.relays:
            await outbox.close()
        await database.close()


async def _must_be_current(url: str) -> None:
    status = await migrations.status(url)
    if not status.is_current:
        raise Conflict(
            f"the database is at revision {status.current or 'none'}, this program needs {status.head}",
            hint="run `bobusang db upgrade`",
        )


def build(settings: Settings, database: db.Database) -> App:
    """Put the parts together on an open database."""
    pace = Pace(
        beat=timedelta(seconds=settings.beat_seconds),
        dead_after=timedelta(seconds=settings.dead_seconds),
        drain=timedelta(seconds=settings.drain_seconds),
    )
    books = Books(payload_limit=settings.payload_limit)
    engine = Engine(database, books=books, pace=pace, keep=timedelta(days=settings.keep_days))
    register(engine.handlers)
    notifier = notifiers(settings)
    consumers = InProcess()
    http = Http(allow_private=settings.subscribers_allow_private)
    # One relay a bus: a slow subscriber must not hold up the consumers in this process.
    relays = (Relay(database, [consumers]), Relay(database, [http]))
    return App(settings, engine, notifier, Alerting(database, notifier), relays, consumers)


def register(handlers: Handlers) -> None:
    """Take in the handlers of all installed packages, ours among them."""
    for entry in sorted(entry_points(group=HANDLERS), key=lambda entry: entry.name):
        entry.load()(handlers)


def notifiers(settings: Settings) -> Notifier:
    """The log always, Slack and mail where they are set."""
    found: list[Notifier] = [LogNotifier()]
    if settings.slack_webhook_url:
        found.append(SlackNotifier(settings.slack_webhook_url))
    if settings.smtp_url:
        found.append(EmailNotifier(settings.smtp_url))
    return ManyNotifiers(found)


def thresholds(settings: Settings) -> Thresholds:
    """When to call a person."""
    return Thresholds(
        failure_rate=settings.alert_failure_rate,
        queue_depth=settings.alert_queue_depth,
        oldest_wait=timedelta(seconds=settings.alert_oldest_wait_seconds),
        retry_rate=settings.alert_retry_rate,
        dead_letters=settings.alert_dead_letters,
    )
