"""Names are matched by whole tokens, and a line is never taken for its house."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.stages.convert import naming
from bobusang.stages.convert.naming import How, Match, Names

MARKET = Names(
    [
        (1, "GUCCI(グッチ)"),
        (2, "GUCCI KIDS"),
        (3, "Maison Margiela"),
        (4, "MM6 Maison Margiela"),
        (5, "A.P.C."),
        (6, "ON"),
        (7, "ONITSUKA TIGER"),
        (8, "Vivienne Westwood"),
        (9, "CHLOÉ"),
        (10, "NIKE"),
        (11, "Acme"),
        (12, "ACME"),
    ]
)
ALIASES = {naming.folded("나이키"): "NIKE", naming.folded("구찌"): "グッチ"}


@pytest.mark.parametrize(
    ("called", "match"),
    [
        (("nike",), Match(10, "NIKE", How.EXACT, 1.0)),
        (("나이키",), Match(10, "NIKE", How.ALIAS, 0.95)),
        (("구찌",), Match(1, "GUCCI(グッチ)", How.ALIAS, 0.95)),
        (("Gucci",), Match(1, "GUCCI(グッチ)", How.ALIAS, 0.95)),
        (("GUCCI KIDS",), Match(2, "GUCCI KIDS", How.EXACT, 1.0)),
        (("APC",), Match(5, "A.P.C.", How.EXACT, 1.0)),
        (("Chloe",), Match(9, "CHLOÉ", How.EXACT, 1.0)),
        (("ON",), Match(6, "ON", How.EXACT, 1.0)),
        (("나이키(NIKE)",), Match(10, "NIKE", How.EXACT, 1.0)),
    ],
)
def test_a_brand_is_found(called: tuple[str, ...], match: Match) -> None:
    assert MARKET.find(called, ALIASES) == [match]


def test_what_is_nearly_the_same_is_found_and_is_less_sure() -> None:
    (match,) = MARKET.find(["VIVIENNE WESTWOD"], {})

    assert (match.id, match.how, match.sure) == (8, How.FUZZY, True)
    assert match.confidence < 0.95


@pytest.mark.parametrize("called", ["O", "OM", "GUCCI HOMME", "키즈", "KIDS", "", "()", "Westwood London Home"])
def test_what_only_looks_alike_is_not_sure(called: str) -> None:
    assert not any(match.sure for match in MARKET.find([called], {}))


def test_a_name_that_two_rows_share_is_a_doubt() -> None:
    assert MARKET.find(["acme"], {}) == [Match(11, "Acme", How.EXACT, 0.5), Match(12, "ACME", How.EXACT, 0.5)]


def test_two_that_are_as_near_are_not_sure_unless_one_of_them_is_meant() -> None:
    names = Names([(1, "Sneakers"), (2, "SNEAKERS")])

    assert [one.sure for one in names.find(["Sneaker"], {})] == [False, False]
    assert [(one.id, one.sure) for one in names.find(["Sneaker"], {}, {2})] == [(2, True), (1, True)]


@pytest.mark.parametrize(
    ("one", "other"),
    [("GUCCI", "GUCCI KIDS"), ("MM6", "Maison Margiela"), ("MM6 Maison Margiela", "Maison Margiela"), ("ON", "OM")],
)
def test_lines_and_short_names_stay_apart(one: str, other: str) -> None:
    assert naming.nearness(one, other) == 0


names = st.text(alphabet="abcdeé .&'나이키グ", max_size=15)


@given(names, names)
def test_nearness_is_a_share_and_a_name_is_itself(one: str, other: str) -> None:
    assert 0 <= naming.nearness(one, other) <= 1
    assert naming.nearness(one, one) == (1 if naming.tokens(one) else 0)
    assert naming.folded(naming.folded(one)) == naming.folded(one)
