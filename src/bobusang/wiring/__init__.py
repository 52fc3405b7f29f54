"""The one place where settings and contracts meet implementations."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path
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
from bobusang.engine.upkeep.relay import CROWD, prune, relay
from bobusang.engine.upkeep.rescue import rescue
from bobusang.engine.upkeep.start import start
from bobusang.engine.upkeep.statistics import statistics
from bobusang.engine.upkeep.study import study
from bobusang.engine.upkeep.sweep import sweep
from bobusang.engine.worker import Pace, Worker
from bobusang.flows.catalogue.duties import forget_replies
from bobusang.flows.collect import register as collect
from bobusang.flows.collect.duties import awaken, prune_raw, share, tidy
from bobusang.flows.conveyor import control, scheduling, telling
from bobusang.flows.conveyor import register as conveyor
from bobusang.flows.conveyor.abandoning import abandon
from bobusang.flows.conveyor.measuring import measure
from bobusang.flows.daily import scheduling as daily
from bobusang.flows.generic import steps as generic
from bobusang.flows.inbound import register as inbound
from bobusang.flows.product_sync import register as product_sync
from bobusang.flows.seller_crawl.grading import grade
from bobusang.flows.seller_crawl.healing import Healing
from bobusang.flows.sheets import register as sheets
from bobusang.flows.sheets.inbox import Inbox
from bobusang.kit import db
from bobusang.kit.errors import Conflict
from bobusang.platform.alerting import Alerting
from bobusang.platform.buses.inprocess import InProcess
from bobusang.platform.notifiers.log import LogNotifier
from bobusang.platform.notifiers.many import ManyNotifiers
from bobusang.platform.relay import Relay
from bobusang.stages.collect import identities
from bobusang.wiring import conveying
from bobusang.wiring.collecting import collector as build_collector
from bobusang.wiring.collecting import enable_sandbox, leave_sandbox
from bobusang.wiring.searching import finder as build_finder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.engine.handlers import Handlers
    from bobusang.flows.collect.collector import Collector
    from bobusang.flows.conveyor.belt import Belt
    from bobusang.kit.clock import Clock
    from bobusang.platform.bus import Bus, Joined, Subscriber
    from bobusang.platform.notifier import Notifier
    from bobusang.platform.subscriptions import Subscription
    from bobusang.settings import Settings
    from bobusang.wiring.searching import Finder

HANDLERS = "bobusang.handlers"
"""The entry-point group of step handlers: each entry is a function that adds its own to `Handlers`."""
LEAST_LEASE = timedelta(seconds=10)
"""Events that a process has taken are its own for so long at least; a batch is done in less."""


class LaterHttp:
    """The bus to subscribers behind HTTP, made with the first of them: most have none, and httpx takes long to load."""

    schemes = frozenset({"http", "https"})

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._made: Bus | None = None

    def open(self, subscription: Subscription) -> Subscriber | Joined | None:
        if self._made is None:
            from bobusang.platform.buses.http import Http

            self._made = Http(allow_private=self._allow_private)
        return self._made.open(subscription)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


@dataclass(frozen=True, slots=True)
class App:
    """Everything a door needs, put together."""

    settings: Settings
    engine: Engine
    notifier: Notifier
    alerting: Alerting
    relays: tuple[Relay, Relay]
    consumers: InProcess
    collector: Collector
    belt: Belt
    finder: Finder

    def worker(self, name: str) -> Worker:
        """A worker for all handlers that are registered; by its name the process is known from now on."""
        engine = self.engine
        self.collector.gate.by = name
        return Worker(engine.db, engine.handlers, engine.books, name=name, pace=engine.pace)

    def keeper(self, *, lead: bool = True) -> Keeper:
        """Upkeep; without `lead` only the duties that every process has."""
        engine, (consumers, subscribers) = self.engine, self.relays
        duties = [
            clock(engine),
            fold(engine),
            contexts(engine),
            promote(engine),
            rescue(engine),
            sweep(engine),
            start(engine),
            fire(engine),
            relay(consumers, "consumers", CROWD),
            relay(subscribers, "subscribers"),
            prune(consumers),
            statistics(engine),
            study(engine),
            alerts(engine, self.alerting, thresholds(self.settings)),
            archive(engine),
            awaken(self.collector),
            share(self.collector),
            tidy(self.collector),
            Inbox(engine, self.collector, Path(self.settings.home)).duty(),
            prune_raw(self.collector, timedelta(days=self.settings.raw_keep_days)),
            inbound.start(engine),
            inbound.forget(engine, timedelta(days=self.settings.raw_keep_days)),
            abandon(engine, timedelta(seconds=self.settings.silent_seconds)),
            telling.settle(engine.db, self.collector),
            measure(engine),
            forget_replies(engine.db),
            *conveying.duties(self.settings, self.belt),
            *self.finder.duties(),
        ]
        return Keeper(engine.db, duties, lead=lead, lease=engine.pace.dead_after / 2)


@asynccontextmanager
async def opened(
    settings: Settings, *, migrate: bool | None = None, fetches: bool = False, clock: Clock | None = None
) -> AsyncIterator[App]:
    """Build the application on its database: the embedded one is brought up to date, any other must be.

    `fetches`: this process will call malls. `clock`: another time than the database's own.
    """
    url = settings.database
    if settings.is_embedded if migrate is None else migrate:
        await migrations.upgrade(url)
    else:
        await _must_be_current(url)
    database = await db.connect(url, clock=clock, pool=settings.database_pool)
    app = build(settings, database)
    try:
        await app.consumers.install(database)
        await prepare(app, fetches=fetches)
        yield app
    finally:
        app.belt.close()
        await app.belt.lookup.model.close()
        await app.finder.close()
        await app.collector.close()
        for outbox in app.relays:
            await outbox.close()
        await database.close()


async def prepare(app: App, *, fetches: bool = False) -> None:
    """What must be there before anything runs: our own workflows, and the leave to collect in the sandbox, or none of
    it any more. A command that only looks leaves that to whoever fetches: it may be working in a sandbox just now."""
    await collect.install(app.engine)
    await sheets.install(app.engine)
    await inbound.install(app.engine)
    await conveying.prepare(app.engine)
    await product_sync.install(app.engine)
    await daily.install(app.engine)
    if app.settings.sandbox_url:
        await enable_sandbox(app.collector)
    elif fetches:
        await leave_sandbox(app.collector)


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
    http = LaterHttp(allow_private=settings.subscribers_allow_private)
    # One relay a bus: a slow subscriber must not hold up the consumers in this process.
    # What a process had taken for its consumers waits when it dies, no longer than its tasks.
    lease = max(LEAST_LEASE, pace.dead_after * 2)
    relays = (Relay(database, [consumers], lease=lease), Relay(database, [http]))
    collector = build_collector(settings, database)
    collect.register(engine.handlers, collector)
    generic.register(engine.handlers, collector)
    sheets.register(engine, collector)
    inbound.register(engine.handlers, collector)
    belt = conveying.belt(settings, collector)
    conveyor.register(engine.handlers, belt)
    product_sync.register(engine, collector, belt.lookup.model)
    scheduling.register(engine.handlers, engine, collector)
    daily.register(engine.handlers, engine, collector)
    engine.hooks.on_step.append(control.on_step)
    engine.hooks.on_death.append(identities.free)
    engine.hooks.on_job += [grade, Healing(engine), control.on_job]
    finder = build_finder(settings, database, belt.market)
    finder.indexer.subscribe(consumers)
    return App(settings, engine, notifier, Alerting(database, notifier), relays, consumers, collector, belt, finder)


def register(handlers: Handlers) -> None:
    """Take in the handlers of all installed packages, ours among them."""
    for entry in sorted(entry_points(group=HANDLERS), key=lambda entry: entry.name):
        entry.load()(handlers)


def notifiers(settings: Settings) -> Notifier:
    """The log always, Slack and mail where they are set."""
    found: list[Notifier] = [LogNotifier()]
    if settings.slack_webhook_url:  # httpx takes a fifth of a second to load
        from bobusang.platform.notifiers.slack import SlackNotifier

        found.append(SlackNotifier(settings.slack_webhook_url))
    if settings.smtp_url:
        from bobusang.platform.notifiers.email import EmailNotifier

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
