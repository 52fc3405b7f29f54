"""The conveyor, put together: market, model, pictures and prices, for the real market or for the sandbox alone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.connectors.markets.buyma.market import PRODUCTION, Buyma
from bobusang.flows.conveyor import register as conveyor
from bobusang.flows.conveyor import scheduling, unseen
from bobusang.flows.conveyor.belt import Belt
from bobusang.flows.conveyor.door import Door
from bobusang.flows.conveyor.lookup import Lookup
from bobusang.flows.market import alarms, closing, exchange, inbox, reopening, resending, showing
from bobusang.flows.market_upkeep import duties as market_upkeep
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement
from bobusang.platform import models, secrets
from bobusang.platform.blob import address_of
from bobusang.stages.convert import forbidden, gates
from bobusang.stages.image.decoding import JPEG
from bobusang.stages.image.recipe import DOOR, public_url
from bobusang.stages.image.service import Picturing
from bobusang.stages.price import ratebook
from bobusang.stages.price.service import Pricing
from bobusang.stages.register.service import Register

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.engine.service import Engine
    from bobusang.engine.upkeep.duty import Duty
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.platform.blob import Blobs
    from bobusang.settings import Settings
    from bobusang.stages.convert.forbidden import Forbidden

SANDBOX_SECRETS = {"sandbox:token": "sandbox-token", "sandbox:secret": "sandbox-client-secret"}
"""Known to everybody, and good for nothing but the sandbox."""
SANDBOX_RATE = "/fx/latest.json"
ANY_RATES = Statement("select id from market_fees limit 1")


def belt(settings: Settings, collector: Collector) -> Belt:
    """Everything that the conveyor needs, on an open database; nothing is reached yet."""
    database = collector.db
    market = Buyma(collector.transport, market_url(settings))
    model = models.opened(
        settings.model,
        key=settings.model_key or None,
        url=settings.model_url or None,
        price=settings.model_price or None,
        clock=database.clock,
    )
    return Belt(
        db=database,
        collector=collector,
        lookup=Lookup(model),
        picturing=Picturing(database, collector.blobs, Door(collector)),
        pricing=Pricing(),
        register=Register(market, database.clock, secret_of(settings), timedelta(seconds=settings.call_seconds)),
        public=public_of(settings, collector.blobs),
        gate=gates.buyma(forbidden_by(settings)),
        unknown_color=settings.unknown_color or None,
    )


def public_of(settings: Settings, blobs: Blobs) -> str:
    """Where markets fetch our pictures; an address that can be none of them is said now, not by the first listing."""
    base = settings.public_url or f"http://{settings.host}:{settings.port}{DOOR}"
    address = address_of(b"")
    try:
        public_url(base, address, JPEG, blobs.path(address))
    except Invalid as error:
        raise Invalid(f"BOBUSANG_PUBLIC_URL: {error.message}", hint=error.hint, field="public_url") from error
    return base


def forbidden_by(settings: Settings) -> tuple[Forbidden, ...]:
    """The operator's list of what may not be said, sold or bought from."""
    if not settings.forbidden:
        return ()
    try:
        return forbidden.read(Path(settings.forbidden).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        hint = "a CSV file: kind,term,since,until,market,language,replacement,evidence"
        raise Invalid(f"BOBUSANG_FORBIDDEN: {settings.forbidden}: {error}", hint=hint, field="forbidden") from error


def market_url(settings: Settings) -> str:
    """Where the market is. With a sandbox nothing else is ever called."""
    if settings.sandbox_url:
        return f"{settings.sandbox_url.rstrip('/')}/buyma"
    return settings.market_url.rstrip("/") or PRODUCTION


def secret_of(settings: Settings) -> Callable[[str], str]:
    """How secrets are found; the sandbox's own only where there is one."""
    if not settings.sandbox_url:
        return secrets.secret
    return lambda ref: SANDBOX_SECRETS.get(ref) or secrets.secret(ref)


def duties(settings: Settings, belt: Belt) -> list[Duty]:
    """What runs by itself for the market."""
    database, transport = belt.db, belt.collector.transport
    found = [
        inbox.apply(database, belt.register),
        resending.resend(database, belt.register),
        closing.close(database, belt.register),
        reopening.close_again(database, belt.register),
        unseen.watch(belt),
        alarms.watch(database, belt.register),
        *market_upkeep.duties(database, belt.collector.blobs),
    ]
    if not settings.sandbox_url:  # whose market is as near as we are, and with which nothing else is ever called
        found.append(showing.show(database, belt.register, transport))
    place = settings.fx_url or (settings.sandbox_url.rstrip("/") + SANDBOX_RATE if settings.sandbox_url else "")
    return [*found, exchange.exchange(database, transport, place, settings.fx_spread)] if place else found


async def prepare(engine: Engine) -> None:
    """What must be there before anything runs: workflows, schedules, and the rates that come with the program."""
    await conveyor.install(engine)
    await scheduling.install(engine)

    async def install(tx: Tx) -> None:
        if not await tx.fetch(ANY_RATES):
            await ratebook.install(tx)

    await engine.db.transact(install)
