"""The bus contract: events that commit with the change they tell of, and subscribers that answer for each of them.

Events of one key reach a subscriber in order, at least once. The order is that of their ids, which is the order of the
changes when `publish` is called after the row that the key names was written (and so locked) in the same transaction.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec

from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Invalid, Throttled, Verdict
from bobusang.kit.redact import scrub
from bobusang.kit.sql import Bulk
from bobusang.platform.notifier import shortened
from bobusang.platform.tables import outbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Tx
    from bobusang.platform.subscriptions import Subscription

LARGEST = 1_000_000
DOORBELL = "outbox"
ERROR_LENGTH = 500

_TOPIC = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_OUTBOX = Bulk(outbox, ("topic", "event_key", "payload", "headers", "created_at"))


class Event(msgspec.Struct, frozen=True):
    """Something that happened. The outbox gives it its id and time; a subscriber may drop an id it has seen."""

    topic: str
    key: str
    payload: Any
    id: int = 0
    created_at: datetime | None = None
    headers: Mapping[str, str] = {}


# --- what a subscriber answers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Delivered:
    """It has the event."""


@dataclass(frozen=True, slots=True)
class Retry:
    """It failed on this event: the key waits, the others go on. Counts as an attempt."""

    error: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """It will never take this event: a dead letter, and the key goes on."""

    error: str


@dataclass(frozen=True, slots=True)
class Hold:
    """It cannot take anything now (down, or asks for a rest): all its keys wait. Not an attempt."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """It wants no more until a person resumes it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Untried:
    """Not sent: an earlier event of the key failed, or time ran out."""


Outcome = Delivered | Retry | Reject | Hold | Pause | Untried


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on trying one event, in seconds; the default gives up after more than two hours."""

    base: float = 5.0
    cap: float = 3600.0
    attempts: int = 12

    def delay(self, failures: int) -> timedelta:
        """The wait after so many failures: doubling, less up to a quarter, so that keys do not march in step."""
        whole = min(self.cap, self.base * 2.0 ** min(failures - 1, 30))
        return timedelta(seconds=whole * random.uniform(0.75, 1.0))


# --- who delivers ----------------------------------------------------------------------------------------------------


class Subscriber(Protocol):
    """One receiver of events outside our database."""

    @property
    def patience(self) -> Patience:
        """How it is retried."""
        ...

    async def deliver(self, events: Sequence[Event]) -> Sequence[Outcome]:
        """Send them, those of one key in the given order; one outcome each. No transaction is open."""
        ...


@runtime_checkable
class Joined(Protocol):
    """One receiver whose whole effect lies in our database: it commits with the mark that the events were delivered."""

    @property
    def patience(self) -> Patience:
        """How it is retried."""
        ...

    async def apply(self, tx: Tx, events: Sequence[Event]) -> None:
        """Write the effect of all of them, or raise and write nothing."""
        ...


class Bus(Protocol):
    """A way to reach subscribers: in this process, by HTTP, later Kafka and SQS."""

    schemes: frozenset[str]
    """The beginnings of the subscription addresses it serves, such as `https`."""

    def open(self, subscription: Subscription) -> Subscriber | Joined | None:
        """Who receives for this subscription; None when that is somebody in another process."""
        ...

    async def close(self) -> None:
        """Give connections back."""
        ...


# --- publishing ------------------------------------------------------------------------------------------------------


async def publish(tx: Tx, *events: Event) -> None:
    """Write events in the caller's transaction: they exist if and only if the change does."""
    if not events:
        return
    await tx.insert(_OUTBOX, [_row(event, tx.now) for event in events])
    tx.ring(DOORBELL)


def _row(event: Event, now: datetime) -> tuple[str, str, str, str | None, datetime]:
    if not _TOPIC.fullmatch(event.topic):
        raise Invalid(
            f"'{event.topic}' is no topic", hint="use letters, digits, '.', '_' and '-', at most 100", field="topic"
        )
    if not 0 < len(event.key) <= 200 or "\0" in event.key:
        raise Invalid(f"an event of {event.topic} needs a key of 1 to 200 characters, without NUL", field="key")
    payload = json.payload(event.payload, limit=LARGEST, name="payload")
    headers = json.payload(event.headers, limit=LARGEST, name="headers") if event.headers else None
    return event.topic, event.key, payload, headers, now


# --- rules -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _pattern(topics: str) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word).replace(r"\*", ".*") for word in topics.split()) or r"(?!)")


def wants(topics: str, topic: str) -> bool:
    """Does a list of patterns (`job.* source.changed`, `*`) name this topic?"""
    return _pattern(topics).fullmatch(topic) is not None


def brief(error: str) -> str:
    """A foreign text as a database may keep it and a person may read it: short, valid, without secrets."""
    valid = error.replace("\0", "").encode(errors="replace").decode()
    return shortened(scrub(valid), ERROR_LENGTH)


def outcome_of(error: Exception) -> Outcome:
    """What becomes of an event whose consumer raised."""
    text = f"{type(error).__name__}: {error}"
    if not isinstance(error, BobusangError):
        return Retry(text)
    match error.verdict:
        case Verdict.RETRY:
            return Retry(text)
        case Verdict.FAIL | Verdict.PARK:
            return Reject(text)
        case Verdict.HALT:
            return Pause(text)
        case Verdict.SNOOZE:
            return Hold(text, error.until if isinstance(error, Throttled) else None)
