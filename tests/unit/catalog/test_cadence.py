"""A cadence is read as people write it, and written so that it is read as the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog import cadence
from bobusang.kit.errors import Invalid


@given(st.integers(0, 999_999))
def test_what_is_written_is_read_as_the_same(minutes: int) -> None:
    assert cadence.minutes(cadence.words(minutes)) == minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("30m", 30), (" 6 H ", 360), ("2d", 2880), ("90 minutes", 90), ("1 hour", 60), ("6시간", 360), ("2일", 2880)],
)
def test_minutes_hours_and_days(text: str, minutes: int) -> None:
    assert cadence.minutes(text) == minutes


@pytest.mark.parametrize("text", ["", "6", "h", "-1h", "1.5h", "6x", "1h30m", "9999999m"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Invalid, match="is no cadence") as caught:
        cadence.minutes(text)

    assert (caught.value.field, caught.value.hint) == ("cadence", "write minutes, hours or days: 30m, 6h, 2d")


@pytest.mark.parametrize(("minutes", "words"), [(30, "30m"), (60, "1h"), (90, "90m"), (1440, "1d"), (1500, "25h")])
def test_the_largest_unit_that_says_it_whole(minutes: int, words: str) -> None:
    assert cadence.words(minutes) == words
