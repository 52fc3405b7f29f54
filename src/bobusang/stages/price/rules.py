"""The price decision: from what is known and a policy to a quote, a keep or a hold; pure.

floor ≤ price ≤ ceiling always; towards the wish in steps, and down only while the rate is known:

wish  = below the lowest comparable offer · the target margin when a search proved that there is none
        · where offers cannot be compared, the target margin for what is new, and no move for what is listed
moves = at most a step and a day's share from the confirmed price · none inside the band that wins already
loss  = from below the floor to the floor at once, however many steps that is: only a jump waits for a person
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from bobusang.kit.money import Money, Rounding, rounded
from bobusang.stages.price import fx as exchange
from bobusang.stages.price.cost import Cost, share, stack
from bobusang.stages.price.model import Bounds, Hold, Keep, Quote, Reason, Rival, Search, Step
from bobusang.stages.price.policy import Beaten

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime
    from decimal import Decimal

    from bobusang.stages.price.model import Fx, Lately, Priced, Wanted
    from bobusang.stages.price.policy import Policy
    from bobusang.stages.price.rates import Rates

NEVER = Rival(Search.NEVER)


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a price depends on, beside the policy and the time."""

    wanted: Wanted
    rates: Rates
    day: date
    """The market's own: the rows that hold are those of its day."""
    fx: Mapping[str, Fx] = field(default_factory=dict)
    """By the currency that is turned into the market's."""
    rival: Rival = NEVER
    lately: Lately | None = None


@dataclass(frozen=True, slots=True)
class _Wish:
    """Where the price should be, and why; None: where it is."""

    price: Fraction | None
    reason: Reason
    detail: str = ""
    band: tuple[Fraction, Fraction] | None = None
    """Prices that are as good as the wish."""


def decide(facts: Facts, policy: Policy, now: datetime) -> Priced:
    """The price of one product for one account."""
    cost = stack(facts.wanted, facts.rates, facts.fx, policy, facts.day)
    if isinstance(cost, Hold):
        return cost
    bounds = bounded(cost, policy)
    if isinstance(bounds, Hold):
        current, floor = _current(facts, policy), bounds.floor
        below = current is not None and floor is not None and current < floor.amount_minor
        return replace(bounds, steps=(*cost.steps, _held(bounds)), is_below_floor=below)
    found = _Deciding(facts, policy, now, cost, bounds).found()
    return replace(found, steps=(*cost.steps, *_ending(cost, bounds, facts, policy, found)))


def bounded(cost: Cost, policy: Policy) -> Bounds | Hold:
    """Floor and ceiling on the market's step, each rounded to its safe side; blank, 0, negative and NaN are none."""
    floor = _at(cost, policy.least_margin, policy)
    if floor is None:
        return Hold(Reason.NO_FLOOR, f"a least margin of {policy.least_margin} makes no floor")
    low = on_step(max(floor, cost.least), policy.price_step, Rounding.CEILING)  # the supplier's rule runs last
    least = Money(low, policy.currency)
    ceiling = _at(cost, policy.most_margin, policy)
    if ceiling is None:
        return Hold(Reason.NO_CEILING, f"a most margin of {policy.most_margin} makes no ceiling", floor=least)
    high = on_step(ceiling, policy.price_step, Rounding.FLOOR)
    if low > high:
        most = Money(high, policy.currency)
        return Hold(Reason.FLOOR_ABOVE_CEILING, f"floor {least}, ceiling {most}", floor=least, ceiling=most)
    target = _at(cost, policy.target_margin, policy) or Fraction(low)
    return Bounds(low, high, min(max(target, Fraction(low)), Fraction(high)))


def _current(facts: Facts, policy: Policy) -> int | None:
    """What the market has confirmed, in its own money; 0 is nothing."""
    money = facts.wanted.current
    amount = 0 if money is None else (money - Money(0, policy.currency)).amount_minor
    return amount if amount > 0 else None


def _at(cost: Cost, margin: Decimal | None, policy: Policy) -> Fraction | None:
    if margin is None or not margin.is_finite() or margin < 0:
        return None
    price = cost.price_at(share(margin), policy.basis)
    return price if price is not None and price > 0 else None


def on_step(price: Fraction, step: int, rounding: Rounding) -> int:
    """The price on the market's step."""
    return rounded(price / step, rounding) * step


class _Deciding:
    """One decision; the parts of it that need the same facts."""

    def __init__(self, facts: Facts, policy: Policy, now: datetime, cost: Cost, bounds: Bounds) -> None:
        self.facts, self.policy, self.cost, self.bounds = facts, policy, cost, bounds
        self.now = now
        self.current = _current(facts, policy)
        self.is_stale = any(exchange.is_stale(one, policy.fx_age, now) for one in cost.quotes)

    def found(self) -> Priced:
        wish = self.wish()
        if isinstance(wish, Hold):
            return self.hold(wish.reason, wish.detail)
        if self.current is None:
            return self.first(wish)
        if not self.bounds.floor <= self.current <= self.bounds.ceiling:
            return self.back_inside(wish, self.current)
        if wish.price is None or self.is_near(wish, self.current):
            return self.keep(wish.reason if wish.price is None else Reason.IN_BAND, wish.detail)
        return self.down(wish, self.current) if wish.price < self.current else self.up(wish, self.current)

    def wish(self) -> _Wish | Hold:
        """Where the price should be by what is known of others."""
        rival, wanted = self.facts.rival, self.facts.wanted
        match self._search():
            case Search.FOUND if rival.total is not None:
                return self.against(rival.total)
            case Search.EMPTY:
                return _Wish(self.bounds.target, Reason.NO_RIVAL, "a search found no comparable offer")
            case Search.UNCLEAR:
                said = f"a search showed {rival.offers:,} offers, and none could be compared"
                price = self.bounds.target if self.current is None else None
                return _Wish(price, Reason.NOT_COMPARABLE, said)
            case Search.NEVER if not wanted.model:
                return _Wish(self.bounds.target, Reason.NO_RIVAL, "without a model number nothing is comparable")
            case failed:
                if self.current is None:
                    return Hold(Reason.NOT_SEARCHED, "no search for other offers has succeeded yet")
                word = "has failed" if failed is Search.FAILED else "is missing or too old"
                return _Wish(None, Reason.SEARCH_FAILED, f"the search for other offers {word}")

    def _search(self) -> Search:
        rival = self.facts.rival
        answered = rival.search in (Search.FOUND, Search.EMPTY, Search.UNCLEAR)
        is_old = rival.found_at is None or self.now - rival.found_at > self.policy.rival_age
        return Search.NEVER if answered and is_old else rival.search

    def against(self, rival: Money) -> _Wish:
        """Below the lowest offer, as the buyer counts: with delivery."""
        policy, bounds = self.policy, self.bounds
        total = Fraction((rival - Money(0, policy.currency)).amount_minor)
        ours = self.facts.wanted.shipping
        shipping = (ours - Money(0, policy.currency)).amount_minor if ours else 0
        nearest = min(total * (1 - share(policy.stop_loss)), total - policy.price_step)
        wish = max(total - policy.undercut, nearest) - shipping
        said = f"the lowest comparable offer is {rival}"
        if wish < bounds.floor:
            price = Fraction(bounds.floor) if policy.beaten is Beaten.FLOOR else bounds.target
            return _Wish(price, Reason.BEATEN, f"{said}, below our floor")
        if wish > bounds.ceiling:
            return _Wish(Fraction(bounds.ceiling), Reason.CAPPED, said)
        band = (total - policy.band_farthest - shipping, total - policy.band_nearest - shipping)
        return _Wish(wish, Reason.UNDERCUT, said, band)

    def is_near(self, wish: _Wish, current: int) -> bool:
        """Whether a call would be wasted on the difference."""
        assert wish.price is not None
        if wish.band is not None:
            return wish.band[0] <= current <= wish.band[1]
        return abs(wish.price - current) <= current * share(self.policy.hold_rate)

    def first(self, wish: _Wish) -> Priced:
        """The first price of a listing is never made by a rate that nobody knows any more."""
        assert wish.price is not None
        if self.is_stale:
            return self.hold(Reason.FX_STALE, "the last rate is too old for a first price")
        return self.quote(on_step(wish.price, self.policy.price_step, Rounding.CEILING), wish.reason, wish.detail)

    def back_inside(self, wish: _Wish, current: int) -> Priced:
        """What lies outside floor and ceiling returns at once, or a person is asked; never half the way."""
        policy, bounds = self.policy, self.bounds
        if current < bounds.floor:
            # Steps and days are for moves that we wish: half the way is still a loss with every order.
            if bounds.floor > current * (1 + Fraction(policy.jump_up)):
                return self.hold(Reason.FLOOR_TOO_FAR, f"the floor is more than {policy.jump_up:%} above the price")
            return self.quote(bounds.floor, Reason.COST_ROSE, "the confirmed price lies below the floor")
        if self.is_stale:
            return self.keep(Reason.FX_STALE, "the last rate is too old to go down by")
        lowest = on_step(self.lowest(current), policy.price_step, Rounding.CEILING)
        if lowest > bounds.ceiling:
            return self.hold(Reason.CEILING_TOO_FAR, "the ceiling is further down than a step or a day allows")
        aim = bounds.ceiling if wish.price is None else on_step(wish.price, policy.price_step, Rounding.CEILING)
        return self.quote(
            max(min(aim, bounds.ceiling), lowest), Reason.CAPPED, "the confirmed price is above the ceiling"
        )

    def down(self, wish: _Wish, current: int) -> Priced:
        policy = self.policy
        assert wish.price is not None
        if self.is_stale:
            return self.keep(Reason.FX_STALE, f"{wish.detail}, but the last rate is too old to go down by")
        if wish.price < current * (1 - Fraction(policy.jump_down)):
            return self.hold(Reason.JUMP, f"{wish.detail}; the price would fall by more than {policy.jump_down:%}")
        lowest = self.lowest(current)
        price = on_step(max(wish.price, lowest), policy.price_step, Rounding.CEILING)
        if price >= current:
            return self.keep(Reason.DAY_LIMIT, f"{wish.detail}; today it has fallen enough")
        return self.quote(price, wish.reason if wish.price >= lowest else Reason.STEP, wish.detail)

    def up(self, wish: _Wish, current: int) -> Priced:
        policy = self.policy
        assert wish.price is not None
        if not self.facts.wanted.may_raise:
            return self.keep(Reason.NO_RAISE, wish.detail)
        if wish.price > current * (1 + Fraction(policy.jump_up)):
            return self.hold(Reason.JUMP, f"{wish.detail}; the price would rise by more than {policy.jump_up:%}")
        highest = self.highest(current)
        # Down to the step: a wish just below a rival must not be rounded past him, nor past the limit.
        price = on_step(min(wish.price, highest), policy.price_step, Rounding.FLOOR)
        if price <= current:
            return self.keep(Reason.DAY_LIMIT, f"{wish.detail}; today it has risen enough")
        return self.quote(price, wish.reason if wish.price <= highest else Reason.STEP, wish.detail)

    def lately(self) -> Lately | None:
        """Prices of a time when the account sold in another currency say nothing."""
        found = self.facts.lately
        return found if found and found.highest.currency == found.lowest.currency == self.policy.currency else None

    def lowest(self, current: int) -> Fraction:
        """How far down one step and one day allow."""
        lately = self.lately()
        high = current if lately is None else max(current, lately.highest.amount_minor)
        step, day = share(self.policy.step_down), share(self.policy.day_down)
        return max(current * (1 - step), high * (1 - day))

    def highest(self, current: int) -> Fraction:
        """How far up one step and one day allow."""
        lately = self.lately()
        low = current if lately is None else min(current, lately.lowest.amount_minor)
        step, day = share(self.policy.step_up), share(self.policy.day_up)
        return min(current * (1 + step), low * (1 + day))

    def quote(self, price: int, reason: Reason, detail: str) -> Priced:
        inside = min(max(price, self.bounds.floor), self.bounds.ceiling)
        if inside == self.current:
            return self.keep(Reason.IN_BAND, detail)
        return Quote(self._money(inside), reason, *self._bounds(), detail=detail)

    def keep(self, reason: Reason, detail: str) -> Keep:
        assert self.current is not None
        return Keep(self._money(self.current), reason, *self._bounds(), detail=detail)

    def hold(self, reason: Reason, detail: str) -> Hold:
        floor, ceiling = self._bounds()
        below = self.current is not None and self.current < self.bounds.floor
        return Hold(reason, detail, floor=floor, ceiling=ceiling, is_below_floor=below)

    def _bounds(self) -> tuple[Money, Money]:
        return self._money(self.bounds.floor), self._money(self.bounds.ceiling)

    def _money(self, amount: int) -> Money:
        return Money(amount, self.policy.currency)


def _ending(cost: Cost, bounds: Bounds, facts: Facts, policy: Policy, found: Priced) -> list[Step]:
    """The steps after the costs: bounds, the others, where we stand, the decision and what it leaves."""
    code, of = policy.currency, f"of {policy.basis}"
    rival = facts.rival
    seen = "" if rival.found_at is None else rival.found_at.isoformat()
    others = f"{rival.search.lower()}, {rival.comparable} of {rival.offers} offers comparable"
    steps = [
        _floor(cost, bounds, policy),
        Step(
            "target",
            None,
            Money(rounded(bounds.target, Rounding.HALF_UP), code),
            f"{policy.target_margin:%} {of}",
            "policy",
        ),
        Step("ceiling", None, Money(bounds.ceiling, code), f"most margin {policy.most_margin:%} {of}", "policy"),
        Step("lowest offer", None, rival.total, others, rival.seller, seen),
    ]
    beside = facts.wanted.shipping
    basis = "neither market nor account has told it: counted as free" if beside is None else "beside the price"
    steps.append(Step("shipping to the buyer", None, beside, basis))
    if facts.wanted.current is not None:
        steps.append(Step("confirmed price", None, facts.wanted.current, "as the market has it"))
    if isinstance(found, Hold):
        return [*steps, _held(found)]
    steps.append(
        Step(
            "price" if isinstance(found, Quote) else "kept price", None, found.price, f"{found.reason}: {found.detail}"
        )
    )
    amount = found.price.amount_minor
    steps.append(Step("margin", None, None, f"{float(cost.margin(amount, policy.basis)):.1%} {of}"))
    if cost.refund:
        before = float(cost.margin(amount, policy.basis, refunded=False))
        steps.append(Step("margin without refund", None, None, f"{before:.1%} {of}"))
    return steps


def _floor(cost: Cost, bounds: Bounds, policy: Policy) -> Step:
    floor = Money(bounds.floor, policy.currency)
    if cost.least > (_at(cost, policy.least_margin, policy) or 0):
        return Step("floor", None, floor, "least resale price", "source")
    return Step("floor", None, floor, f"least margin {policy.least_margin:%} of {policy.basis}", "policy")


def _held(found: Hold) -> Step:
    return Step("hold", None, None, f"{found.reason}: {found.detail}")
