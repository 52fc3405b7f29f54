"""Quotas: what is used of what markets and malls let us call, and when it runs out at the pace of the last hours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement
from bobusang.stages.collect import roster
from bobusang.stages.collect.counts import day_of
from bobusang.stages.collect.identity import Member, likely_left, limit_of
from bobusang.stages.collect.policy import Policy
from bobusang.stages.collect.roster import Shown
from bobusang.stages.collect.tables import IdentityState
from bobusang.stages.register import accounts, ledger
from bobusang.stages.register.budget import DAY, HOUR, SLOT, Used, slot
from bobusang.stages.register.market import Family
from bobusang.stages.register.model import Account
from bobusang.views.identities import Analytics, IdentityLine, analysed, line

PACE = timedelta(hours=2)
"""How far back the pace is looked for: a run makes its calls in bursts."""

CALLS = Statement("""
    select source, sum(success + failure + retries + throttled) as calls, sum(throttled) as throttled,
      sum(failure) as failed
    from fetch_counts where day >= :day and source in (:sources...) and at >= :since group by source""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Calls against a limit; `pace` is calls an hour, `runs_out_at` None where it lasts at that pace."""

    used: int
    limit: int
    seconds: float
    pace: float
    runs_out_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketQuota:
    """What one of our shops may still call: product calls of 24 hours, and all calls of an hour."""

    market: str
    account: str
    enabled: bool
    day: Quota
    hour: Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """What can be called at once: `left` of `most`, `refill` more an hour."""

    left: int
    most: int
    refill: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMember:
    """An identity and its bucket, if its mall has a quota."""

    identity: IdentityLine
    bucket: Bucket | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MallPool:
    """The identities of a mall: how they fare, their buckets together, calls an hour of late, and when those that can
    be used run out of calls, None where they last."""

    analytics: Analytics
    members: list[PoolMember]
    quota_calls: int | None
    quota_seconds: float | None
    bucket: Bucket | None
    pace: float
    throttled: int
    failed: int
    runs_out_at: datetime | None


async def markets(tx: Tx) -> list[MarketQuota]:
    """The budgets of all our shops."""
    used = await ledger.all_used(tx)
    return [_market(account, used.get(account.id, Used({})), tx.now) for account in await accounts.every(tx)]


def _market(account: Account, used: Used, now: datetime) -> MarketQuota:
    budget = account.policy.budget
    counted = frozenset(Family) if budget.stock_counts else frozenset({Family.PRODUCT})
    return MarketQuota(
        market=account.market,
        account=account.name,
        enabled=account.enabled,
        day=quota(used, counted, budget.day, DAY, now),
        hour=quota(used, frozenset(Family), budget.hour, HOUR, now),
    )


def quota(used: Used, families: frozenset[Family], limit: int, span: timedelta, now: datetime) -> Quota:
    """What is used within a span that moves on: old calls fall out of it while new ones come in."""
    calls: dict[datetime, int] = {}
    for (at, family), count in used.calls.items():
        if family in families:
            calls[at] = calls.get(at, 0) + count
    lately = sum(count for at, count in calls.items() if at >= slot(now - PACE))
    within = used.within(span, now, families)
    return Quota(
        used=within,
        limit=limit,
        seconds=span.total_seconds(),
        pace=lately / (PACE / HOUR),
        runs_out_at=now if within >= limit else _full_at(calls, lately / (PACE / SLOT), limit, span, now),
    )


def _full_at(calls: Mapping[datetime, int], pace: float, limit: int, span: timedelta, now: datetime) -> datetime | None:
    """The first slot in which the limit is reached, slot by slot for a whole span; later nothing changes any more."""
    first, here = slot(now - span), slot(now)
    total = float(sum(count for at, count in calls.items() if at >= first))
    for step in range(1, ceil(span / SLOT) + 1) if pace else ():
        total += pace - calls.get(first + (step - 1) * SLOT, 0)
        if total >= limit:
            return here + step * SLOT
    return None


async def pools(tx: Tx, policies: Mapping[str, Policy]) -> list[MallPool]:
    """The identities of all malls, or of those whose policies are given where others have none."""
    found: dict[str, list[tuple[Shown, Member]]] = {}
    for shown, member in await roster.members(tx):
        found.setdefault(shown.source, []).append((shown, member))
    lately = await _lately(tx, sorted(found), policies)
    return [
        _pool(name, members, policies.get(name), lately.get(name, (0, 0, 0)), tx.now) for name, members in found.items()
    ]


async def _lately(tx: Tx, names: Sequence[str], policies: Mapping[str, Policy]) -> dict[str, tuple[int, int, int]]:
    """Calls of the last hours, and how many of them were throttled or failed."""
    if not names:
        return {}
    since = tx.now - PACE
    zones = {policies[name].window.zone for name in names if name in policies} | {"UTC"}
    day = min(day_of(since, zone) for zone in zones)
    rows = await tx.fetch(CALLS, day=day, sources=list(names), since=since)
    return {row["source"]: (int(row["calls"]), int(row["throttled"]), int(row["failed"])) for row in rows}


def _pool(
    name: str,
    members: Sequence[tuple[Shown, Member]],
    policy: Policy | None,
    lately: tuple[int, int, int],
    now: datetime,
) -> MallPool:
    quota = policy.identity.quota if policy else None
    told = [PoolMember(identity=line(shown), bucket=_bucket(member, policy, now)) for shown, member in members]
    usable = [one.bucket for one in told if one.bucket and one.identity.state is not IdentityState.DISABLED]
    whole = None
    if quota is not None:
        left, most = sum(one.left for one in usable), sum(one.most for one in usable)
        whole = Bucket(left=left, most=most, refill=sum(one.refill for one in usable))
    pace = lately[0] / (PACE / HOUR)
    return MallPool(
        analytics=analysed(name, [shown for shown, _ in members]),
        members=told,
        quota_calls=quota.calls if quota else None,
        quota_seconds=quota.per.total_seconds() if quota else None,
        bucket=whole,
        pace=pace,
        throttled=lately[1],
        failed=lately[2],
        runs_out_at=_empty_at(whole, pace, now) if whole else None,
    )


def _bucket(member: Member, policy: Policy | None, now: datetime) -> Bucket | None:
    quota = policy.identity.quota if policy else None
    if quota is None:
        return None
    limit = limit_of(quota)
    left = likely_left(member, limit, now)
    assert left is not None
    return Bucket(left=max(0, left), most=limit.burst, refill=limit.rate * 3600)


def _empty_at(bucket: Bucket, pace: float, now: datetime) -> datetime | None:
    """When calls come faster than they are given back; None: they do not."""
    loss = pace - bucket.refill
    return now + timedelta(hours=bucket.left / loss) if loss > 0 else None
