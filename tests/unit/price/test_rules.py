"""The price decision: each rule is a shop that lost money without it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.money import Money, won, yen
from bobusang.stages.price.model import (
    Fx,
    FxQuote,
    FxState,
    Hold,
    Keep,
    Lately,
    Priced,
    Quote,
    Reason,
    Rival,
    Search,
    Step,
)
from bobusang.stages.price.policy import Beaten, Policy
from bobusang.stages.price.rules import NEVER, Facts, decide
from tests.unit.price.stall import EMPTY, FAILED, LEAN, NOW, RATES, TODAY, UNCLEAR, WANTED, facts, found, fx

FLOOR, TARGET, CEILING = 38_257, 45_959, 69_169
"""By hand: (300,000 + 15,000) ÷ 9.2 ÷ (1 − 5.5 % − 5, 20 and 45 %), rounded up, up and down."""


def told(priced: Priced) -> tuple[Any, ...]:
    """The decision without its steps."""
    match priced:
        case Quote(price, reason) | Keep(price, reason):
            return (type(priced), price.amount_minor, reason)
        case Hold(reason):
            return (Hold, reason)


def priced(given: Facts, policy: Policy = LEAN) -> tuple[Any, ...]:
    return told(decide(given, policy, NOW))


def test_bounds_are_by_the_full_cost() -> None:
    quote = decide(facts(), LEAN, NOW)

    assert isinstance(quote, Quote)
    assert (quote.floor, quote.price, quote.ceiling) == (yen(FLOOR), yen(TARGET), yen(CEILING))
    assert quote.reason is Reason.NO_RIVAL


# --- no floor, no price ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [None, Decimal("NaN"), Decimal("-0.1"), Decimal("Infinity"), Decimal("0.99")])
def test_a_blank_floor_means_no_price(margin: Decimal | None) -> None:
    """2012: every listing with a blank least price went to one cent for a quarter of an hour."""
    policy = Policy(pays_duty=False, least_margin=margin)

    assert priced(facts(found(1)), policy) == (Hold, Reason.NO_FLOOR)
    assert priced(facts(found(1), current=yen(40_000)), policy) == (Hold, Reason.NO_FLOOR)


def test_a_blank_ceiling_means_no_price() -> None:
    assert priced(facts(), Policy(pays_duty=False, most_margin=None)) == (Hold, Reason.NO_CEILING)


def test_the_suppliers_least_price_is_part_of_the_floor() -> None:
    assert priced(facts(found(40_000), resale_floor=yen(42_000))) == (Quote, 42_000, Reason.BEATEN)
    assert priced(facts(resale_floor=yen(70_000))) == (Hold, Reason.FLOOR_ABOVE_CEILING)
    assert priced(facts(found(40_000), resale_floor=yen(1))) == priced(facts(found(40_000)))


def test_the_suppliers_least_price_is_told_in_his_own_currency() -> None:
    """₩386,400 at 9.2 won a yen is ¥42,000, and the price says where its floor comes from."""
    one = decide(facts(found(40_000), resale_floor=won(386_400)), LEAN, NOW)

    assert isinstance(one, Quote)
    assert (one.price, one.floor) == (yen(42_000), yen(42_000))
    assert [step for step in one.steps if step.name in ("least resale price", "floor")] == [
        Step("least resale price", won(386_400), yen(42_000), "the supplier allows no less", "source"),
        Step("floor", None, yen(42_000), "least resale price", "source"),
    ]
    assert priced(facts(resale_floor=Money(10_000, "USD"))) == (Hold, Reason.NO_FX)


# --- others ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rival", "expected"),
    [
        (found(50_000), (Quote, 49_995, Reason.UNDERCUT)),
        (found(90_000), (Quote, CEILING, Reason.CAPPED)),
        (found(30_000), (Quote, FLOOR, Reason.BEATEN)),
        (found(1), (Quote, FLOOR, Reason.BEATEN)),
        (EMPTY, (Quote, TARGET, Reason.NO_RIVAL)),
        (NEVER, (Hold, Reason.NOT_SEARCHED)),
        (FAILED, (Hold, Reason.NOT_SEARCHED)),
        (found(50_000, timedelta(days=4)), (Hold, Reason.NOT_SEARCHED)),
    ],
)
def test_a_first_price(rival: Rival, expected: tuple[Any, ...]) -> None:
    assert priced(facts(rival)) == expected


def test_without_a_model_number_nothing_is_comparable() -> None:
    assert priced(facts(NEVER, model="")) == (Quote, TARGET, Reason.NO_RIVAL)


def test_delivery_is_part_of_what_the_buyer_compares() -> None:
    assert priced(facts(found(50_000), shipping=yen(1_000))) == (Quote, 48_995, Reason.UNDERCUT)


def test_who_is_beaten_may_stand_at_the_target() -> None:
    policy = Policy(pays_duty=False, cancel_rate=Decimal(0), beaten=Beaten.TARGET)

    assert priced(facts(found(30_000)), policy) == (Quote, TARGET, Reason.BEATEN)


@pytest.mark.parametrize("rival", [FAILED, NEVER, found(20_000, timedelta(days=4))])
def test_a_failed_search_keeps_the_old_price(rival: Rival) -> None:
    """A search that fails is not a market without rivals."""
    assert priced(facts(rival, current=yen(50_000))) == (Keep, 50_000, Reason.SEARCH_FAILED)


def test_what_cannot_be_compared_is_not_nobody() -> None:
    """Forty offers whose titles do not repeat the model number: the price crept to the target past all of them."""
    first, listed = decide(facts(UNCLEAR), LEAN, NOW), decide(facts(UNCLEAR, current=yen(50_000)), LEAN, NOW)
    old = replace(UNCLEAR, found_at=NOW - timedelta(days=4))

    assert (told(first), told(listed)) == (
        (Quote, TARGET, Reason.NOT_COMPARABLE),
        (Keep, 50_000, Reason.NOT_COMPARABLE),
    )
    assert first.detail == listed.detail == "a search showed 40 offers, and none could be compared"
    assert [step.basis for step in first.steps if step.name == "lowest offer"] == ["unclear, 0 of 40 offers comparable"]
    assert priced(facts(old)) == (Hold, Reason.NOT_SEARCHED)
    assert priced(facts(old, current=yen(50_000))) == (Keep, 50_000, Reason.SEARCH_FAILED)


def test_the_stop_loss_bounds_the_undercut() -> None:
    policy = Policy(pays_duty=False, cancel_rate=Decimal(0), undercut=5_000, band_farthest=5_000)

    assert priced(facts(found(50_000)), policy) == (Quote, 47_500, Reason.UNDERCUT)


def test_the_stop_loss_never_rounds_up_to_the_rival() -> None:
    coarse = Policy(pays_duty=False, cancel_rate=Decimal(0), price_step=5_000, undercut=5_000, band_farthest=9_000)

    assert priced(facts(found(50_000)), coarse) == (Quote, 45_000, Reason.UNDERCUT)


# --- the band that wins already --------------------------------------------------------------------------------------


@pytest.mark.parametrize("current", [49_991, 49_995, 49_999])
def test_a_price_that_wins_already_is_left_alone(current: int) -> None:
    assert priced(facts(found(50_000), current=yen(current))) == (Keep, current, Reason.IN_BAND)


@pytest.mark.parametrize("current", [49_990, 50_000])
def test_outside_the_band_the_price_moves(current: int) -> None:
    assert priced(facts(found(50_000), current=yen(current))) == (Quote, 49_995, Reason.UNDERCUT)


def test_the_band_saves_calls() -> None:
    """A rival who wavers by a few yen: without a band each look would be a call."""

    def calls(policy: Policy) -> int:
        current, sent = yen(49_995), 0
        for rival in (50_000, 50_002, 49_999, 50_003, 49_998, 50_001, 50_000, 50_004):
            match decide(facts(found(rival), current=current), policy, NOW):
                case Quote(price):
                    current, sent = price, sent + 1
        return sent

    assert calls(LEAN) == 0
    assert calls(Policy(pays_duty=False, band_nearest=5, band_farthest=5)) == 7


def test_a_few_yen_of_exchange_are_not_worth_a_call() -> None:
    assert priced(facts(rate=fx("9.21"), current=yen(TARGET))) == (Keep, TARGET, Reason.IN_BAND)


# --- steps -----------------------------------------------------------------------------------------------------------


def test_down_by_at_most_a_step_at_a_time() -> None:
    assert priced(facts(found(45_000), current=yen(60_000))) == (Quote, 54_000, Reason.STEP)


def test_down_by_at_most_a_days_share() -> None:
    lately = Lately(yen(60_000), yen(50_000))

    assert priced(facts(found(45_000), current=yen(50_000), lately=lately)) == (Quote, 48_000, Reason.STEP)
    assert priced(facts(found(45_000), current=yen(48_000), lately=lately)) == (Keep, 48_000, Reason.DAY_LIMIT)


def test_a_day_in_another_currency_says_nothing() -> None:
    lately = Lately(won(600_000), won(500_000))

    assert priced(facts(found(45_000), current=yen(48_000), lately=lately)) == (Quote, 44_995, Reason.UNDERCUT)


def test_a_rival_who_vanishes_is_followed_in_steps() -> None:
    """Never raise blindly: he may be back in an hour."""
    assert priced(facts(EMPTY, current=yen(40_000))) == (Quote, 42_000, Reason.STEP)
    lately = Lately(yen(44_000), yen(39_000))
    assert priced(facts(EMPTY, current=yen(44_000), lately=lately)) == (Quote, 44_850, Reason.STEP)


def test_the_fast_loop_never_raises() -> None:
    assert priced(facts(EMPTY, current=yen(40_000), may_raise=False)) == (Keep, 40_000, Reason.NO_RAISE)


@pytest.mark.parametrize("current", [37_000, 30_000, 19_129])
@pytest.mark.parametrize("rival", [EMPTY, FAILED, UNCLEAR, found(1)])
def test_a_price_below_the_floor_is_raised_to_it_at_once(current: int, rival: Rival) -> None:
    """It was held where a step or the day did not reach, and sold at a loss that nobody could stop."""
    lately = Lately(yen(current), yen(current - 1_000))

    assert priced(facts(rival, current=yen(current), may_raise=False, lately=lately)) == (
        *(Quote, FLOOR, Reason.COST_ROSE),
    )


def test_a_floor_that_is_a_jump_away_waits_for_a_person() -> None:
    held = decide(facts(EMPTY, current=yen(19_128)), LEAN, NOW)

    assert isinstance(held, Hold)
    assert (held.reason, held.is_below_floor, held.floor) == (Reason.FLOOR_TOO_FAR, True, yen(FLOOR))


@pytest.mark.parametrize(
    ("policy", "told", "floor", "ceiling"),
    [
        (LEAN, {"resale_floor": yen(70_000)}, 70_000, 65_000),
        (msgspec.structs.replace(LEAN, most_margin=None), {}, FLOOR, None),
    ],
)
@pytest.mark.parametrize("above", [0, 1])
def test_what_sells_below_a_floor_says_so_though_it_is_held_for_its_ceiling(
    policy: Policy, told: dict[str, Any], floor: int, ceiling: int | None, above: int
) -> None:
    held = decide(facts(current=yen(floor - 1 + above), **told), policy, NOW)

    assert isinstance(held, Hold)
    assert (held.floor, held.is_below_floor) == (yen(floor), not above)
    assert (held.ceiling is None) == (ceiling is None)


def test_a_price_above_the_ceiling_comes_down_to_it_or_a_person_is_asked() -> None:
    assert priced(facts(EMPTY, current=yen(70_000))) == (Quote, 63_000, Reason.CAPPED)
    assert priced(facts(EMPTY, current=yen(90_000))) == (Hold, Reason.CEILING_TOO_FAR)


@pytest.mark.parametrize("current", [20_000, 40_000, 100_000])
def test_a_move_that_nobody_makes_on_purpose_is_held(current: int) -> None:
    """2014: prices at one penny for an hour, losses of £20,000 and more."""
    narrow = Policy(pays_duty=False, jump_down=Decimal("0.01"), jump_up=Decimal("0.01"), cancel_rate=Decimal(0))

    assert priced(facts(EMPTY, current=yen(current)), narrow)[0] is Hold


def test_twice_as_high_or_half_as_low_is_a_jump() -> None:
    wide = Policy(pays_duty=False, most_margin=Decimal("0.90"), cancel_rate=Decimal(0))

    assert priced(facts(found(100_000), current=yen(40_000)), wide) == (Hold, Reason.JUMP)
    assert priced(facts(found(40_000), current=yen(100_000)), wide) == (Hold, Reason.JUMP)


# --- exchange --------------------------------------------------------------------------------------------------------

OLD = fx("9.2", timedelta(days=3))


def test_an_old_rate_freezes_the_way_down_only() -> None:
    assert priced(facts(found(45_000), rate=OLD, current=yen(50_000))) == (Keep, 50_000, Reason.FX_STALE)
    assert priced(facts(found(55_000), rate=OLD, current=yen(50_000))) == (Quote, 52_500, Reason.STEP)
    assert priced(facts(EMPTY, rate=OLD, current=yen(37_000))) == (Quote, FLOOR, Reason.COST_ROSE)
    assert priced(facts(EMPTY, rate=OLD, current=yen(70_000))) == (Keep, 70_000, Reason.FX_STALE)


def test_an_old_rate_makes_no_first_price() -> None:
    assert priced(facts(found(45_000), rate=OLD)) == (Hold, Reason.FX_STALE)


def test_a_dead_rate_makes_no_price() -> None:
    assert priced(facts(found(45_000), rate=Fx(), current=yen(50_000))) == (Hold, Reason.NO_FX)


@pytest.mark.parametrize("current", [None, yen(50_000)])
def test_a_rate_that_jumped_holds_every_price(current: Money | None) -> None:
    waiting = FxQuote("JPY", "KRW", "92", "bank", NOW, state=FxState.HELD)
    held = decide(facts(found(45_000), rate=Fx(fx().quote, waiting), current=current), LEAN, NOW)

    assert held == Hold(Reason.FX_JUMP, "the rate KRW/JPY jumped to 92 of bank: a person must agree")


# --- for all prices --------------------------------------------------------------------------------------------------

RIVALS = st.one_of(
    st.sampled_from([EMPTY, NEVER, FAILED, UNCLEAR]),
    st.integers(1, 200_000).map(found),
    st.integers(10**6, 10**9).map(found),
)


@given(
    purchase=st.integers(1, 2_000_000),
    rival=RIVALS,
    current=st.none() | st.integers(1, 300_000).map(yen),
    lately=st.none() | st.tuples(st.integers(1, 300_000), st.integers(1, 300_000)),
    rate=st.decimals("5", "20", places=4),
    step=st.sampled_from([1, 10, 100]),
    age=st.integers(0, 72),
    may_raise=st.booleans(),
    shipping=st.integers(0, 3_000),
)
def test_whatever_is_known_no_price_leaves_its_bounds(
    purchase: int,
    rival: Rival,
    current: Money | None,
    lately: tuple[int, int] | None,
    rate: Decimal,
    step: int,
    age: int,
    may_raise: bool,
    shipping: int,
) -> None:
    policy = Policy(pays_duty=False, price_step=step, undercut=step, band_farthest=9 * step)
    known = Facts(
        replace(WANTED, purchase=won(purchase), current=current, may_raise=may_raise, shipping=yen(shipping)),
        RATES,
        TODAY,
        {"KRW": fx(str(rate), timedelta(hours=age))},
        rival,
        None if lately is None else Lately(yen(max(lately)), yen(min(lately))),
    )

    match decide(known, policy, NOW):
        case Quote(price, _, floor, ceiling):
            assert floor <= price <= ceiling
            assert price.amount_minor % step == 0
            assert price != current
            if current is not None:
                assert age <= 36 or price > current
                assert price.amount_minor * 10 >= current.amount_minor * 9
                if current < floor:  # out of the loss at once, unless that is a jump
                    assert price == floor
                    assert price.amount_minor <= current.amount_minor * 2
                else:
                    assert price.amount_minor * 20 <= current.amount_minor * 21
            if rival.search is Search.FOUND and rival.total is not None and price > floor:
                assert current is not None or price + yen(shipping) < rival.total
        case Keep(price):
            assert price == current


@given(RIVALS, st.integers(30_000, 100_000))
def test_deciding_again_after_the_market_agreed_changes_nothing_more(rival: Rival, start: int) -> None:
    """Steps end: no price swings for ever."""
    current = yen(start)
    for _ in range(60):
        match decide(facts(rival, current=current), LEAN, NOW):
            case Quote(price):
                current = price
            case _:
                return
    raise AssertionError("it never comes to rest")
