"""What we depend on, and whether it answers: asked when a person wants to know, never by itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang import migrations
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.http import Call
from bobusang.platform.limiter import Limit
from bobusang.platform.notifier import Level, Notice
from bobusang.platform.notifiers.email import EmailNotifier, parsed
from bobusang.platform.notifiers.slack import SlackNotifier
from bobusang.settings import masked
from bobusang.wiring.conveying import market_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.platform.notifier import Notifier
    from bobusang.settings import Settings
    from bobusang.wiring import App

PATIENCE = timedelta(seconds=10)
TRIAL = Limit(1000, timedelta(minutes=1), burst=100)
"""So many tests of the limiter a minute."""
LARGEST_ANSWER = 1 << 20


class Part(StrEnum):
    """What can be tested."""

    DATABASE = "database"
    BLOBS = "blobs"
    SEARCH = "search"
    CACHE = "cache"
    LIMITER = "limiter"
    MARKET = "market"
    SLACK = "slack"
    MAIL = "mail"


@dataclass(frozen=True, slots=True)
class Connection:
    """One of them; `place` is where it is, without secrets, empty for one that is in this process or not set."""

    part: Part
    place: str = ""
    account: str = ""
    is_set: bool = True


@dataclass(frozen=True, slots=True)
class Answered:
    """It answers; `detail` is a number or a word worth knowing: a revision, a count, a status."""

    part: Part
    seconds: float
    detail: str = ""


def known(settings: Settings, accounts: Iterable[tuple[str, str]]) -> list[Connection]:
    """All that this program is set up with; accounts by market and name."""
    market = market_url(settings)
    return [
        Connection(Part.DATABASE, masked(settings.database)),
        Connection(Part.BLOBS, masked(settings.blob_url) or f"{settings.home}/blobs"),
        Connection(Part.SEARCH, masked(settings.search_url) or f"{settings.home}/search"),
        Connection(Part.CACHE, masked(settings.cache_url)),
        Connection(Part.LIMITER, masked(settings.limiter_url)),
        *(Connection(Part.MARKET, market, "/".join(account)) for account in accounts),
        Connection(Part.SLACK, "***" if settings.slack_webhook_url else "", is_set=bool(settings.slack_webhook_url)),
        Connection(Part.MAIL, _mail(settings), is_set=bool(settings.smtp_url)),
    ]


async def tried(app: App, part: Part, *, token_ref: str = "", by: str = "") -> Answered:
    """Ask it; raise what is wrong. A test of a channel for alerts sends a message."""
    began = time.monotonic()
    settings, detail = app.settings, ""
    match part:
        case Part.DATABASE:
            status = await migrations.status(settings.database)
            if not status.is_current:
                raise Conflict(
                    f"the database is at revision {status.current or 'none'}, this program needs {status.head}",
                    hint="run `bobusang db upgrade`",
                )
            detail = str(status.current)
        case Part.BLOBS:
            await app.collector.blobs.check()
        case Part.SEARCH:
            await app.finder.index.check()
            detail = f"{await app.finder.index.count():,}"
        case Part.CACHE:
            await app.finder.caching.check()
        case Part.LIMITER:
            await app.collector.limiter.take("connection-test", TRIAL)
        case Part.MARKET:
            app.belt.register.secret(token_ref)
            call = Call(market_url(settings), timeout=PATIENCE, most=LARGEST_ANSWER, redirects=0)
            detail = str((await app.collector.transport.send(call)).status)
        case Part.SLACK | Part.MAIL:
            await _channel(settings, part).send(_notice(by))
    return Answered(part, time.monotonic() - began, detail)


def _channel(settings: Settings, part: Part) -> Notifier:
    if part is Part.SLACK and settings.slack_webhook_url:
        return SlackNotifier(settings.slack_webhook_url)
    if part is Part.MAIL and settings.smtp_url:
        return EmailNotifier(settings.smtp_url)
    name = "BOBUSANG_SLACK_WEBHOOK_URL" if part is Part.SLACK else "BOBUSANG_SMTP_URL"
    raise Missing(f"{name} is not set", hint="set it, and start the program again")


def _notice(by: str) -> Notice:
    return Notice("test", Level.INFO, "A test by Bobusang", f"{by} tests whether alerts arrive. This one asks nothing.")


def _mail(settings: Settings) -> str:
    if not settings.smtp_url:
        return ""
    post = parsed(settings.smtp_url)
    return f"{post.host}:{post.port} → {', '.join(post.recipients)}"
