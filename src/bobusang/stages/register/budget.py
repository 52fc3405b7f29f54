"""The call budget: what an account may still call now, by urgency, so that a stock-out always finds a call left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.stages.register.market import Family

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.stages.register.diffing import Urgency
    from bobusang.stages.register.model import Budget

SLOT = timedelta(minutes=5)
HOUR, DAY = timedelta(hours=1), timedelta(hours=24)


def slot(now: datetime) -> datetime:
    """The slot of the ledger that an instant falls in."""
    seconds = int(now.timestamp())
    return datetime.fromtimestamp(seconds - seconds % int(SLOT.total_seconds()), UTC)


@dataclass(frozen=True, slots=True)
class Used:
    """Calls by slot and family, of the last day."""

    calls: Mapping[tuple[datetime, Family], int]
    lease: timedelta = timedelta()
    """How long after it was booked a call may still be sent."""

    def since(self, span: timedelta, now: datetime) -> datetime:
        """The first slot of which a call may have been sent within the span."""
        return slot(now - span - self.lease)

    def within(self, span: timedelta, now: datetime, families: frozenset[Family]) -> int:
        """How many were perhaps sent in the span; a slot that is partly older counts whole, and so does one whose last
        calls were sent when it was over already: the limit is never exceeded."""
        first = self.since(span, now)
        return sum(count for (at, family), count in self.calls.items() if at >= first and family in families)


def admitted(budget: Budget, used: Used, now: datetime, asked: Sequence[tuple[Urgency, Family]]) -> tuple[bool, ...]:
    """Which of these may be called now, the most urgent first; one answer each, in the order asked."""
    product = _product(budget)
    hour = used.within(HOUR, now, frozenset(Family))
    day = used.within(DAY, now, product)
    found = [False] * len(asked)
    for place, (urgency, family) in sorted(enumerate(asked), key=lambda item: item[1][0]):
        share = budget.shares[urgency]
        in_day = family not in product or (day + 1) * 100 <= budget.day * share
        if (hour + 1) * 100 <= budget.hour * share and in_day:
            found[place] = True
            hour += 1
            day += family in product
    return tuple(found)


def free_at(budget: Budget, used: Used, now: datetime, urgency: Urgency, family: Family) -> datetime:
    """When a call of this kind fits again, if nobody else calls: the oldest slots fall out of the span first."""
    share = budget.shares[urgency]
    waits = [_falls(used, now, HOUR, frozenset(Family), budget.hour * share // 100)]
    if family in _product(budget):
        waits.append(_falls(used, now, DAY, _product(budget), budget.day * share // 100))
    return max(waits)


def _falls(used: Used, now: datetime, span: timedelta, families: frozenset[Family], most: int) -> datetime:
    count = used.within(span, now, families)
    if count < most:
        return now
    slots = sorted((at, calls) for (at, family), calls in used.calls.items() if family in families)
    for at, calls in slots:
        if at < used.since(span, now):
            continue
        count -= calls
        if count < most:
            return at + span + SLOT + used.lease
    return now + span


def _product(budget: Budget) -> frozenset[Family]:
    return frozenset(Family) if budget.stock_counts else frozenset({Family.PRODUCT})
