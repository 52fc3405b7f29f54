from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid
from bobusang.kit.money import CURRENCIES, LARGEST, Money, Rounding, rounded, won, yen

amounts = st.integers(-(10**15), 10**15)
fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=10_000)


@pytest.mark.parametrize(
    ("money", "text"),
    [
        (won(129_000), "₩129,000"),
        (won(-1_000), "-₩1,000"),
        (won(0), "₩0"),
        (yen(12_800), "¥12,800"),
        (Money(123_450, "USD"), "$1,234.50"),
        (Money(-5, "EUR"), "-€0.05"),
        (Money(1_234_005, "KWD"), "KWD 1,234.005"),
    ],
)
def test_money_is_written_as_people_write_it(money: Money, text: str) -> None:
    assert str(money) == text


def test_sums_and_differences_stay_in_their_currency() -> None:
    assert (won(1_000) + won(500), won(1_000) - won(1_500), -won(3)) == (won(1_500), won(-500), won(-3))


@pytest.mark.parametrize("mix", [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a < b, lambda a, b: a >= b])
def test_two_currencies_never_mix(mix: Any) -> None:
    with pytest.raises(Invalid, match="₩1 and ¥1 are different currencies") as caught:
        mix(won(1), yen(1))

    assert (caught.value.field, caught.value.hint) == (
        "currency",
        "convert one of them by a dated quote from JPY to KRW",
    )


def test_the_same_number_of_two_currencies_is_not_the_same_money() -> None:
    assert won(1) != yen(1)


@pytest.mark.parametrize("other", [1, 1.0, "1", None])
@pytest.mark.parametrize("mix", [lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a < b, lambda a, b: a - b])
def test_money_goes_with_money_only(mix: Any, other: Any) -> None:
    with pytest.raises(TypeError):
        mix(won(1), other)


@pytest.mark.parametrize(
    ("amount", "currency", "field"),
    [
        (1.5, "KRW", "amount_minor"),
        (True, "KRW", "amount_minor"),
        ("1", "KRW", "amount_minor"),
        (LARGEST + 1, "KRW", "amount_minor"),
        (1, "krw", "currency"),
        (1, "XXX", "currency"),
        (1, None, "currency"),
        (1, [], "currency"),
    ],
)
def test_what_is_not_money_is_refused_by_name(amount: Any, currency: Any, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        Money(amount, currency)

    assert caught.value.field == field


def test_an_unknown_currency_comes_with_the_nearest_known_one() -> None:
    with pytest.raises(Invalid) as caught:
        Money(1, "KRX")

    assert str(caught.value) == "unknown currency 'KRX' (did you mean KRW?)"


@pytest.mark.parametrize(
    ("rounding", "whole"),
    [
        (Rounding.HALF_UP, (3, 2, 3, -3, -2, -3, -4)),
        (Rounding.HALF_EVEN, (2, 2, 3, -2, -2, -3, -4)),
        (Rounding.UP, (3, 3, 3, -3, -3, -3, -4)),
        (Rounding.DOWN, (2, 2, 2, -2, -2, -2, -3)),
        (Rounding.CEILING, (3, 3, 3, -2, -2, -2, -3)),
        (Rounding.FLOOR, (2, 2, 2, -3, -3, -3, -4)),
    ],
)
def test_each_rounding_mode(rounding: Rounding, whole: tuple[int, ...]) -> None:
    values = [Fraction(n, 10) for n in (25, 24, 26, -25, -24, -26, -36)]

    assert tuple(rounded(value, rounding) for value in values) == whole


@pytest.mark.parametrize("factor", [3, Decimal(3), Fraction(3)])
def test_a_factor_may_be_whole_decimal_or_a_fraction(factor: Any) -> None:
    assert won(1_000).times(factor, Rounding.HALF_UP) == won(3_000)


@pytest.mark.parametrize(
    "factor", [0.1, True, "2", None, Decimal("NaN"), Decimal("Infinity"), Decimal("1e999999"), Decimal("1e-999999")]
)
def test_a_factor_that_is_not_exact_is_refused(factor: Any) -> None:
    with pytest.raises(Invalid) as caught:
        won(1).times(factor, Rounding.HALF_UP)

    assert caught.value.field == "factor"


@given(st.sampled_from(sorted(CURRENCIES)), amounts, amounts, amounts)
def test_addition_obeys_the_laws_of_numbers(currency: str, a: int, b: int, c: int) -> None:
    x, y, z = (Money(amount, currency) for amount in (a, b, c))

    assert (x + y, (x + y) + z, x + y - y, x - x) == (y + x, x + (y + z), x, Money(0, currency))


@given(amounts, amounts)
def test_order_is_the_order_of_amounts(a: int, b: int) -> None:
    x, y = won(a), won(b)

    assert (x < y, x <= y, x > y, x >= y, x == y) == (a < b, a <= b, a > b, a >= b, a == b)


@given(amounts, fractions, st.sampled_from(Rounding))
def test_rounding_is_off_by_less_than_one_minor_unit(amount: int, factor: Fraction, rounding: Rounding) -> None:
    product = won(amount).times(factor, rounding)

    assert abs(product.amount_minor - amount * factor) < 1


@given(amounts, fractions)
def test_modes_bracket_the_exact_product(amount: int, factor: Fraction) -> None:
    by_mode = {mode: won(amount).times(factor, mode).amount_minor for mode in Rounding}
    exact = amount * factor

    assert by_mode[Rounding.FLOOR] <= exact <= by_mode[Rounding.CEILING]
    assert abs(by_mode[Rounding.DOWN]) <= abs(exact) <= abs(by_mode[Rounding.UP])
    assert abs(by_mode[Rounding.HALF_UP] - exact) <= Fraction(1, 2)
    assert by_mode[Rounding.HALF_EVEN] == round(exact)


@given(amounts, fractions, st.sampled_from(Rounding))
def test_a_negative_factor_only_turns_the_sign_in_symmetric_modes(
    amount: int, factor: Fraction, mode: Rounding
) -> None:
    mirror = {Rounding.CEILING: Rounding.FLOOR, Rounding.FLOOR: Rounding.CEILING}.get(mode, mode)

    assert won(amount).times(-factor, mode) == -won(amount).times(factor, mirror)
