"""What a form lets through, and what no database could keep."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from bobusang.entry.api.fields import Day, Id, Instant, Numeric, Queue, Reference, unstorable
from bobusang.entry.tables import Role

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("가a🧺"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("가b"), inner, max_size=3),
)


@given(PLAIN)
def test_plain_data_is_storable(value: Any) -> None:
    assert unstorable(value) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a\0", ("", "a NUL character")),
        ({"a": [1, {"b": "\0"}]}, (".a[1].b", "a NUL character")),
        ({"a": {"\0": 1}}, ("the name of .a", "a NUL character")),
        (["\ud83e"], ("[0]", "half a character (an unpaired surrogate)")),
        ({"a": float("nan")}, (".a", "a number that is not finite")),
        ({"a": float("-inf")}, (".a", "a number that is not finite")),
    ],
)
def test_what_cannot_be_kept_is_pointed_at(value: Any, found: tuple[str, str]) -> None:
    assert unstorable(value) == found


def test_depth_costs_no_stack() -> None:
    deep: Any = "\0"
    for _ in range(100_000):
        deep = [deep]

    assert unstorable(deep) is not None


def taken(kind: Any, value: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return "refused"


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Reference, 7, 7),
        (Reference, 7.0, 7),
        (Reference, 7.5, "refused"),
        (Reference, float("inf"), "refused"),
        (Reference, "7", "7"),
        (Reference, "okmall", "okmall"),
        (Reference, "", "refused"),
        (Reference, "x" * 101, "refused"),
        (Reference, 0, "refused"),
        (Reference, True, "refused"),
        (Reference, 2**63, "refused"),
        (Reference, None, "refused"),
        (Id, 2**63 - 1, 2**63 - 1),
        (Id, "1", "refused"),
        (Annotated[int, Numeric], 3.0, 3),
        (Annotated[int, Numeric], 3.5, "refused"),
        (Annotated[int, Numeric], False, "refused"),
        (Queue, "high", "HIGH_PRIORITY"),
        (Queue, "NORMAL", "NORMAL"),
        (Queue, "Low_Priority", "LOW_PRIORITY"),
        (Queue, "fast", "refused"),
        (Instant, "2026-11-16T09:00:00+09:00", datetime(2026, 11, 16, tzinfo=UTC)),
        (Instant, "2026-11-16T09:00:00", "refused"),
        (Instant, "1800000000", "refused"),
        (Instant, 1_800_000_000, "refused"),
        (Day, "2026-11-16", date(2026, 11, 16)),
        (Day, "0", "refused"),
        (Instant, "0001-01-01T00:00:00+14:00", "refused"),
        (Instant, "9999-12-31T23:59:59-14:00", "refused"),
        (Annotated[int, "plain"], 1, 1),
    ],
)
def test_a_field_takes_what_it_says(kind: Any, value: Any, expected: Any) -> None:
    assert taken(kind, value) == expected


@pytest.mark.parametrize(
    ("role", "may"),
    [
        (Role.VIEWER, [Role.VIEWER]),
        (Role.OPERATOR, [Role.VIEWER, Role.OPERATOR]),
        (Role.ADMIN, [Role.VIEWER, Role.OPERATOR, Role.ADMIN]),
    ],
)
def test_a_role_includes_those_below_it(role: Role, may: list[Role]) -> None:
    assert [other for other in Role if role.includes(other)] == may
