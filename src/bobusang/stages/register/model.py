"""What REGISTER takes and keeps: the wanted listing, the draft of it as a market sees it, and the listing itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from bobusang.kit.money import Money


class Axis(StrEnum):
    """What an option is an option of."""

    COLOR = "color"
    SIZE = "size"


class Stock(StrEnum):
    """What we can say of a variant; UNKNOWN keeps what the market has."""

    IN_HAND = "in_hand"
    TO_ORDER = "to_order"
    OUT = "out"
    UNKNOWN = "unknown"


class State(StrEnum):
    """Where a listing stands; only what the market itself has called public is LIVE.

    NEW ─▶ SENT ─▶ LIVE ⇄ SOLD_OUT, SUSPENDED (by our stock), BLOCKED (by the market) ─▶ DELETED, REMOVED (by them)
             ├──▶ DRAFT, IN_REVIEW, NOT_APPROVED
             └──▶ REJECTED (never was there)
    """

    NEW = "NEW"
    SENT = "SENT"
    REJECTED = "REJECTED"
    DRAFT = "DRAFT"
    IN_REVIEW = "IN_REVIEW"
    NOT_APPROVED = "NOT_APPROVED"
    LIVE = "LIVE"
    SOLD_OUT = "SOLD_OUT"
    SUSPENDED = "SUSPENDED"
    BLOCKED = "BLOCKED"
    DELETED = "DELETED"
    REMOVED = "REMOVED"


class Detail(msgspec.Struct, frozen=True):
    """One measurement of a size."""

    key: str
    value: str


class Option(msgspec.Struct, frozen=True):
    """One colour or size: matched by the source's code, then its text, never by the market's wording."""

    axis: Axis
    code: str
    text: str
    market_text: str
    master_id: int = 0
    details: tuple[Detail, ...] = ()

    @property
    def key(self) -> str:
        return self.code or self.text


class Variant(msgspec.Struct, frozen=True):
    """One cell of the grid, named by the keys of its options ('' where the product has no such axis)."""

    color: str
    size: str
    stock: Stock
    count: int | None = None


class Draft(msgspec.Struct, frozen=True):
    """A listing as it should be on the market, complete; money in the market's own minor units."""

    name: str
    comments: str
    brand_id: int
    category_id: int
    price: int
    available_until: date
    buying_area: str
    shipping_area: str
    shipping_methods: tuple[int, ...]
    images: tuple[str, ...]
    options: tuple[Option, ...]
    variants: tuple[Variant, ...]
    order_quantity: int
    brand_name: str = ""
    shop_name: str = ""
    duty: str = ""
    style_numbers: tuple[str, ...] = ()
    size_unit: str = ""
    notes: str = ""

    @property
    def is_sold_out(self) -> bool:
        return all(variant.stock is Stock.OUT for variant in self.variants)


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that the flow knows of a product for one account; what follows is decided from this alone."""

    product_id: int
    sku: str
    name: str
    comments: str
    brand_id: int
    category_id: int
    images: tuple[str, ...]
    options: tuple[Option, ...]
    variants: tuple[Variant, ...]
    price: Money | None
    floor: Money | None
    ceiling: Money | None
    brand_name: str = ""
    style_numbers: tuple[str, ...] = ()
    size_unit: str = ""
    notes: str = ""
    mall: str = ""
    goods: str = ""
    """Brand and model number, alike for the same goods of every mall; empty: nobody can tell."""
    quote: str = ""
    """Which quote explains the price."""
    is_known: bool = True
    """False: nobody looked at the product, so that only what limits the listing itself is followed."""
    seen_at: datetime | None = None
    changed_at: datetime | None = None
    decided_at: datetime | None = None
    outdated: str = ""
    """Why its price is not sent any more: nothing goes out but what can no longer be delivered."""


class Caution(msgspec.Struct, frozen=True):
    """How much may change before a person is asked; percent and shares of 100."""

    step: int = 30
    """A price moves at most so many percent in one send …"""
    day: int = 50
    """… and so many in a day, from where it stood."""
    closed: int = 10
    """Of the live listings of an account, at most so many percent are closed in a run (and in a day)."""
    changed: int = 60
    few: int = 5
    """So many are always allowed: a shop of ten may lose one."""


class Budget(msgspec.Struct, frozen=True):
    """What a market lets an account call, and how much of it each kind of change may use (percent)."""

    hour: int = 5_000
    day: int = 2_500
    stock_counts: bool = False
    """Whether stock calls count as product calls; nobody has seen it written."""
    shares: tuple[int, ...] = (100, 95, 85, 75, 60)
    """By urgency, most urgent first: what is left over is kept for what is more urgent."""


class Unseen(msgspec.Struct, frozen=True):
    """What becomes of a live listing whose source nobody has seen (docs/adr/0029); hours, and 0 for never."""

    told: int = 48
    """After so long people are told, …"""
    capped: int = 24
    """… so long after that at most `cap` can be ordered, …"""
    suspended: int = 240
    """… and so long after they were told nothing, until it is seen again."""
    cap: int = 1


class Policy(msgspec.Struct, frozen=True):
    """How an account sells: what its settings may change."""

    caution: Caution = Caution()
    budget: Budget = Budget()
    most: int = 3
    """Never offer more of one product than this: a wrong hour must not make ninety orders."""
    days: int = 89
    """How far ahead a listing ends …"""
    extend: int = 14
    """… and how many days before that it is extended."""
    patience: timedelta = timedelta(minutes=30)
    """How long the market's verdict is waited for before the same is sent again."""
    sends: int = 4
    """After so many without a verdict a person is asked."""
    price_hours: int = 6
    """How long a price that was decided may wait before it is sent, and 0 for ever: longer than a call is sent again,
    shorter than what it was made of (rates, rivals, the mall) is sure to have stayed."""
    doubles: bool = False
    """Whether the same goods of two malls may both be on sale."""
    unseen: Unseen = Unseen()


@dataclass(frozen=True, slots=True)
class Account:
    """Our shop on a market; secrets are named, never held."""

    id: int
    market: str
    name: str
    buying_area: str
    shipping_area: str
    shipping_methods: tuple[int, ...]
    shop_name: str = ""
    seller_name: str = ""
    """What buyers are shown as the seller; empty: the account's own name."""
    shipping_charge: int | None = None
    """What buyers pay for the cheapest of the shipping methods, in the market's minor units; None: nobody has said."""
    duty: str = ""
    fee_tier: str = ""
    token_ref: str = ""
    secret_ref: str = ""
    enabled: bool = True
    stopped_why: str = ""
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the market last refused this listing, and what must change before it is tried again."""

    cause: str
    digest: str
    until: datetime | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """A product on a market for an account, as far as we know."""

    id: int
    account_id: int
    product_id: int
    sku: str = ""
    reference: str = ""
    market_id: str = ""
    state: State = State.NEW
    confirmed: Draft | None = None
    """What the market has confirmed, with our option codes and its own numbers."""
    market_updated: str = ""
    """The market's own time of its last word: older words do not win."""
    told_at: datetime | None = None
    """When we heard it, by our own clock."""
    shipping_charge: int | None = None
    """What buyers pay for shipping beside the price, in the market's own words; None: it has not said."""
    open_call: int | None = None
    refusal: Refusal | None = None
    day_price: int | None = None
    """The price with which `day` began."""
    day: date | None = None
    closed_at: datetime | None = None
    """Since when a person does not want it on sale."""
    unseen_at: datetime | None = None
    """Since when people know that nobody has seen its source for long."""
    is_retired: bool = False
    """Its product began anew: it is closed, for good, and another listing follows it (docs/adr/0036)."""
