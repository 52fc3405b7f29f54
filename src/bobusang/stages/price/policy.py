"""How an account prices on a market: margins, undercut, limits and tolerances, as data with careful defaults."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

import msgspec

from bobusang.kit import money
from bobusang.kit.errors import Invalid


class MarginBasis(StrEnum):
    """A margin of what? The same 20 % is two different floors."""

    REVENUE = "revenue"  # profit / price
    COST = "cost"  # profit / all costs that do not depend on the price, "markup" to some


class Beaten(StrEnum):
    """Where to stand when the lowest offer lies below our floor."""

    FLOOR = "floor"
    TARGET = "target"


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one account; rates are decimal text (`"0.05"` is 5 %), amounts are minor units of `currency`."""

    currency: str = "JPY"
    price_step: int = 1

    basis: MarginBasis = MarginBasis.REVENUE
    least_margin: Decimal | None = Decimal("0.05")
    """Makes the floor; blank means no price."""
    target_margin: Decimal = Decimal("0.20")
    most_margin: Decimal | None = Decimal("0.45")
    """Makes the ceiling; blank means no price."""

    route: str = "KR-JP"
    country: str = "JP"
    pays_duty: bool = True
    """False where the buyer pays duty and tax at the door."""
    unknown_weight_grams: int | None = 1_500
    """What an unweighed product is taken to weigh; None: it has no price."""
    refunds_vat: bool = False
    """Only with zero-rating evidence for each purchase."""
    vat_refund: str = "1/11"
    cancel_rate: Decimal = Decimal("0.01")
    """How many of our orders end in a purchase that nobody pays for."""

    undercut: int = 5
    band_nearest: int = 1
    band_farthest: int = 9
    """A total that is this much below the lowest offer wins already: it is left alone."""
    hold_rate: Decimal = Decimal("0.005")
    """Where nobody is undercut, a smaller difference is not worth a call."""
    stop_loss: Decimal = Decimal("0.05")
    """Never further than this below the lowest offer."""
    beaten: Beaten = Beaten.FLOOR
    rival_age_hours: int = 72
    """An older search result says nothing any more."""

    step_down: Decimal = Decimal("0.10")
    step_up: Decimal = Decimal("0.05")
    day_down: Decimal = Decimal("0.20")
    day_up: Decimal = Decimal("0.15")
    jump_down: Decimal = Decimal("0.50")
    jump_up: Decimal = Decimal("1.00")
    """A wish that is further away is not approached by steps but held, and so is a floor."""

    fx_age_hours: int = 36

    @property
    def fx_age(self) -> timedelta:
        return timedelta(hours=self.fx_age_hours)

    @property
    def rival_age(self) -> timedelta:
        return timedelta(hours=self.rival_age_hours)

    @property
    def refund_share(self) -> Fraction:
        return Fraction(self.vat_refund)


CAREFUL = Policy()

_SHARES = (
    "target_margin",
    "cancel_rate",
    "hold_rate",
    "stop_loss",
    "step_down",
    "step_up",
    "day_down",
    "day_up",
    "jump_down",
    "jump_up",
)


def checked(policy: Policy) -> Policy:
    """The policy, unless it says something that would price wrongly; blank margins pass, for they only hold."""
    money.currency(policy.currency)
    for name in _SHARES:
        value = getattr(policy, name)
        if not value.is_finite() or value < 0 or (value >= 1 and name not in ("step_up", "day_up", "jump_up")):
            raise _wrong(name, f"is {value}", "a share of 1, such as 0.05 for 5 %")
    if policy.price_step < 1:
        raise _wrong("price_step", f"is {policy.price_step}", "at least one minor unit")
    if policy.undercut < policy.price_step:
        raise _wrong("undercut", f"{policy.undercut} is less than a step of {policy.price_step}", "at least one step")
    if not 0 < policy.band_nearest <= policy.undercut <= policy.band_farthest:
        raise _wrong("band_nearest", "and band_farthest do not enclose the undercut", "nearest ≤ undercut ≤ farthest")
    try:
        share = policy.refund_share
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share < 1:
        raise _wrong("vat_refund", f"is {policy.vat_refund!r}", "a fraction below 1, such as 1/11")
    return policy


def _wrong(field: str, what: str, hint: str) -> Invalid:
    return Invalid(f"the price policy's {field} {what}", hint=hint, field=field)
