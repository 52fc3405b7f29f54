"""What the price stage takes and gives: what is wanted, what is known, and a quote, a keep or a hold with its steps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - msgspec reads the annotations
from enum import StrEnum
from fractions import Fraction  # noqa: TC003

from bobusang.kit.money import Money  # noqa: TC001

RULES = "3"
"""The version of the rules, kept with every quote; to be raised with any change of what they decide."""


class Decision(StrEnum):
    """What came of pricing."""

    QUOTE = "QUOTE"
    KEEP = "KEEP"
    HOLD = "HOLD"


class Reason(StrEnum):
    """Why a price is what it is, stays, or is not there."""

    UNDERCUT = "undercut"  # below the lowest comparable offer
    NO_RIVAL = "no_rival"  # nobody else sells it: the target margin
    NOT_COMPARABLE = "not_comparable"  # others are shown, and nobody knows whether they sell it
    BEATEN = "beaten"  # the lowest offer lies below our floor
    CAPPED = "capped"  # the ceiling is what we may ask
    COST_ROSE = "cost_rose"  # the old price would lie below the floor
    STEP = "step"  # on the way, as far as one step or one day allows

    IN_BAND = "in_band"  # already where it should be, or so near that a call is not worth it
    FX_STALE = "fx_stale"  # no way down while nobody knows the rate
    SEARCH_FAILED = "search_failed"  # unknown is not "no rival"
    DAY_LIMIT = "day_limit"
    NO_RAISE = "no_raise"  # the fast loop never raises

    NO_COST = "no_cost"
    DUTY_UNCLEAR = "duty_unclear"  # buyers are told another story of duty than the cost tells
    NO_RATE = "no_rate"  # a row of a fee, freight, duty or tax table is missing
    NO_FX = "no_fx"
    FX_JUMP = "fx_jump"
    NO_FLOOR = "no_floor"
    NO_CEILING = "no_ceiling"
    FLOOR_ABOVE_CEILING = "floor_above_ceiling"
    NOT_SEARCHED = "not_searched"
    FLOOR_TOO_FAR = "floor_too_far"  # a jump away: perhaps the cost is wrong
    CEILING_TOO_FAR = "ceiling_too_far"
    JUMP = "jump"  # a move that nobody makes on purpose


class Search(StrEnum):
    """How the last search for offers ended; NEVER: there has been none that can still be believed."""

    FOUND = "FOUND"
    EMPTY = "EMPTY"
    UNCLEAR = "UNCLEAR"
    FAILED = "FAILED"
    NEVER = "NEVER"


class FxState(StrEnum):
    """Whether a rate may be used; a HELD one waits for a person."""

    TRUSTED = "TRUSTED"
    HELD = "HELD"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A product that is to have a price on a market for an account."""

    product_id: int
    sku: str
    market: str
    account: str
    purchase: Money | None
    """What our own account pays at the source; None or nothing: no price."""
    tier: str = ""
    category: str = ""
    """A path like `clothing/tops`: rows for `clothing` are meant too."""
    material: str = ""
    construction: str = ""
    weight_grams: int | None = None
    model: str = ""
    current: Money | None = None
    """The price that the market has confirmed; None when it is not listed."""
    shipping: Money | None = None
    """What the buyer pays us for the cheapest delivery, beside the price."""
    resale_floor: Money | None = None
    """The least price that the supplier allows, in his own currency."""
    duty_included: bool | None = None
    """Whether buyers are told that we pay duty; None: they are told nothing."""
    may_raise: bool = True
    """False in the fast loop; a price below the floor is raised all the same."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What somebody asks for a product on a market."""

    price: Money
    shipping: Money | None
    seller: str
    is_used: bool = False
    model: str = ""
    condition: str = ""
    title: str = ""
    id: str = ""
    """The market's own number of it; empty where the page shows none."""


@dataclass(frozen=True, slots=True)
class Rival:
    """The lowest comparable offer of a model, as far as the last searches tell."""

    search: Search
    total: Money | None = None
    seller: str = ""
    title: str = ""
    offers: int = 0
    comparable: int = 0
    found_at: datetime | None = None
    """When a search last succeeded."""


@dataclass(frozen=True, slots=True)
class FxQuote:
    """So many `quote` for one `base`, in the words of a source at an instant, and what a bank takes of it."""

    base: str
    quote: str
    rate: str
    source: str
    quoted_at: datetime
    spread: str = "0"
    state: FxState = FxState.TRUSTED
    id: int = 0


@dataclass(frozen=True, slots=True)
class Fx:
    """What is known of a pair: the last trusted rate, and whether a newer one waits for a person."""

    quote: FxQuote | None = None
    held: FxQuote | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a price: what, how much in its own and in the market's currency, and where that comes from."""

    name: str
    amount: Money | None
    local: Money | None
    basis: str
    source: str = ""
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Lately:
    """The highest and the lowest price of the last 24 hours."""

    highest: Money
    lowest: Money


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between what a price may lie, on the market's step and exact before it."""

    floor: int
    ceiling: int
    target: Fraction


@dataclass(frozen=True, slots=True)
class Quote:
    """A price to be sent."""

    price: Money
    reason: Reason
    floor: Money
    ceiling: Money
    steps: tuple[Step, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Keep:
    """The price stays as the market has it."""

    price: Money
    reason: Reason
    floor: Money
    ceiling: Money
    steps: tuple[Step, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Hold:
    """No price until something is mended; `is_below_floor`: what is live sells at a loss meanwhile."""

    reason: Reason
    detail: str
    steps: tuple[Step, ...] = ()
    floor: Money | None = None
    ceiling: Money | None = None
    is_below_floor: bool = False


Priced = Quote | Keep | Hold
