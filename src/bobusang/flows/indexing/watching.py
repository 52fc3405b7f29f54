"""How far the index is behind SQL: measured every few seconds, and a person is called when it stays behind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.indexing.indexer import NAME
from bobusang.kit.clock import utc
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import raise_alert, settle_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.platform.tables import SubscriptionState

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx

EVERY = timedelta(seconds=15)
TOO_LATE = timedelta(minutes=2)
RULE = "search_lag"
COUNTED = 10_000

_STANDING = Statement("select id, state, last_error from subscriptions where name = :name")
_OLDEST = Statement(
    "select created_at as value from deliveries where subscription_id = :id and state = 'PENDING' "
    "order by event_id limit 1"
)
_WAITING = Statement(
    "select count(*) as value from (select event_id from deliveries "
    "where subscription_id = :id and state = 'PENDING' limit :limit) waiting"
)
_UNROUTED = Statement("select created_at as value from outbox order by id limit 1")


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the index is behind: the age of the oldest change it lacks, and how many changes wait (at most
    `COUNTED`); `error` says what the last try failed by."""

    seconds: float
    waiting: int
    paused: bool
    error: str


async def lag(tx: Tx) -> Lag:
    """The lag of this moment."""
    standing = await tx.first(_STANDING, name=NAME)
    if standing is None:
        return Lag(0.0, 0, paused=False, error="")
    oldest = [await tx.value(_OLDEST, id=standing["id"]), await tx.value(_UNROUTED)]
    ages = [_age(tx.now, utc(one)) for one in oldest if one is not None]
    waiting = await tx.value(_WAITING, id=standing["id"], limit=COUNTED)
    paused = standing["state"] != SubscriptionState.ACTIVE
    return Lag(max(ages, default=0.0), waiting, paused=paused, error=standing["last_error"] or "")


def _age(now: datetime, then: datetime) -> float:
    return max(0.0, (now - then).total_seconds())


def watch(db: Database) -> Duty:
    """Call a person when search stays behind what is sold."""

    async def work(tx: Tx) -> None:
        found = await lag(tx)
        if found.seconds > TOO_LATE.total_seconds():
            await raise_alert(tx, _notice(found))
        else:
            await settle_alerts(tx, [RULE])

    async def run() -> int:
        await db.transact(work)
        return 0

    return Duty("search lag", EVERY, run)


def _notice(found: Lag) -> Notice:
    waiting = f"{found.waiting:,}{'+' * (found.waiting >= COUNTED)}"
    why = f" Its last error: {found.error}" if found.error else ""
    mend = (
        "its subscription is paused, POST /subscriptions/{id}/resume lets it go on"
        if found.paused
        else "`bobusang search status` shows it"
    )
    return Notice(
        RULE,
        Level.WARNING,
        f"search is {timedelta(seconds=int(found.seconds))} behind",
        f"{waiting} changes wait to be found; {mend}.{why}",
    )
