"""The gate's decision as a pure function of what is known: go, or wait until then, because of this."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from bobusang.stages.collect.breaker import Breaker, may_probe
from bobusang.stages.collect.identity import free_at, is_free, lacks_key, state_at
from bobusang.stages.collect.tables import AnswerWord, BreakerState, IdentityState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bobusang.stages.collect.identity import Member
    from bobusang.stages.collect.policy import Policy

NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""Until a person acts; the engine calls one for a pool that is blocked so long."""
UNTIL_ENABLED = datetime(9998, 1, 1, tzinfo=UTC)
"""Until a person decides what nobody needs to be called for."""
TOGETHER = timedelta(minutes=1)
"""Identities that are free within this time of the first are waited for, up to a quarter of the pool: a pool at its
quota would otherwise wake for every single call."""


class Cause(StrEnum):
    """What makes us wait; in the order of gravity."""

    OFF = "off"
    HALTED = "halted"
    KEY = "key"
    WINDOW = "window"
    BACK_OFF = "back_off"
    BREAKER = "breaker"
    PROBE = "probe"
    LIMITER = "limiter"
    RATE = "rate"
    IDENTITIES = "identities"

    @property
    def is_ordinary(self) -> bool:
        """A limit that is simply reached, again and again: no news, and nothing to be told of when it is over."""
        return self in (Cause.RATE, Cause.IDENTITIES)


@dataclass(frozen=True, slots=True)
class Wait:
    """Not before then, because of this."""

    until: datetime
    reason: str
    cause: Cause
    everywhere: bool = True
    """Whether all endpoints of the source wait, or only the one that was asked for."""


@dataclass(frozen=True, slots=True)
class Open:
    """Nothing stands in the way of so many calls; as a probe, of one."""

    calls: int
    probe: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a source (or one endpoint of it) stands, as the gate remembers it."""

    breaker: Breaker = field(default_factory=Breaker)
    blocked_until: datetime | None = None
    """The server asked for a rest."""
    blocked_in_a_row: int = 0
    forgiven_at: datetime | None = None
    answer: AnswerWord = AnswerWord.GO
    cause: Cause | None = None
    answer_until: datetime | None = None
    answer_reason: str | None = None

    def waits(self, now: datetime) -> bool:
        """Whether the last answer was to wait, and still holds."""
        return self.answer is AnswerWord.WAIT and self.answer_until is not None and self.answer_until > now

    @property
    def is_news(self) -> bool:
        """Whether going again would be news."""
        return self.answer is AnswerWord.WAIT and self.cause is not None and not self.cause.is_ordinary


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the decision is made of."""

    now: datetime
    source: str
    endpoint: str
    enabled: bool
    whole: Standing = Standing()
    """Of the source."""
    part: Standing = Standing()
    """Of the endpoint."""
    opens_at: datetime | None = None
    """When the window opens; None: it is open."""
    pool: tuple[Member, ...] | None = None
    """Its identities; None: they are not leased."""

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is remembered that going, or an answer, would change."""
        return self.part.breaker.is_clean and not self.whole.is_news and not self.part.is_news


def decide(facts: Facts, policy: Policy, want: int) -> Open | Wait:
    """Go, or the longest of all waits: coming back earlier would be in vain."""
    waits = list(_waits(facts, policy))
    if waits:
        return max(waits, key=lambda wait: wait.until)  # of equal ones the gravest, which comes first
    probe = may_probe(facts.part.breaker, facts.now)
    return Open(1 if probe else want, probe)


def _waits(facts: Facts, policy: Policy) -> Iterator[Wait]:
    name, now = facts.source, facts.now
    if not facts.enabled:
        yield Wait(UNTIL_ENABLED, f"{name} is off: `bobusang source enable {name}` with why it may be", Cause.OFF)
    if facts.whole.breaker.state is BreakerState.HALTED:
        why = facts.whole.breaker.reason or "no reason was given"
        yield Wait(NEVER, f"{name} is halted: {why}; `bobusang source resume {name}` when mended", Cause.HALTED)
    if facts.opens_at is not None:
        hours = f"{policy.window.start:%H:%M}-{policy.window.end:%H:%M} {policy.window.zone}"
        yield Wait(facts.opens_at, f"{name} is visited only {hours}", Cause.WINDOW)
    for standing, everywhere in ((facts.whole, True), (facts.part, False)):
        if standing.blocked_until is not None and standing.blocked_until > now:
            who = name if everywhere else f"{name} {facts.endpoint}"
            yield Wait(standing.blocked_until, f"{who} asked for a rest", Cause.BACK_OFF, everywhere)
    yield from _broken(facts)
    if facts.pool is not None:
        yield from _crowded(facts.source, facts.pool, policy, now)


def _broken(facts: Facts) -> Iterator[Wait]:
    breaker, where = facts.part.breaker, f"{facts.source} {facts.endpoint}"
    if may_probe(breaker, facts.now):
        return
    if breaker.state is BreakerState.OPEN and breaker.open_until is not None:
        reason = f"{where} does not answer: {breaker.reason or 'its breaker is open'}"
        yield Wait(breaker.open_until, reason, Cause.BREAKER, everywhere=False)
    if breaker.state is BreakerState.HALF_OPEN and breaker.probe_until is not None:
        yield Wait(breaker.probe_until, f"a probe asks whether {where} answers again", Cause.PROBE, everywhere=False)


def _crowded(source: str, pool: Sequence[Member], policy: Policy, now: datetime) -> Iterator[Wait]:
    """When no identity can be leased. An empty pool is not yet made, and no reason to wait."""
    if pool and all(lacks_key(member, policy) for member in pool):
        yield Wait(NEVER, f"{source} has not been given its key: `bobusang source key {source}`", Cause.KEY)
    elif pool and not any(is_free(member, now) for member in pool):
        times = sorted(free_at(member, now) for member in pool)
        soon = [at for at in times if at - times[0] <= TOGETHER]
        until = soon[min(len(soon), max(1, len(pool) // 4)) - 1]
        yield Wait(until, f"{source}: {in_words(pool, now)}", Cause.IDENTITIES)


def in_words(pool: Sequence[Member], now: datetime) -> str:
    """Where the identities of a pool are."""
    count = Counter(state_at(member, now) for member in pool)
    words = (
        (IdentityState.ACTIVE, "in use"),
        (IdentityState.RATE_LIMITED, "at their quota"),
        (IdentityState.DISABLED, "resting after a 429"),
    )
    parts = ", ".join(f"{count[state]} {text}" for state, text in words if count[state])
    return f"none of {len(pool)} identities is free: {parts}"
