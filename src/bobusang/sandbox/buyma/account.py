"""Who sells at the sandbox's BUYMA, how the market behaves, and how many calls it takes."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Sequence

METHODS = {888: 0, 889: 1500, 890: 2800}
"""Shipping method → its fee in yen."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Account(msgspec.Struct, forbid_unknown_fields=True):
    """A seller with an app: its token, and where and with which secret webhooks are sent."""

    token: str = "sandbox-token"  # noqa: S105 - the sandbox's, which everybody may know
    secret: str = "sandbox-client-secret"  # noqa: S105
    webhook_url: str = ""
    seller_id: int = 1_234_567
    seller_name: str = "bobusang"
    methods: dict[int, int] = msgspec.field(default_factory=METHODS.copy)


class Behaviour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be set of the market. What the facts leave open is a choice here."""

    delay: float = 1.0
    """Seconds from the answer to the effect and its webhook; minutes in truth."""
    stock_delay: float | None = None
    """The same for stock calls, which then no longer wait for the product calls before them: seconds to minutes in
    truth, so that one may be done first that was sent last. None: in one row with product calls."""
    answer_seconds: float = 5.0
    """How long a receiver may take."""
    retries: int = 5
    retry_seconds: float = 2.0
    hour_limit: int = 5000
    """Calls in an hour, 0: any number."""
    day_limit: int = 2500
    """Product calls in 24 hours, 0: any number."""
    stock_counts: bool = False
    """Whether a stock call is a product call."""
    uid_in_success: bool = False
    """Whether a webhook of success names the request."""
    suspends: bool = True
    """Whether `suspend` is taken."""
    now: datetime | None = None
    """The market's time at hour 0 of the world; without it, the time of this machine."""

    def __post_init__(self) -> None:
        if min(self.hour_limit, self.day_limit) < 0:
            raise Invalid("a limit is a number of calls", hint="0 takes any number", field="market_limits")

    def lane(self, key: str, *, stock: bool) -> tuple[str, float]:
        """Where a call about this waits for its effect, and for how many seconds."""
        if not stock or self.stock_delay is None:
            return key, self.delay
        return f"{key} stock", self.stock_delay


class Budget:
    """Counts one seller's calls in sliding windows."""

    def __init__(self) -> None:
        self.calls: deque[datetime] = deque()
        self.products: deque[datetime] = deque()
        self.counted = (0, 0)
        """How many of each were ever counted."""

    def take(self, now: datetime, behaviour: Behaviour, *, product: bool) -> bool:
        """Whether this call is still within the limits; then it is counted."""
        _drop(self.calls, now - HOUR)
        _drop(self.products, now - DAY)
        if behaviour.hour_limit and len(self.calls) >= behaviour.hour_limit:
            return False
        if product and behaviour.day_limit and len(self.products) >= behaviour.day_limit:
            return False
        self.count([now] if behaviour.hour_limit else [], [now] if product and behaviour.day_limit else [])
        return True

    def count(self, calls: Sequence[datetime], products: Sequence[datetime]) -> None:
        """So many calls were made, at these times."""
        self.calls.extend(calls)
        self.products.extend(products)
        self.counted = (self.counted[0] + len(calls), self.counted[1] + len(products))

    def used(self) -> dict[str, int]:
        """Calls of the hour, and product calls of the day."""
        return {"hour": len(self.calls), "day": len(self.products)}


def _drop(calls: deque[datetime], before: datetime) -> None:
    while calls and calls[0] <= before:
        calls.popleft()
