"""One identity's life, as pure rules.

```
          lease                     release
IDLE ──────────────► ACTIVE ──┬── answered ──────────► IDLE
RECOVERED ─────────►   │      ├── 401: session dropped ► IDLE (a new session refused at once: DISABLED)
  ▲                    │      ├── quota used up ───────► RATE_LIMITED ── bucket refilled ──► IDLE
  │                    │      └── 429: session dropped ► DISABLED ── rest over ──┐
  │                    └── lease ran out ──────────────► IDLE                     │
  └───────────────────────────────────────────────────────────────────────────────┘
```

A 5xx or a time-out is the source's fault and changes nothing here. What passes by time alone (a rest that is over, a
lease that ran out) is true at once, whether or not anybody has written it down: always ask `state_at`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.errors import Invalid
from bobusang.platform.limiter import Limit
from bobusang.stages.collect.policy import BackOff, IdentityKind
from bobusang.stages.collect.tables import IdentityState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from bobusang.stages.collect.policy import Policy, Quota
    from bobusang.stages.collect.responses import Tally

BEST = 100
ON_ANSWER, ON_THROTTLE, ON_FAILURE = 5, -20, -5
BURST_SHARE = 16
"""A sixteenth of the quota may be used at once (5 of 80); the rest flows evenly, so 75 an hour can be had for ever."""


GIVEN = "="
"""Before the names, among its cookies, of what the operator gave: no cookie's name has it."""
ISSUED = (IdentityKind.SESSION, IdentityKind.LOGIN)
"""The kinds to which something is issued."""


@dataclass(frozen=True, slots=True)
class Member:
    """One identity of a source's pool, as it is stored."""

    id: int
    user_agent: str = ""
    state: IdentityState = IdentityState.IDLE
    health: int = BEST
    token: str | None = field(default=None, repr=False)
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)
    token_expires_at: datetime | None = None
    token_renew_at: datetime | None = None
    lease_number: int = 0
    leased_until: datetime | None = None
    rest_until: datetime | None = None
    throttled_in_a_row: int = 0
    last_throttled_at: datetime | None = None
    forgiven_at: datetime | None = None
    quota_left: float | None = None
    last_used_at: datetime | None = None

    @property
    def given(self) -> dict[str, str]:
        """What the operator gave it to log in with."""
        return {name[1:]: value for name, value in self.cookies.items() if name.startswith(GIVEN)}


def limit_of(quota: Quota) -> Limit:
    """The bucket that keeps a quota in any span of its length."""
    if quota.calls < 1:
        raise Invalid(f"a quota of {quota.calls} calls allows nothing", hint="at least 1", field="identity.quota")
    return Limit(quota.calls, quota.per, max(2 if quota.calls > 3 else 1, quota.calls // BURST_SHARE))


def state_at(member: Member, now: datetime) -> IdentityState:
    """The state by now, with all that time alone has changed."""
    match member.state:
        case IdentityState.DISABLED if _over(member.rest_until, now):
            return IdentityState.RECOVERED
        case IdentityState.RATE_LIMITED if _over(member.rest_until, now):
            return IdentityState.IDLE
        case IdentityState.ACTIVE if _over(member.leased_until, now):
            return IdentityState.IDLE
    return member.state


def _over(until: datetime | None, now: datetime) -> bool:
    return until is None or until <= now


def is_free(member: Member, now: datetime) -> bool:
    """Whether it may be leased."""
    return state_at(member, now) in (IdentityState.IDLE, IdentityState.RECOVERED)


def free_at(member: Member, now: datetime) -> datetime:
    """When it may be leased at the latest: the end of its rest or of its lease."""
    if is_free(member, now):
        return now
    until = member.leased_until if member.state is IdentityState.ACTIVE else member.rest_until
    return until or now


def needs_session(member: Member, policy: Policy, now: datetime) -> bool:
    """Whether a session must be issued before it can call: there is none, or its end is near."""
    if policy.identity.kind not in ISSUED:
        return False
    return not (member.token or member.cookies) or _over(member.token_renew_at, now)


def lacks_key(member: Member, policy: Policy) -> bool:
    """Whether the operator still has to give it a key, or name and password."""
    match policy.identity.kind:
        case IdentityKind.API_KEY:
            return not member.token
        case IdentityKind.LOGIN:
            return not member.given
    return False


def likely_left(member: Member, limit: Limit | None, now: datetime) -> int | None:
    """How many calls its bucket should hold by now: for choosing, never a permission. None: as many as you like."""
    if limit is None:
        return None
    if member.quota_left is None or member.last_used_at is None:
        return limit.burst
    seconds = max(0.0, (now - member.last_used_at).total_seconds())
    return int(min(limit.burst, member.quota_left + seconds * limit.rate))


def chosen(
    members: Iterable[Member], calls: int, limit: Limit | None, now: datetime, *, needy: Collection[int] = ()
) -> list[tuple[Member, int]]:
    """Who makes how many of the calls: the healthiest first, among equals the fullest bucket, then the longest unused.

    An identity whose bucket seems empty is asked for one call all the same: the limiter knows better. Those that need a
    session (`needy`) come after those that have one and calls left: a session costs a call that brings no page.
    """

    def rank(member: Member) -> tuple[bool, int, int, float, int]:
        used = 0.0 if member.last_used_at is None else member.last_used_at.timestamp()
        left = likely_left(member, limit, now)
        late = member.id in needy or (bool(needy) and left == 0)
        return late, -member.health, -(left or 0), used, member.id

    found, left = [], calls
    for member in sorted(members, key=rank):
        if left <= 0:
            break
        has = likely_left(member, limit, now)
        share = left if has is None else min(left, max(has, 1))
        found.append((member, share))
        left -= share
    return found


def refilled_at(left: float, limit: Limit, now: datetime) -> datetime | None:
    """When a bucket that holds so much has a token; None: it has one."""
    return now + timedelta(seconds=(1 - left) / limit.rate) if left < 1 else None


def rest(back_off: BackOff, in_a_row: int, asked: timedelta | None, jitter: float) -> timedelta:
    """How long to rest the so-manieth time in a row; never less than they asked for. `jitter`: a share to add."""
    start, most = back_off.start.total_seconds(), back_off.most.total_seconds()
    seconds = start
    for _ in range(in_a_row - 1):
        if seconds >= most or back_off.factor <= 1:
            break
        seconds *= back_off.factor
    own = timedelta(seconds=min(seconds, most))
    return max(own, asked or own) * (1 + jitter)


def place_in_row(count: int, forgiven_at: datetime | None, now: datetime) -> int:
    """The so-manieth trouble in a row one is that comes now, after `count` that are forgotten at `forgiven_at`."""
    return 1 if forgiven_at is not None and now > forgiven_at else count + 1


def released(
    member: Member,
    tally: Tally,
    policy: Policy,
    *,
    now: datetime,
    fresh: bool = False,
    limited_until: datetime | None = None,
    jitter: float = 0.0,
) -> Member:
    """The identity after its lease.

    `fresh`: its session was issued within the lease. `limited_until`: its quota is used up until then.
    """
    after = replace(
        member, state=IdentityState.IDLE, leased_until=None, rest_until=None, health=_health(member.health, tally)
    )
    anonymous = policy.identity.kind is IdentityKind.SESSION
    if (tally.throttled and anonymous) or (tally.refused and policy.identity.kind in ISSUED):
        after = without_session(after)  # a key is not ours to throw away
    if tally.throttled or (fresh and tally.refused):
        # A session that is refused as soon as it is issued would otherwise be issued again with every call.
        return _disabled(after, tally, now, jitter)
    if limited_until is not None and limited_until > now:
        return replace(after, state=IdentityState.RATE_LIMITED, rest_until=limited_until)
    return after


def _disabled(member: Member, tally: Tally, now: datetime, jitter: float) -> Member:
    back_off = tally.back_off or BackOff()
    place = place_in_row(member.throttled_in_a_row, member.forgiven_at, now)
    until = now + rest(back_off, place, tally.retry_after, jitter)
    return replace(
        member,
        state=IdentityState.DISABLED,
        rest_until=until,
        throttled_in_a_row=place,
        last_throttled_at=now,
        # Not from now: a rest longer than the time to forgive would be forgiven before it is over.
        forgiven_at=until + back_off.forgive,
    )


def without_session(member: Member) -> Member:
    """Its session is over; what the operator gave stays."""
    return replace(member, token=None, cookies=marked(member.given), token_expires_at=None, token_renew_at=None)


def marked(given: Mapping[str, str]) -> dict[str, str]:
    """What the operator gave as it is kept among the cookies."""
    return {f"{GIVEN}{name}": value for name, value in given.items()}


def _health(health: int, tally: Tally) -> int:
    """Better with every answer, worse with trouble; calls throttled together are one event."""
    other = tally.failed + tally.refused
    better = min(BEST, health + ON_ANSWER * (tally.answered - tally.failed))
    return max(0, better + (ON_THROTTLE if tally.throttled else 0) + ON_FAILURE * other)
