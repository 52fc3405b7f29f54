import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.won import LARGEST, won_text

READ = {
    "129,000원": 129_000,
    "129000": 129_000,
    "129,000": 129_000,
    "₩129,000": 129_000,
    "￦129,000": 129_000,
    "\\129,000": 129_000,
    "KRW 129,000": 129_000,
    "129,000 KRW": 129_000,
    "129,000 won": 129_000,
    " 129,000\u00a0원\n": 129_000,
    "１２９，０００원": 129_000,
    "129\u200b,000원": 129_000,
    "56000.00": 56_000,
    "12만9천원": 129_000,
    "12만 9천 원": 129_000,
    "12만 9,000원": 129_000,
    "12만9000원": 129_000,
    "12만원": 120_000,
    "3만": 30_000,
    "1.5만원": 15_000,
    "129천원": 129_000,
    "2천5백원": 2_500,
    "1억2천만원": 120_000_000,
    "1억 2,345만 6,789원": 123_456_789,
    "1백만원": 1_000_000,
    "0원": 0,
}

UNKNOWN = [
    "",
    " ",
    "원",
    "만원",
    "무료",
    "1만원대",
    "129,000원대",
    "129,000원~",
    "129,000 ~ 139,000원",
    "129,000원 - 139,000원",
    "10만~12만원",
    "월 12,900원 x 10개월",
    "12,900원 x 10개월",
    "-5,000원",
    "−5,000원",
    "129,000원 부터",
    "약 129,000원",
    "129,000원(10%)",
    "1,29,000원",
    "1290,000원",
    "129,00원",
    "129.000원",
    "0129원",
    "12 900원",
    "9천12만원 3만원",
    "12만12천원",
    "2만1억원",
    "1.55555만원",
    "1.5원",
    "1.00005만원",
    "5²원",
    "$129",
    "129,000円",
    "129,000원 129,000원",
    "1" * 30,
    "9" * 41,
    "1e5",
    "NaN",
    "만9천원",
]


@pytest.mark.parametrize(("text", "amount"), READ.items())
def test_an_amount_is_read(text: str, amount: int) -> None:
    assert won_text(text) == amount


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_is_not_certain_is_unknown(text: str) -> None:
    assert won_text(text) is None


def in_units(amount: int) -> str:
    """`1억2,345만6천7백8십9원`, with what is zero left out."""
    high, low = divmod(amount, 10**8)
    middle, rest = divmod(low, 10**4)
    parts = [f"{high:,}억" if high else "", f"{middle:,}만" if middle else ""]
    for unit, sign in ((1000, "천"), (100, "백"), (10, "십"), (1, "")):
        count, rest = divmod(rest, unit)
        parts.append(f"{count}{sign}" if count else "")
    return "".join(parts) + "원"


SPELLINGS = [
    "{0}",
    "{0:,}",
    "{0:,}원",
    "₩{0:,}",
    "￦ {0:,}",
    "KRW {0}",
    "{0:,}\u00a0원",
    "{0}.00",
]


@given(st.integers(0, LARGEST), st.sampled_from(SPELLINGS))
def test_every_spelling_of_an_amount_reads_as_the_amount(amount: int, spelling: str) -> None:
    assert won_text(spelling.format(amount)) == amount


@given(st.integers(1, LARGEST - 1))
def test_counted_in_units_it_is_the_same(amount: int) -> None:
    assert won_text(in_units(amount)) == amount


@given(st.integers(0, LARGEST), st.sampled_from(SPELLINGS))
def test_full_width_digits_are_digits(amount: int, spelling: str) -> None:
    wide = spelling.format(amount).translate(str.maketrans("0123456789,", "０１２３４５６７８９，"))

    assert won_text(wide) == amount


@given(st.integers(0, 10**9), st.sampled_from(["대", "~", " 이상", "부터", " x 10개월", "%", "-", "/월"]))
def test_a_word_after_it_makes_it_unknown(amount: int, word: str) -> None:
    assert won_text(f"{amount:,}원{word}") is None


@given(st.text(max_size=60))
def test_any_text_is_an_amount_in_bounds_or_unknown(text: str) -> None:
    amount = won_text(text)

    assert amount is None or 0 <= amount <= LARGEST
