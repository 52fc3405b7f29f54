from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from bobusang.kit.cookies import Jar, cookie_header, read_cookies, set_cookies
from bobusang.kit.errors import Invalid

NOW = datetime(2026, 10, 21, 7, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("token=abc", ({"token": "abc"}, {})),
        ("token=a=b==; Path=/; HttpOnly", ({"token": "a=b=="}, {})),
        ('v="quoted, value"; Secure', ({"v": '"quoted, value"'}, {})),
        ("XSRF-TOKEN=eyJ%3D; Max-Age=7200", ({"XSRF-TOKEN": "eyJ%3D"}, {"XSRF-TOKEN": 7200.0})),
        ("a=1; expires=Wed, 21 Oct 2026 07:30:00 GMT", ({"a": "1"}, {"a": 1800.0})),
        ("a=1; expires=Wed, 21-Oct-2026 07:30:00 GMT", ({"a": "1"}, {"a": 1800.0})),
        ("a=1; Expires=Wed, 21 Oct 2026 07:30:00 GMT; max-age=60", ({"a": "1"}, {"a": 60.0})),
        ("a=1; Max-Age=soon; Expires=later", ({"a": "1"}, {})),
        ("a=; Max-Age=0", ({}, {"a": 0.0})),
        ("a=1; Max-Age=-1", ({}, {"a": 0.0})),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ({}, {"a": 0.0})),
        ("a=", ({"a": ""}, {})),
        ("nothing", ({}, {})),
        ("=x", ({}, {})),
        ("a b=1", ({}, {})),
        ("a=\x001", ({}, {})),
    ],
)
def test_a_line_sets_a_cookie_for_a_time(line: str, expected: tuple[dict[str, str], dict[str, float]]) -> None:
    assert set_cookies([line], NOW) == expected


def test_the_last_line_of_a_name_counts() -> None:
    assert set_cookies(["a=1; Max-Age=5", "b=1", "a=2"], NOW) == ({"a": "2", "b": "1"}, {})
    assert set_cookies(["a=1", "a=; Max-Age=0"], NOW) == ({}, {"a": 0.0})


@given(st.lists(st.text(max_size=60), max_size=5))
def test_whatever_was_set_can_be_sent_back(lines: list[str]) -> None:
    cookies, ages = set_cookies(lines, NOW)

    assert read_cookies(cookie_header(cookies)) == cookies
    assert all(age >= 0 for age in ages.values())


@pytest.mark.parametrize("cookies", [{"a": "1;b=2"}, {"a": "1\r\n"}, {"a;": "1"}, {"": "1"}, {"a": "\ud800"}])
def test_what_would_become_something_else_is_not_sent(cookies: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        cookie_header(cookies)


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


def test_a_jar_gathers_over_the_answers_of_a_call() -> None:
    first = Jar().filled(headers(("Set-Cookie", "a=1; Max-Age=9"), ("Set-Cookie", "b=1")))
    second = first.filled(headers(("set-cookie", "b=; Max-Age=0"), ("Set-Cookie", "c=3")))

    assert first == Jar({"a": "1", "b": "1"}, {"a": 9.0})
    assert second == Jar({"a": "1", "c": "3"}, {"a": 9.0, "b": 0.0})


def test_a_date_counts_from_their_clock() -> None:
    told = headers(
        ("Date", "Fri, 01 Jan 2038 00:00:00 GMT"), ("Set-Cookie", "a=1; Expires=Fri, 01 Jan 2038 01:00:00 GMT")
    )

    assert Jar().filled(told).ages == {"a": 3600.0}
