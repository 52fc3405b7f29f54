"""Alerts: told once when they open, again now and then while they last, and once when they are over.

The table says which message is still owed. It is written before the message is sent and cleared after, so a crash in
between sends a message twice, never not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit import json
from bobusang.kit import log as logs
from bobusang.kit.clock import utc
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.bus import brief
from bobusang.platform.notifier import Level, Notice, shortened
from bobusang.platform.tables import Owed, alerts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Row, Tx
    from bobusang.platform.notifier import Notifier

log = logs.get(__name__)

REMIND_EVERY = timedelta(hours=6)
KEEP_RESOLVED = timedelta(days=30)
LONGEST_TEXT = 10_000
BATCH = 100
SEVERITY = tuple(Level)

_COLUMNS = ("alert_key", "rule", "level", "title", "text", "link", "fields", "opened_at", "count", "owed")
_NEW = Bulk(alerts, _COLUMNS, keep=True)
_OPEN = Statement("select alert_key, rule from alerts where resolved_at is null")
_KNOWN = Statement(
    "select alert_key, resolved_at, level, title, text, link, fields from alerts where alert_key in (:keys...)"
)
_SEEN = Statement("update alerts set count = count + 1 where alert_key in (:keys...)")
_REOPEN = Statement("delete from alerts where alert_key in (:keys...) and resolved_at is not null")
_RESOLVE = Statement(
    "update alerts set resolved_at = :now, owed = 'RECOVERY' where alert_key in (:keys...) and resolved_at is null"
)
_REMIND = Statement(
    "update alerts set owed = 'REMINDER' "
    "where resolved_at is null and owed = 'NOTHING' and last_notified_at is not null and last_notified_at <= :before"
)
_OWED = Statement(
    "select id, alert_key, level, title, text, link, fields, opened_at, resolved_at, count, owed "
    "from alerts where owed in ('OPENED', 'REMINDER', 'RECOVERY') order by id limit :limit"
)
_SENT = Statement("update alerts set owed = 'NOTHING', last_notified_at = :now where id = :id and owed = :owed")
_FORGET = Statement("delete from alerts where resolved_at < :before and owed = 'NOTHING'")


@dataclass(frozen=True, slots=True)
class Alert:
    """One trouble as the table knows it."""

    key: str
    rule: str
    level: Level
    title: str
    text: str
    opened_at: datetime
    last_notified_at: datetime | None
    resolved_at: datetime | None
    count: int


async def raise_alert(tx: Tx, *notices: Notice) -> None:
    """Open alerts, or count once more those that are open; the next `notify` sends what is new."""
    unique = {notice.key: notice for notice in notices}
    keys = sorted(unique)
    known = {row["alert_key"]: row for row in await tx.fetch(_KNOWN, keys=keys)} if keys else {}
    lasting = {key: row for key, row in known.items() if row["resolved_at"] is None}
    if lasting:
        await tx.execute(_SEEN, keys=sorted(lasting))
    for key, row in sorted(lasting.items()):
        await _reword(tx, unique[key], row)
    if len(known) > len(lasting):
        await tx.execute(_REOPEN, keys=sorted(known.keys() - lasting.keys()))
    await tx.insert(_NEW, [_row(unique[key], tx.now) for key in keys if key not in lasting])


async def _reword(tx: Tx, notice: Notice, row: Row) -> None:
    """Keep the words fresh for the reminder; a trouble that became worse is told at once."""
    names = ("level", "title", "text", "link", "fields")
    words = dict(zip(names, _words(notice), strict=True))
    if words != {name: row[name] for name in words}:
        if SEVERITY.index(notice.level) > SEVERITY.index(row["level"]):
            words["owed"] = Owed.OPENED
        await tx.execute(alerts.update().where(alerts.c.alert_key == notice.key).values(**words))


async def settle_alerts(tx: Tx, keys: Iterable[str]) -> None:
    """These are over; the next `notify` says so."""
    gone = sorted(keys)
    if gone:
        await tx.execute(_RESOLVE, keys=gone, now=tx.now)


async def keep_alerts(tx: Tx, current: Sequence[Notice], *, rules: Collection[str]) -> None:
    """These are all that `rules` find now: open what is new, end what is gone."""
    await raise_alert(tx, *current)
    present = {notice.key for notice in current}
    rows = await tx.fetch(_OPEN)
    await settle_alerts(tx, (r["alert_key"] for r in rows if r["rule"] in rules and r["alert_key"] not in present))


async def open_alerts(tx: Tx) -> list[Alert]:
    """The troubles of the moment, newest first."""
    rows = await tx.fetch(alerts.select().where(alerts.c.resolved_at.is_(None)).order_by(alerts.c.id.desc()))
    return [_alert(row) for row in rows]


class Alerting:
    """Compares what is wrong now with what people have been told."""

    def __init__(self, db: Database, notifier: Notifier, *, remind_every: timedelta = REMIND_EVERY) -> None:
        self._db = db
        self._notifier = notifier
        self._remind_every = remind_every

    async def settle(self, current: Sequence[Notice], *, rules: Collection[str]) -> int:
        """Take all that `rules` find now: open what is new, end what is gone, and tell; how many messages went out.

        A rule that could not be evaluated is left out of `rules`, and its alerts stay as they are: unknown is not over.
        """

        async def work(tx: Tx) -> None:
            await keep_alerts(tx, current, rules=rules)
            await tx.execute(_REMIND, before=tx.now - self._remind_every)
            await tx.execute(_FORGET, before=tx.now - KEEP_RESOLVED)

        await self._db.transact(work)
        return await self.notify()

    async def notify(self) -> int:
        """Send what is owed; what cannot be sent stays owed."""
        async with self._db.read() as tx:
            owed = await tx.fetch(_OWED, limit=BATCH)
        sent = 0
        for row in owed:
            try:
                await self._notifier.send(message(row))
            except Exception as error:
                log.warning("alert not sent", key=row["alert_key"], owed=row["owed"], error=brief(str(error)))
                continue
            sent += 1
            id, what = row["id"], row["owed"]
            await self._db.transact(lambda tx, id=id, what=what: tx.execute(_SENT, id=id, owed=what, now=tx.now))  # type: ignore[misc]
        return sent


def message(row: Row) -> Notice:
    """The message that is owed about an alert."""
    opened, count = utc(row["opened_at"]), row["count"]
    fields = json.loads(row["fields"]) if row["fields"] else {}
    level, title = Level(row["level"]), row["title"]
    match Owed(row["owed"]):
        case Owed.RECOVERY:
            level, title = Level.OK, f"Recovered: {title}"
            fields |= {"lasted": _span(utc(row["resolved_at"]) - opened)}
        case Owed.REMINDER:
            title = f"Still: {title}"
            fields |= {"since": f"{opened:%Y-%m-%d %H:%M} UTC", "seen": f"{count} times"}
        case Owed.OPENED | Owed.NOTHING:
            pass
    return Notice(row["alert_key"], level, title, row["text"], row["link"], fields)


def _span(lasted: timedelta) -> str:
    minutes = int(lasted.total_seconds()) // 60
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _row(notice: Notice, now: datetime) -> tuple[object, ...]:
    return (
        notice.key,
        notice.rule,
        *_words(notice),
        now,
        1,
        Owed.OPENED,
    )


def _words(notice: Notice) -> tuple[Level, str, str, str | None, str | None]:
    """What a notice says of a trouble, as it is kept."""
    return (
        notice.level,
        shortened(notice.title, 300),
        shortened(notice.text, LONGEST_TEXT),
        shortened(notice.link, 1000) if notice.link else None,
        json.dumps(notice.fields) if notice.fields else None,
    )


def _alert(row: Row) -> Alert:
    return Alert(
        key=row["alert_key"],
        rule=row["rule"],
        level=Level(row["level"]),
        title=row["title"],
        text=row["text"],
        opened_at=utc(row["opened_at"]),
        last_notified_at=utc(row["last_notified_at"]),
        resolved_at=utc(row["resolved_at"]),
        count=row["count"],
    )
