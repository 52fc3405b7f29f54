"""What a subscriber's answers mean for its events and keys: pure."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.platform.bus import Delivered, Hold, Pause, Reject, Retry, Untried, brief

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from bobusang.platform.bus import Event, Outcome, Patience
    from bobusang.platform.deliveries import Claim

HOLD_BASE = 1.0
HOLD_CAP = 300.0


@dataclass(slots=True)
class Settlement:
    """What to write about one claim."""

    delivered: list[int] = field(default_factory=list)
    failed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    dead: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    waiting: dict[datetime, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Keys that are put off; grouped, so that a thousand failures are a few statements."""
    hold: Hold | None = None
    pause: Pause | None = None

    @property
    def delayed(self) -> set[str]:
        """The keys that are put off."""
        return {key for keys in self.waiting.values() for key in keys}


def settled(
    claim: Claim, outcomes: Sequence[Outcome], owned: Collection[str], patience: Patience, now: datetime
) -> Settlement:
    """Sort the outcomes of the keys still owned; behind its first failure a key's answers count only if delivered."""
    result = Settlement()
    stopped: set[str] = set()
    delays: dict[tuple[int, timedelta | None], datetime] = {}
    for event, outcome in zip(claim.events, outcomes, strict=True):
        if event.key not in owned:
            continue
        if isinstance(outcome, Delivered):
            result.delivered.append(event.id)
        elif event.key not in stopped and not _goes_on(result, event, outcome, claim, patience):
            stopped.add(event.key)
            if isinstance(outcome, Retry):
                reason = (claim.attempts[event.id] + 1, outcome.after)
                at = delays.setdefault(reason, now + (outcome.after or patience.delay(reason[0])))
                result.waiting[at].append(event.key)
    return result


def _goes_on(result: Settlement, event: Event, outcome: Outcome, claim: Claim, patience: Patience) -> bool:
    """Note it; may the key's next event be sent?"""
    match outcome:
        case Reject(error):
            result.dead[brief(error)].append(event.id)
            return True
        case Retry(error) if claim.attempts[event.id] + 1 >= patience.attempts:
            result.dead[brief(error)].append(event.id)
            return True
        case Retry(error):
            result.failed[brief(error)].append(event.id)
        case Hold():
            result.hold = result.hold or outcome
        case Pause():
            result.pause = result.pause or outcome
        case Delivered() | Untried():
            pass
    return False


def held_until(hold: Hold, failures: int, now: datetime) -> datetime:
    """When to knock again: when it said, else doubling from a second to five minutes."""
    if hold.until is not None:
        return hold.until
    seconds = min(HOLD_CAP, HOLD_BASE * 2.0 ** min(failures, 20))
    return now + timedelta(seconds=seconds * random.uniform(0.75, 1.0))
