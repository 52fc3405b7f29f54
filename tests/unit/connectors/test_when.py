from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.sources.declared.when import Standing, parse_when
from bobusang.kit.errors import Invalid

DAY = timedelta(hours=24)
NEW = Standing(is_new=True)
FRESH = Standing(age=timedelta(hours=1))
OLD = Standing(age=timedelta(hours=30))
CHEAPER = Standing(age=timedelta(hours=1), changed=frozenset({"price"}))

HOLDS = [
    ("", FRESH, True),
    ("always", FRESH, True),
    ("new", NEW, True),
    ("new", FRESH, False),
    ("new or older_than(24h)", OLD, True),
    ("new or older_than(24h)", FRESH, False),
    ("older_than(24h)", Standing(age=DAY), True),
    ("older_than(24h)", Standing(), True),
    ("changed(price)", CHEAPER, True),
    ("changed(stock)", CHEAPER, False),
    ("changed(stock, price)", CHEAPER, True),
    ("changed", CHEAPER, True),
    ("changed", FRESH, False),
    ("due and not partial", Standing(due=True), True),
    ("due and not partial", Standing(due=True, partial=True), False),
    ("(new or due) and partial", Standing(due=True, partial=True), True),
    ("new or due and partial", NEW, True),
    ("not (new or due)", FRESH, True),
]


@pytest.mark.parametrize(("text", "standing", "holds"), HOLDS)
def test_a_condition_holds_or_not(text: str, standing: Standing, holds: bool) -> None:
    assert parse_when(text).holds(standing) is holds


WRONG = {
    "nwe": "unknown word 'nwe' (did you mean new?)",
    "new or": "it breaks off (as in new or older_than(24h))",
    "new new": "'new' is one too many",
    "(new": "a ) is missing",
    "older_than": "older_than needs a time (as in older_than(24h))",
    "older_than(soon)": "'soon' is no time (as in 30s, 5m, 24h or 14d)",
    "changed()": "a name or a time is expected, not ')' (as in changed(price) or older_than(24h))",
    "new; due": "';' is one too many",
    "(" * 40 + "new": "nested more than 10 deep",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_what_is_not_understood_is_named(text: str, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_when(text)

    assert str(caught.value) == f"condition '{text[:100]}': {said}"


WORDS = st.sampled_from(["new", "due", "partial", "changed", "changed(price)", "older_than(24h)", "always"])
STANDINGS = st.builds(
    Standing,
    is_new=st.booleans(),
    changed=st.frozensets(st.sampled_from(["price", "stock"])),
    age=st.none() | st.timedeltas(timedelta(0), timedelta(days=3)),
    due=st.booleans(),
    partial=st.booleans(),
)


@given(WORDS, WORDS, STANDINGS)
def test_conditions_join_as_in_logic(one: str, other: str, standing: Standing) -> None:
    first, second = parse_when(one).holds(standing), parse_when(other).holds(standing)

    assert parse_when(f"{one} and {other}").holds(standing) is (first and second)
    assert parse_when(f"{one} or {other}").holds(standing) is (first or second)
    assert parse_when(f"not ({one} or {other})").holds(standing) is not (first or second)


@given(st.text("newdu() or,not24h", max_size=60))
def test_any_text_is_a_condition_or_invalid(text: str) -> None:
    try:
        parse_when(text).holds(FRESH)
    except Invalid:
        pass
