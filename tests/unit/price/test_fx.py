"""Exchange rates: against us by their spread, held when they jump, read exactly or not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.errors import Drifted, Invalid
from bobusang.stages.price.fx import FxFeed, FxTrust, checked, doubt, factor, is_stale, read_csv, read_json, write_csv
from bobusang.stages.price.model import FxQuote
from tests.unit.price.stall import NOW

if TYPE_CHECKING:
    from decimal import Decimal

QUOTE = FxQuote("JPY", "KRW", "9.2", "bank", NOW)


def test_a_rate_works_in_both_directions_and_over_decimals() -> None:
    assert factor(QUOTE, "KRW", "JPY") == 1 / Fraction("9.2")
    assert factor(FxQuote("KRW", "JPY", "0.1", "bank", NOW), "KRW", "JPY") == Fraction("0.1")
    assert factor(FxQuote("USD", "KRW", "1400", "bank", NOW), "USD", "KRW") == 14  # a cent is 14 won
    with pytest.raises(Invalid, match="does not turn EUR into JPY"):
        factor(QUOTE, "EUR", "JPY")


@given(st.decimals("0.0001", "10000", places=4), st.decimals("0", "0.9", places=4), st.booleans())
def test_a_spread_never_makes_anything_cheaper(rate: Decimal, spread: Decimal, inverse: bool) -> None:
    base, quote = ("KRW", "JPY") if inverse else ("JPY", "KRW")
    plain = FxQuote(base, quote, str(rate), "bank", NOW)

    assert factor(replace(plain, spread=str(spread)), "KRW", "JPY") >= factor(plain, "KRW", "JPY") > 0


def test_a_rate_grows_old() -> None:
    assert not is_stale(QUOTE, timedelta(hours=36), NOW + timedelta(hours=36))
    assert is_stale(QUOTE, timedelta(hours=36), NOW + timedelta(hours=36, seconds=1))


@pytest.mark.parametrize(
    ("rate", "last", "why"),
    [
        ("9.65", "9.2", ""),
        ("9.7", "9.2", "JPY/KRW 9.2 → 9.7 (5.4%, more than 5.0% is held)"),
        ("92", "9.2", "JPY/KRW 9.2 → 92 (900.0%, more than 5.0% is held)"),
        ("0.92", "9.2", "JPY/KRW 9.2 → 0.92 (90.0%, more than 5.0% is held)"),
        ("9.2", None, ""),
        ("920", None, "920 KRW for one JPY is outside 5 … 20; perhaps it is the rate of 100"),
    ],
)
def test_a_rate_that_jumps_waits_for_a_person(rate: str, last: str | None, why: str) -> None:
    before = [] if last is None else [replace(QUOTE, rate=last)]

    assert doubt(replace(QUOTE, rate=rate), before, FxTrust()) == why


@pytest.mark.parametrize(
    ("rate", "last", "why"),
    [
        ("0.1087", "9.2", ""),
        ("0.0104", "9.2", "JPY/KRW 9.2 → 96.1538 (945.2%, more than 5.0% is held)"),
        ("1.087", "9.2", "JPY/KRW 9.2 → 0.919963 (90.0%, more than 5.0% is held)"),
        ("0.1087", None, ""),
        ("0.0104", None, "96.1538 KRW for one JPY is outside 5 … 20; perhaps it is the rate of 100"),
        ("1.087", None, "0.919963 KRW for one JPY is outside 5 … 20; perhaps it is the rate of 100"),
    ],
)
def test_a_rate_written_the_other_way_is_judged_as_the_same_rate(rate: str, last: str | None, why: str) -> None:
    """One wrong quote of a won in yen was believed at once, and everything new sold at a tenth."""
    before = [] if last is None else [replace(QUOTE, rate=last)]

    assert doubt(FxQuote("KRW", "JPY", rate, "other", NOW), before, FxTrust()) == why


@given(st.decimals("0.0001", "10000", places=4), st.decimals("0.0001", "10000", places=4))
def test_a_rate_is_judged_alike_whichever_way_it_is_written(last: Decimal, new: Decimal) -> None:
    """The same rate turned round is the same rate."""

    def judged(base: str, quote: str, rate: Fraction) -> FxQuote:
        return FxQuote(base, quote, f"{rate}", "bank", NOW)

    trusted = [judged("JPY", "KRW", Fraction(last))]
    ways = (judged("JPY", "KRW", Fraction(new)), judged("KRW", "JPY", 1 / Fraction(new)))

    assert len({bool(doubt(one, trusted, FxTrust())) for one in ways}) == 1


@pytest.mark.parametrize(
    ("hours", "rate", "why"),
    [
        ((30, 25, 1), "9.9", ""),  # 9.2, 9.2 and 9.6: it is a day's way from 9.2
        ((30, 25, 1), "10", "JPY/KRW 9.2 → 10 in a day (8.7%, more than 8.0% is held)"),
        ((30, 25, 24), "10", ""),  # 9.6 was a day ago
        ((3, 2, 1), "10", "JPY/KRW 9.2 → 10 in a day (8.7%, more than 8.0% is held)"),
        ((-1, -2, -3), "9.3", ""),  # a rate of long ago, learned now, has no day before it
    ],
)
def test_a_rate_that_creeps_waits_for_a_person(hours: tuple[int, ...], rate: str, why: str) -> None:
    """Nine quotes of 4.9 % within nine minutes were believed, one after the other."""
    trusted = [
        replace(QUOTE, rate=one, quoted_at=NOW - timedelta(hours=age))
        for one, age in zip(("9.2", "9.2", "9.6"), hours, strict=True)
    ]

    assert doubt(replace(QUOTE, rate=rate), trusted, FxTrust()) == why


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rate": "0"}, "rate"),
        ({"rate": "-9"}, "rate"),
        ({"rate": "NaN"}, "rate"),
        ({"rate": "1e99"}, "rate"),
        ({"rate": "nine"}, "rate"),
        ({"spread": "1"}, "spread"),
        ({"spread": "-0.1"}, "spread"),
        ({"base": "YEN"}, "currency"),
        ({"base": "KRW"}, "quote"),
        ({"source": ""}, "source"),
        ({"quoted_at": NOW + timedelta(days=1)}, "quoted_at"),
    ],
)
def test_what_is_no_rate_is_refused(change: dict[str, str], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(replace(QUOTE, **change), NOW)  # type: ignore[arg-type]

    assert refused.value.field == field


def test_a_file_may_speak_of_a_hundred_yen() -> None:
    text = (
        "\ufeffbase,quote,rate,per,spread,source,quoted_at\n"
        "JPY,KRW,921.35,100,0.0175,하나은행,2026-01-27T09:00:00+09:00\n"
        "USD,KRW,1400,,,bank,2026-01-27T00:00:00+00:00\n"
    )
    midnight = datetime(2026, 1, 27, tzinfo=UTC)
    quotes = [
        FxQuote("JPY", "KRW", "9.2135", "하나은행", midnight, "0.0175"),
        FxQuote("USD", "KRW", "1400", "bank", midnight),
    ]

    assert read_csv(text) == quotes
    assert read_csv(write_csv(quotes)) == quotes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base,quote\n", "the file has no column quoted_at, rate, source"),
        ("base,quote,rate,source,quoted_at\nJPY,KRW,,bank,2026-01-27\n", "line 2: rate is ''"),
        ("base,quote,rate,source,quoted_at\nJPY,KRW,9.2,bank,yesterday\n", "line 2: quoted_at is 'yesterday'"),
    ],
)
def test_a_broken_file_names_its_line(text: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_csv(text)

    assert refused.value.message == message


@pytest.mark.parametrize("at", ["1769472000", "1769472000000", "1769472000000.0", '"2026-01-27T09:00:00+09:00"'])
def test_a_feed_is_read_without_binary_fractions(at: str) -> None:
    """Banks tell the time in milliseconds, too."""
    feed = FxFeed("JPY", "KRW", "feed", "data.0.rate", "data.0.at", per=100)
    body = f'{{"data": [{{"rate": 921.3500000000000000001, "at": {at}}}]}}'

    assert read_json(body.encode(), feed) == FxQuote(
        "JPY", "KRW", "9.213500000000000000001", "feed", datetime(2026, 1, 27, tzinfo=UTC), "0.0175"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b'{"rate": null, "at": 1}',
        b'{"rate": "NaN", "at": 1}',
        b'{"rate": 9, "at": true}',
        b'{"rate": 0, "at": 1}',
        b'{"rate": 9, "at": 1e30}',
        b"[]",
    ],
)
def test_a_feed_without_a_rate_has_drifted(body: bytes) -> None:
    with pytest.raises(Drifted, match="the answer of feed has no rate"):
        read_json(body, FxFeed("JPY", "KRW", "feed", "rate", "at"))
