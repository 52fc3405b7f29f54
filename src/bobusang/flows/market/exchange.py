"""Rates of exchange from a URL or a file: recorded, distrusted when they jump, and never replaced by a guess.

A place is an address whose fragment says where in a JSON answer the rate stands; the fragment is never sent:
`https://bank.example/latest.json#rate=data.0.basePrice&time=data.0.timestamp&per=100`. A place that ends in `.csv` is a
table of rates, and `file:PATH` is read from the disk. What a place does not say of the bank's share, the setting does.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from bobusang.engine.upkeep.duty import Duty
from bobusang.kit.errors import BobusangError, Invalid, Missing, Unavailable
from bobusang.kit.http import Call
from bobusang.kit.redact import scrub
from bobusang.platform.alerting import raise_alert, settle_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.price import fxbook
from bobusang.stages.price.fx import FxFeed, read_csv, read_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Transport
    from bobusang.stages.price.model import FxQuote

EVERY = timedelta(hours=1)
LOOK = timedelta(seconds=30)
FIRST_WAIT = timedelta(minutes=1)
MOST = 4 << 20
TIMEOUT = timedelta(seconds=20)
DEAD, HELD = "fx_dead", "fx_held"
PAIR = ("JPY", "KRW")
"""What is sold for yen is bought for won."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where rates come from: an address to fetch or a path to read, and how its answer is read."""

    address: str
    feed: FxFeed
    is_file: bool = False

    @property
    def is_table(self) -> bool:
        return urlsplit(self.address).path.lower().endswith(".csv")


def place_of(written: str, spread: str) -> Place:
    """The place that a setting names."""
    parts = urlsplit(written)
    said = dict(parse_qsl(parts.fragment))
    unknown = said.keys() - {"rate", "time", "per", "base", "quote"}
    if unknown or parts.scheme not in ("http", "https", "file") or not said.get("per", "1").isdigit():
        hint = "write https://…, or file:PATH, with #rate=PATH&time=PATH&per=1&base=JPY&quote=KRW where it differs"
        raise Invalid("the place of exchange rates cannot be read", hint=hint, field="fx_url")
    is_file = parts.scheme == "file"
    address = parts.path if is_file else urlunsplit(parts._replace(fragment=""))
    base, quote = said.get("base", PAIR[0]), said.get("quote", PAIR[1])
    feed = FxFeed(
        base,
        quote,
        Path(parts.path).name if is_file else parts.hostname or "",
        said.get("rate", f"rates.{quote}"),
        said.get("time", "time"),
        int(said.get("per", 1)),
        spread,
    )
    return Place(address, feed, is_file)


async def fetched(transport: Transport, place: Place) -> list[FxQuote]:
    """The rates that a place quotes now; Unavailable or Drifted where it quotes none."""
    body = await (_file(place.address) if place.is_file else _answer(transport, place.address))
    return read(place, body)


def read(place: Place, body: bytes) -> list[FxQuote]:
    """The rates of an answer."""
    if not place.is_table:
        return [read_json(body, place.feed)]
    try:
        return read_csv(body.decode("utf-8-sig"), place.feed.spread)
    except UnicodeDecodeError as error:
        raise Invalid(f"the table of {place.feed.source} is not UTF-8 at byte {error.start:,}") from error


async def record_file(tx: Tx, path: Path, spread: str = "0") -> list[FxQuote]:
    """Keep the rates of a file, CSV or JSON; those that were new, believed or held."""
    place = place_of(f"file:{path}", spread)
    return await fxbook.record(tx, read(place, await _file(str(path))))


def exchange(db: Database, transport: Transport, written: str, spread: str) -> Duty:
    """Every hour; after a failure sooner, then ever later. A failure calls a person and changes nothing: the last rate
    goes stale by itself, and stale rates let no price fall."""
    return Duty("exchange rates", LOOK, Exchange(db, transport, place_of(written, spread)).run)


class Exchange:
    """One place, asked at its times."""

    def __init__(self, db: Database, transport: Transport, place: Place) -> None:
        self._db = db
        self._transport = transport
        self._place = place
        self._failures = 0
        self._due: datetime | None = None

    async def run(self) -> int:
        """Ask, if it is time."""
        now = self._db.clock.now()
        if self._due is not None and now < self._due:
            return 0
        try:
            quotes = await fetched(self._transport, self._place)
            await self._db.transact(lambda tx: recorded(tx, quotes))
        except BobusangError as error:
            await self._failed(now, error)
            return 0
        self._failures, self._due = 0, now + EVERY
        return 0

    async def _failed(self, now: datetime, error: BobusangError) -> None:
        self._failures += 1
        wait = min(FIRST_WAIT * 2 ** min(self._failures - 1, 10), EVERY)
        self._due = now + wait
        notice = Notice(
            DEAD,
            Level.WARNING,
            f"no exchange rate from {self._place.feed.source}",
            f"{scrub(str(error))}. The last rate is used until it is stale; then no price falls. Asked again in "
            f"{int(wait.total_seconds()) // 60} min.",
        )
        await self._db.transact(lambda tx: raise_alert(tx, notice))


async def recorded(tx: Tx, quotes: Sequence[FxQuote]) -> list[FxQuote]:
    """Keep rates that were fetched, and call a person where one waits for a word."""
    found = await fxbook.record(tx, quotes)
    await settle_alerts(tx, [DEAD])
    pairs = {(one.base, one.quote) for one in quotes}
    known = [fx for base, quote in sorted(pairs) for fx in (await fxbook.known(tx, base, [quote])).values()]
    if held := [fx.held for fx in known if fx.held is not None]:
        await raise_alert(tx, *(_held(one) for one in held[:1]))
    else:
        await settle_alerts(tx, [HELD])
    return found


def _held(one: FxQuote) -> Notice:
    return Notice(
        HELD,
        Level.CRITICAL,
        f"a rate of exchange jumped: {one.base}/{one.quote} {one.rate}",
        f"{one.source} quotes {one.rate} {one.quote} for one {one.base}. No price of this pair moves until a person "
        f"accepts or rejects rate {one.id}.",
    )


async def _answer(transport: Transport, url: str) -> bytes:
    answer = await transport.send(Call(url, headers={"accept": "application/json"}, most=MOST, timeout=TIMEOUT))
    if answer.status != 200:
        raise Unavailable(f"it answered HTTP {answer.status}")
    return answer.body


async def _file(path: str) -> bytes:
    try:
        return await asyncio.to_thread(_content, Path(path))
    except OSError as error:
        reason = error.strerror or str(error)
        raise Missing(f"the rates in {path} cannot be read: {reason}", field="fx_url") from error


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        body = file.read(MOST + 1)
    if len(body) > MOST:
        raise Invalid(f"{path} has more than {MOST:,} bytes", field="fx_url")
    return body
