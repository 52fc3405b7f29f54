"""The breaker of one endpoint, as pure rules: it stops calling what does not answer, and finds out when it does again.

```
        lasting 5xx, time-outs            rest over, one probe
CLOSED ────────────────────────► OPEN ──────────────────────────► HALF_OPEN
   ▲  ▲                           ▲  the probe fails: longer rest     │  │
   │  │                           └────────────────────────────────────┘  │
   │  └────────────────────── the probe is answered ──────────────────────┘
   └── a person resumes ── HALTED ◄── 403 or a bot wall, from anywhere
```

Only the probe itself closes or re-opens: what was under way before tells of the past. A probe whose worker died is
over when its lease is, and the next one who asks probes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.stages.collect.identity import rest
from bobusang.stages.collect.policy import BackOff
from bobusang.stages.collect.tables import BreakerState

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.stages.collect.responses import Tally

RESTS = BackOff(timedelta(seconds=30), 2.0, timedelta(minutes=30), timedelta(minutes=30))


@dataclass(frozen=True, slots=True)
class Tripping:
    """When a breaker opens, and for how long."""

    window: timedelta = timedelta(minutes=2)
    """Counted from its first failure."""
    least: int = 5
    """Failures in the window …"""
    ratio: float = 0.5
    """… and their share of the calls since the first."""
    in_a_row: int = 5
    """So many without an answer in between open it however slowly they come."""
    rest: BackOff = RESTS
    probe: timedelta = timedelta(minutes=2)
    """How long a probe may take before another is sent."""


@dataclass(frozen=True, slots=True)
class Breaker:
    """Where the breaker of one endpoint stands."""

    state: BreakerState = BreakerState.CLOSED
    window_started_at: datetime | None = None
    window_calls: int = 0
    window_failures: int = 0
    failures_in_a_row: int = 0
    opened_at: datetime | None = None
    """Since when it does not answer: a probe that fails leaves this as it is."""
    open_until: datetime | None = None
    closed_at: datetime | None = None
    times_opened: int = 0
    probe_number: int = 0
    probe_until: datetime | None = None
    reason: str | None = None

    @property
    def is_clean(self) -> bool:
        """Nothing is being counted: an answer changes nothing here."""
        return self.state is BreakerState.CLOSED and self.window_started_at is None and not self.failures_in_a_row


def may_probe(breaker: Breaker, now: datetime) -> bool:
    """Whether the one who asks now is the probe."""
    if breaker.state is BreakerState.OPEN:
        return breaker.open_until is None or breaker.open_until <= now
    return breaker.state is BreakerState.HALF_OPEN and (breaker.probe_until is None or breaker.probe_until <= now)


def probed(breaker: Breaker, now: datetime, tripping: Tripping) -> Breaker:
    """A probe goes out, under the next number."""
    number = breaker.probe_number + 1
    return replace(breaker, state=BreakerState.HALF_OPEN, probe_number=number, probe_until=now + tripping.probe)


def unprobed(breaker: Breaker, probe: int) -> Breaker:
    """The probe could not be sent, or its answer says nothing of the endpoint: the next one who asks probes."""
    if breaker.state is not BreakerState.HALF_OPEN or breaker.probe_number != probe:
        return breaker
    return replace(breaker, probe_until=None)


def counted(breaker: Breaker, tally: Tally, now: datetime, tripping: Tripping, *, probe: int = 0) -> Breaker:
    """The breaker after some calls; `probe` is the number of the probe that made them, 0 for none."""
    match breaker.state:
        case BreakerState.CLOSED if tally.opened:
            return opened(breaker, tally.opened, now, tripping, tally.rest)
        case BreakerState.CLOSED:
            return _watched(breaker, tally, now, tripping)
        case BreakerState.HALF_OPEN if probe == breaker.probe_number:
            return _probed(breaker, tally, now, tripping)
    return breaker


def _probed(breaker: Breaker, tally: Tally, now: datetime, tripping: Tripping) -> Breaker:
    if tally.opened:
        return opened(breaker, tally.opened, now, tripping, tally.rest)
    if tally.broken:
        return opened(breaker, _said("the probe was not answered", tally), now, tripping, tally.retry_after)
    return closed(breaker, now) if tally.answered else unprobed(breaker, breaker.probe_number)


def _watched(breaker: Breaker, tally: Tally, now: datetime, tripping: Tripping) -> Breaker:
    row = 0 if tally.answered else breaker.failures_in_a_row + tally.broken
    since = breaker.window_started_at
    if since is not None and now - since <= tripping.window:
        calls = breaker.window_calls + tally.answered + tally.broken
        failures = breaker.window_failures + tally.broken
    elif tally.broken:
        since, calls, failures = now, tally.answered + tally.broken, tally.broken
    else:
        since, calls, failures = None, 0, 0
    after = replace(
        breaker, window_started_at=since, window_calls=calls, window_failures=failures, failures_in_a_row=row
    )
    if not tally.broken:
        return after
    if failures >= tripping.least and failures >= tripping.ratio * calls:
        words = f"{failures} of {calls} calls were not answered"
        return opened(after, _said(words, tally), now, tripping, tally.retry_after)
    if row >= tripping.in_a_row:
        words = f"{row} calls in a row were not answered"
        return opened(after, _said(words, tally), now, tripping, tally.retry_after)
    return after


def _said(words: str, tally: Tally) -> str:
    return f"{words}: {tally.trouble}" if tally.trouble else words


def opened(breaker: Breaker, reason: str, now: datetime, tripping: Tripping, asked: timedelta | None = None) -> Breaker:
    """Leave the endpoint alone: each time longer, unless it had been well for a while. `asked`: at least so long."""
    back_off = tripping.rest
    forgiven = (
        breaker.state is BreakerState.CLOSED
        and breaker.closed_at is not None
        and now - breaker.closed_at > back_off.forgive
    )
    times = 1 if forgiven else breaker.times_opened + 1
    since = breaker.opened_at if breaker.state is BreakerState.HALF_OPEN else None
    return Breaker(
        state=BreakerState.OPEN,
        opened_at=since or now,
        open_until=now + rest(back_off, times, asked, 0.0),
        closed_at=breaker.closed_at,
        times_opened=times,
        probe_number=breaker.probe_number,
        reason=reason,
    )


def closed(breaker: Breaker, now: datetime) -> Breaker:
    """It answers again; how often it was open is remembered for a while."""
    return Breaker(
        opened_at=breaker.opened_at, closed_at=now, times_opened=breaker.times_opened, probe_number=breaker.probe_number
    )


def halted(breaker: Breaker, reason: str, now: datetime) -> Breaker:
    """They do not want us: until a person resumes."""
    return Breaker(
        state=BreakerState.HALTED,
        opened_at=now,
        closed_at=breaker.closed_at,
        times_opened=breaker.times_opened,
        probe_number=breaker.probe_number,
        reason=reason,
    )
