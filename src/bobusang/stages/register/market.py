"""The market contract: what a market accepts, how a change is asked of it, and what its answers and webhooks mean.

`put`, `stock` and `withdraw` only write the request: it is stored as the intent (first commit), then `send` sends
exactly that, and the answer is stored (second commit).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime, timedelta

    from bobusang.stages.register.model import Draft, State


class Family(StrEnum):
    """Which of a market's budgets a call uses."""

    PRODUCT = "product"
    STOCK = "stock"


class Cause(StrEnum):
    """Who must act before the same is sent again."""

    DATA = "data"
    MAPPING = "mapping"
    OUTAGE = "outage"
    PERMANENT = "permanent"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a draft: where, in the market's words, and in plain ones."""

    field: str
    said: str
    cause: Cause
    words: str


@dataclass(frozen=True, slots=True)
class Key:
    """How the market finds the product: our reference, and its own id once we know it."""

    reference: str
    market_id: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One call, ready to be sent: the body is exactly what is stored and shown."""

    family: Family
    path: str
    body: str


# --- answers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Accepted:
    """They took it; whether it worked is told later (law 2)."""

    request_uid: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """They will not take it."""

    problems: tuple[Problem, ...]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have arrived: no answer, or a fault of theirs."""

    reason: str


@dataclass(frozen=True, slots=True)
class Later:
    """Not taken now: too many calls."""

    reason: str
    rest: timedelta


@dataclass(frozen=True, slots=True)
class Shut:
    """They do not want us: nothing more is sent from this account until a person looks."""

    reason: str


Reply = Accepted | Refused | Unknown | Later | Shut


# --- webhooks -------------------------------------------------------------------------------------------------------


class Word(StrEnum):
    """What a webhook is about."""

    STANDS = "stands"  # a product as it is now
    FAILED = "failed"  # a request came to nothing
    OTHER = "other"  # not for this stage


@dataclass(frozen=True, slots=True)
class Notice:
    """What a webhook says."""

    word: Word
    event: str
    market_id: str = ""
    reference: str = ""
    request_uid: str = ""
    status: str = ""
    updated: str = ""
    """The market's own time as UTC text of one width, so that text order is time order; '' without one."""
    product: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    shipping_charge: int | None = None
    """What buyers pay for the cheapest shipping beside the price, in minor units; None: it does not say."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that the market has otherwise than we sent it."""

    field: str
    sent: Any
    stands: Any


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a market can do, as data."""

    currency: str
    zone: str
    longest_days: int
    frozen: frozenset[str]
    """Fields of a draft that cannot be changed once published."""
    states: Mapping[str, State]
    event_header: str = ""
    """The header, in lower case, that names a webhook's event."""


class Market(Protocol):
    """A market writes, so it is handed a transport when it is made."""

    @property
    def name(self) -> str: ...

    @property
    def abilities(self) -> Abilities: ...

    def check(self, draft: Draft, today: date) -> tuple[Problem, ...]:
        """What the market would refuse."""
        ...

    def put(self, draft: Draft, key: Key) -> Request:
        """Publish the product, or edit what is there."""
        ...

    def stock(self, draft: Draft, key: Key) -> Request:
        """Say the stock of every variant, and nothing else."""
        ...

    def withdraw(self, key: Key) -> Request:
        """Delete the product; stock 0 is nearly always better."""
        ...

    async def send(self, request: Request, token: str, timeout: timedelta) -> Reply:
        """Send it once."""
        ...

    def page(self, market_id: str) -> str:
        """Where a buyer sees the product."""
        ...

    def genuine(self, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether the market signed exactly these bytes."""
        ...

    def notice(self, headers: Mapping[str, str], body: bytes) -> Notice:
        """What a webhook says; `Invalid` if it cannot be read."""
        ...

    def differences(self, body: str, stands: Mapping[str, Any]) -> tuple[Difference, ...]:
        """Where the product as it stands is not what a request asked for, among what the request names."""
        ...

    def corrected(self, draft: Draft, stands: Mapping[str, Any]) -> Draft:
        """The draft with the market's own price, name, stock and end date in place of ours."""
        ...


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A stored intent that one worker may send now; the token is its right to."""

    call_id: int
    token: int
    request: Request
    until: datetime
    """After this somebody else may think us dead."""
