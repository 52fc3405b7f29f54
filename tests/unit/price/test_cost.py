"""The cost stack: the worked example of the fact sheet, duty by what a thing is made of, no missing row is a zero."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replace_struct

from bobusang.kit.errors import Invalid
from bobusang.kit.money import Money, Rounding, rounded, won, yen
from bobusang.stages.price.cost import Cost, stack
from bobusang.stages.price.model import Hold, Reason, Step
from bobusang.stages.price.policy import MarginBasis, Policy
from bobusang.stages.price.rates import Duty, Fee, FeeKind, Freight, Goods, Leg, Rates, Tax
from tests.unit.price.stall import LEAN, RATES, SPRING, TODAY, WANTED, fx

REFUNDED = Policy(cancel_rate=Decimal(0), pays_duty=False, refunds_vat=True)


def cost(rate: str = "9.2", tier: str = "gold", policy: Policy = REFUNDED) -> Cost:
    found = stack(replace(WANTED, tier=tier), RATES, {"KRW": fx(rate)}, policy, TODAY)
    assert isinstance(found, Cost)
    return found


@pytest.mark.parametrize(
    ("price", "rate", "tier", "policy", "percent"),
    [
        (48_488, "9.2", "gold", REFUNDED, "30.0"),
        (48_488, "9.2", "", REFUNDED, "27.8"),
        (48_488, "8.7", "gold", REFUNDED, "26.3"),
        (48_488, "8.7", "", REFUNDED, "24.1"),
        (48_488, "9.2", "", LEAN, "21.7"),
        (34_944, "9.2", "gold", REFUNDED, "5.0"),
        (34_944, "8.7", "gold", REFUNDED, "-0.1"),
        (34_944, "8.7", "", REFUNDED, "-2.3"),
        (34_944, "9.2", "gold", LEAN, "-3.5"),
    ],
)
def test_the_worked_example_line_by_line(price: int, rate: str, tier: str, policy: Policy, percent: str) -> None:
    """facts/domain.md 3.1: ₩300,000 and ₩15,000 of freight; a rate fixed at 9.2 hides a loss."""
    margin = cost(rate, tier, policy).margin(price, MarginBasis.REVENUE)

    assert Decimal(rounded(margin * 1000, Rounding.HALF_UP)) / 10 == Decimal(percent)


def test_the_prices_of_the_worked_example_follow_from_their_margins() -> None:
    found = [cost().price_at(Fraction(margin), MarginBasis.REVENUE) for margin in ("0.30", "0.05")]

    assert [rounded(price, Rounding.CEILING) for price in found if price] == [48_488, 34_944]


def test_the_refund_is_told_apart() -> None:
    assert cost().margin(48_488, MarginBasis.REVENUE, refunded=False) == cost(policy=LEAN).margin(
        48_488, MarginBasis.REVENUE
    )
    assert cost(policy=LEAN).refund == 0


def test_twenty_percent_of_cost_is_not_twenty_percent_of_revenue() -> None:
    plain = Cost(Fraction(8_000), Fraction(0), Fraction(0), (), ())

    assert plain.price_at(Fraction("0.2"), MarginBasis.COST) == 9_600
    assert plain.price_at(Fraction("0.2"), MarginBasis.REVENUE) == 10_000
    assert plain.margin(9_600, MarginBasis.COST) == plain.margin(10_000, MarginBasis.REVENUE) == Fraction("0.2")


def test_no_price_leaves_a_margin_of_everything() -> None:
    assert cost().price_at(Fraction("0.945"), MarginBasis.REVENUE) is None


def test_every_line_says_where_it_comes_from() -> None:
    rates = replace(
        RATES,
        fees=(
            *RATES.fees,
            Fee("buyma", FeeKind.PAYOUT, SPRING, "payout page", tier="gold", rate=Decimal("0.01"), amount=220),
        ),
        duties=(Duty("JP", Decimal("0.109"), SPRING, "tariff 61", construction="knit", is_exemptable=False),),
        taxes=(Tax("JP", Decimal("0.6"), 10_000, Decimal("0.1"), 200, "JPY", SPRING, "customs"),),
    )
    policy = Policy(refunds_vat=True)
    wanted = replace(WANTED, purchase=won(92_000), material="wool", construction="knit")

    found = stack(wanted, rates, {"KRW": fx("9.2", spread="0")}, policy, TODAY)

    assert isinstance(found, Cost)
    assert found.steps == (
        Step("rate JPY/KRW", None, None, "9.2, spread 0 %", "bank", "2026-01-27T11:00:00+00:00"),
        Step("purchase", won(92_000), yen(10_000), "source price", "source"),
        Step("domestic freight", won(0), yen(0), "500 g, row up to 1,000,000 g", "none", SPRING),
        Step("international freight", won(15_000), yen(1_630), "500 g, row up to 1,000,000 g", "forwarder", SPRING),
        Step("duty", yen(654), yen(654), "10.9 %; taxable ¥6,000, knit", "tariff 61", SPRING),
        Step("consumption tax", yen(665), yen(665), "10 %", "customs", SPRING),
        Step("clearance", yen(200), yen(200), "per parcel", "customs", SPRING),
        Step("payout fee, fixed", yen(220), yen(220), "an order (tier gold)", "payout page", SPRING),
        Step("expected cancels", won(920), yen(100), "1 % of purchase", "policy"),
        Step("VAT refund", won(-8_364), yen(-909), "1/11 of purchase, with export evidence", "policy"),
        Step("fixed cost", None, yen(12_561), "sum of the lines above"),
        Step("sale fee", None, None, "5.5 % of the price (tier gold)", "fee page", SPRING),
        Step("payout fee", None, None, "1 % of the price (tier gold)", "payout page", SPRING),
    )
    assert found.share == Fraction("0.065")


# --- duty ------------------------------------------------------------------------------------------------------------

DUTIES = replace(
    RATES,
    duties=(
        Duty("JP", Decimal("0.05"), SPRING, "simplified"),
        Duty("JP", Decimal("0.10"), SPRING, "simplified", category="clothing", construction="woven"),
        Duty("JP", Decimal("0.109"), SPRING, "general", category="clothing", construction="knit", is_exemptable=False),
        Duty(
            "JP",
            Decimal("0.30"),
            SPRING,
            "general",
            category="shoes",
            material="leather",
            least=4_300,
            is_exemptable=False,
        ),
    ),
    taxes=(Tax("JP", Decimal("0.6"), 10_000, Decimal("0.1"), 0, "JPY", SPRING, "customs"),),
)


@pytest.mark.parametrize(
    ("retail", "category", "material", "construction", "duty", "tax"),
    [
        (16_666, "clothing/tops", "cotton", "woven", 0, 0),  # taxable ¥9,999.6: free
        (16_668, "clothing/tops", "cotton", "woven", 1_000, 1_100),
        (10_000, "clothing/tops", "cotton", "knit", 654, 665),  # knitwear is never free
        (10_000, "clothing/tops", "cotton", "", 654, 665),  # nobody says that it is not knitted
        (10_000, "shoes", "leather", "sewn", 4_300, 1_030),
        (40_000, "shoes/sneakers", "leather", "sewn", 7_200, 3_120),
        (40_000, "shoes", "canvas", "sewn", 1_200, 2_520),
        (40_000, "bags", "", "", 1_200, 2_520),
    ],
)
def test_duty_is_by_material_construction_and_category(
    retail: int, category: str, material: str, construction: str, duty: int, tax: int
) -> None:
    wanted = replace(WANTED, purchase=won(retail * 10), category=category, material=material, construction=construction)
    found = stack(wanted, DUTIES, {"KRW": fx("10")}, Policy(), TODAY)

    assert isinstance(found, Cost)
    lines = {step.name: step.local for step in found.steps}
    assert (lines["duty"], lines["consumption tax"]) == (yen(duty), yen(tax))


SIMPLIFIED = (
    Duty("JP", Decimal("0.05"), SPRING, "simplified", up_to=200_000),
    Duty("JP", Decimal("0.10"), SPRING, "simplified", construction="woven", up_to=200_000),
    Duty("JP", Decimal("0.109"), SPRING, "general", construction="knit", is_exemptable=False),
)
WOVEN = Duty("JP", Decimal("0.12"), SPRING, "general", construction="woven")
OTHERS = Duty("JP", Decimal("0.08"), SPRING, "general")
UNKNOWN = "no duty row of JP for category 'clothing' above ¥200,000, and ¥200,001 are taxable"


@pytest.mark.parametrize(
    ("retail", "construction", "more", "said"),
    [
        (333_333, "woven", (), "10 %; taxable ¥200,000, woven"),
        (333_333, "woven", (WOVEN, OTHERS), "10 %; taxable ¥200,000, woven"),
        (333_335, "woven", (), UNKNOWN),
        (333_335, "woven", (WOVEN,), "12 %; taxable ¥200,001, woven"),
        (333_335, "woven", (OTHERS,), "8 %; taxable ¥200,001, any goods"),
        (333_335, "sewn", (WOVEN,), UNKNOWN),
        (333_335, "knit", (), "10.9 %; taxable ¥200,001, knit"),
        (333_335, "", (), UNKNOWN),  # it may be woven, of which nobody knows the rate
        (333_335, "", (OTHERS,), "10.9 %; taxable ¥200,001, knit; the dearest of 2 rows that may hold"),
        (333_335, "", (WOVEN, OTHERS), "12 %; taxable ¥200,001, woven; the dearest of 3 rows that may hold"),
    ],
)
def test_a_simplified_rate_ends_at_its_value(retail: int, construction: str, more: tuple[Duty, ...], said: str) -> None:
    rates = replace(DUTIES, duties=(*more, *SIMPLIFIED))
    wanted = replace(WANTED, purchase=won(retail * 10), category="clothing", material="wool", construction=construction)
    found = stack(wanted, rates, {"KRW": fx("10")}, Policy(), TODAY)

    told = found.detail if isinstance(found, Hold) else {step.name: step.basis for step in found.steps}["duty"]
    assert told == said


def test_a_row_is_replaced_by_a_newer_one_with_the_same_end() -> None:
    newer = replace_struct(SIMPLIFIED[1], rate=Decimal("0.11"), valid_from="2026-01-01")
    goods = Goods("JP", "clothing", "wool", "woven")

    assert Rates(duties=(newer, *SIMPLIFIED, WOVEN)).duty(goods, Fraction(200_000), TODAY) == [newer]
    assert Rates(duties=(newer, *SIMPLIFIED, WOVEN)).duty(goods, Fraction(200_001), TODAY) == [WOVEN]


# --- dated rows ------------------------------------------------------------------------------------------------------


def test_a_fee_is_of_its_day_tier_and_category() -> None:
    old, new = "2024-01-01", "2026-01-01"
    rates = Rates(
        fees=(
            Fee("buyma", FeeKind.SALE, old, "a", rate=Decimal("0.054")),
            Fee("buyma", FeeKind.SALE, new, "b", rate=Decimal("0.077")),
            Fee("buyma", FeeKind.SALE, new, "c", tier="gold", rate=Decimal("0.055")),
            Fee("buyma", FeeKind.SALE, new, "d", category="beauty", rate=Decimal("0.1")),
            Fee("buyma", FeeKind.SALE, "2027-01-01", "e", rate=Decimal("0.2")),
        )
    )

    def source(tier: str, category: str, day: date) -> str | None:
        found = rates.fee(FeeKind.SALE, "buyma", tier, category, day)
        return None if found is None else found.source

    assert source("", "shoes", date(2025, 12, 31)) == "a"
    assert source("", "shoes", TODAY) == "b"
    assert source("gold", "shoes", TODAY) == "c"
    assert source("gold", "beauty/skin", TODAY) == "d"
    assert source("gold", "beautycase", TODAY) == "c"
    assert source("", "shoes", date(2023, 1, 1)) is None
    assert rates.fee(FeeKind.SALE, "other", "", "", TODAY) is None


def test_freight_is_by_the_lightest_row_that_carries_it() -> None:
    def row(grams: int, amount: int, category: str = "", day: str = SPRING) -> Freight:
        return Freight(Leg.DOMESTIC, "KR-JP", grams, amount, "KRW", day, "x", category)

    rates = Rates(freights=(row(1_000, 9), row(500, 5), row(500, 6, day="2026-01-01"), row(2_000, 20, "shoes")))

    def amount(category: str, grams: int) -> int | None:
        found = rates.freight(Leg.DOMESTIC, "KR-JP", category, grams, TODAY)
        return None if found is None else found.amount

    assert [amount("bags", grams) for grams in (1, 500, 501, 1_000, 1_001)] == [6, 6, 9, 9, None]
    assert amount("shoes", 400) == 20


@pytest.mark.parametrize(
    ("rates", "policy", "detail"),
    [
        (replace(RATES, fees=()), LEAN, "no sale fee of buyma for tier 'gold', category ''"),
        (replace(RATES, fees=RATES.fees[:2]), LEAN, "no payout fee of buyma for tier 'gold', category ''"),
        (replace(RATES, freights=()), LEAN, "no domestic freight KR-JP for 500 g of category ''"),
        (replace(RATES, duties=()), Policy(), "no duty row of JP for category ''"),
        (replace(RATES, taxes=()), Policy(), "no tax row of JP"),
    ],
)
def test_a_missing_row_is_no_zero(rates: Rates, policy: Policy, detail: str) -> None:
    assert stack(WANTED, rates, {"KRW": fx()}, policy, TODAY) == Hold(Reason.NO_RATE, detail)


def test_what_nobody_weighed_is_taken_to_be_heavy_or_has_no_price() -> None:
    unweighed = replace(WANTED, weight_grams=None)
    found = stack(unweighed, RATES, {"KRW": fx()}, LEAN, TODAY)
    refused = stack(unweighed, RATES, {"KRW": fx()}, Policy(pays_duty=False, unknown_weight_grams=None), TODAY)

    assert isinstance(found, Cost)
    assert found.steps[2].basis == "1,500 g, taken because nobody weighed it, row up to 1,000,000 g"
    assert refused == Hold(Reason.NO_RATE, "the weight is unknown, and the policy has none for that case")


@pytest.mark.parametrize("purchase", [None, won(0), won(-1)])
def test_without_a_purchase_price_there_is_no_cost(purchase: Money | None) -> None:
    found = stack(replace(WANTED, purchase=purchase), RATES, {"KRW": fx()}, LEAN, TODAY)

    assert isinstance(found, Hold)
    assert found.reason is Reason.NO_COST


def test_without_a_rate_there_is_no_default() -> None:
    """Two shops fell back to 9.5 in silence when the rate could not be fetched."""
    assert stack(WANTED, RATES, {}, LEAN, TODAY) == Hold(Reason.NO_FX, "there is no rate between KRW and JPY")


def test_adding_won_to_yen_raises() -> None:
    with pytest.raises(Invalid, match="different currencies"):
        won(1) + yen(1)


@given(
    st.integers(1, 10_000_000),
    st.integers(0, 1_000_000),
    st.decimals("0.001", "0.3", places=3),
    st.sampled_from(list(MarginBasis)),
)
def test_more_cost_never_lowers_a_price(purchase: int, more: int, margin: Decimal, basis: MarginBasis) -> None:
    def price(amount: int) -> Fraction:
        found = stack(
            replace(WANTED, purchase=won(amount), construction="woven"), DUTIES, {"KRW": fx()}, Policy(), TODAY
        )
        assert isinstance(found, Cost)
        reached = found.price_at(Fraction(margin), basis)
        assert reached is not None
        assert found.margin(rounded(reached, Rounding.CEILING), basis) >= Fraction(margin)
        return reached

    assert price(purchase + more) >= price(purchase)


@pytest.mark.parametrize(
    ("told", "pays", "held"),
    [
        (None, True, ""),
        (None, False, ""),
        (True, True, ""),
        (False, False, ""),
        (True, False, "the account tells of duty that it is included, the policy's pays_duty says that buyers pay it"),
        (False, True, "the account tells of duty that buyers pay it, the policy's pays_duty says that it is ours"),
    ],
)
def test_duty_that_is_told_otherwise_than_priced_is_a_hold(told: bool | None, pays: bool, held: str) -> None:
    found = stack(replace(WANTED, duty_included=told), RATES, {"KRW": fx("9.2")}, Policy(pays_duty=pays), TODAY)

    expected = Hold(Reason.DUTY_UNCLEAR, f"{held}: change one of them") if held else None
    assert (found if isinstance(found, Hold) else None) == expected
