"""Sessions: asked for, read from an answer, and shown with every call."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bobusang.kit.errors import BobusangError, Drifted, Invalid, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.stages.collect.policy import Identity, IdentityKind, Policy
from bobusang.stages.collect.sessions import Session, issue_call, session_of, shown
from bobusang.testing.clock import NOON

MUSTIT = Policy(
    identity=Identity(
        IdentityKind.SESSION,
        issue_path="/",
        expect_cookies=("token", "nid"),
        headers={"Authorization": "Bearer {token}"},
        cookies=("nid",),
    ),
    headers={"Accept-Language": "ko"},
)
COOKIES = {"token": "a.b.c", "nid": "n-1", "tracker": "x"}
HOUR = timedelta(hours=1)


def page(cookies: dict[str, str], ages: dict[str, float] | None = None, status: int = 200) -> Answer:
    return Answer("https://m.example/", status, {}, b"", cookies, ages or {})


def test_the_call_that_asks_for_a_session_says_who_we_are() -> None:
    assert issue_call("https://m.example", MUSTIT, "Agent/1") == Call(
        "https://m.example/",
        headers={"accept": "text/html,*/*;q=0.8", "accept-language": "ko", "user-agent": "Agent/1"},
    )


KEPT = {"token": "a.b.c", "nid": "n-1"}


@pytest.mark.parametrize(
    ("ages", "life", "renewed"),
    [
        ({}, 2 * HOUR, 2 * HOUR - timedelta(minutes=5)),
        ({"token": 3600.0, "nid": 60.0}, HOUR, HOUR - timedelta(minutes=5)),
        ({"nid": 86400.0}, 2 * HOUR, 2 * HOUR - timedelta(minutes=5)),
        ({"token": 60.0}, timedelta(seconds=60), timedelta(seconds=30)),
        ({"token": 1e18}, timedelta(days=365), timedelta(days=365) - timedelta(minutes=5)),
    ],
)
def test_a_session_lives_as_long_as_its_token_says(ages: dict[str, float], life: timedelta, renewed: timedelta) -> None:
    assert session_of(MUSTIT, page(COOKIES, ages), NOON) == Session("a.b.c", KEPT, NOON + life, NOON + renewed)


def test_without_a_token_the_shortest_lived_cookie_counts() -> None:
    policy = Policy(identity=Identity(IdentityKind.SESSION, expect_cookies=("sid", "uid")))

    found = session_of(policy, page({"sid": "1", "uid": "2"}, {"sid": 600.0, "uid": 900.0}), NOON)

    assert found == Session(None, {"sid": "1", "uid": "2"}, NOON + timedelta(minutes=10), NOON + timedelta(minutes=5))


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (page({}), Unavailable, "set none of the cookies token, nid"),
        (page({"tracker": "x"}), Unavailable, "set none of the cookies token, nid"),
        (page({"token": "", "nid": ""}), Unavailable, "set none of the cookies token, nid"),
        (page(COOKIES, status=503), Unavailable, "answered HTTP 503"),
        (page({"nid": "n-1"}), Drifted, "lacks the cookie token"),
        (page(COOKIES, {"token": 0.0}), Drifted, "lacks the cookie token"),
        (page({**COOKIES, "token": "a\r\nX: y"}), Drifted, "the cookie token holds what no cookie holds"),
        (page({**COOKIES, "token": "a" * 10_000}), Drifted, "the cookie token holds what no cookie holds"),
    ],
)
def test_what_is_no_session_says_what_is_missing(answer: Answer, error: type[BobusangError], words: str) -> None:
    with pytest.raises(error, match=words):
        session_of(MUSTIT, answer, NOON)


def test_an_identity_shows_its_session_with_every_call() -> None:
    assert shown(MUSTIT, "Agent/1", "a.b.c", KEPT) == (
        {"accept-language": "ko", "authorization": "Bearer a.b.c", "user-agent": "Agent/1"},
        {"nid": "n-1"},
    )


def test_a_header_that_names_what_was_not_issued_is_refused() -> None:
    policy = Policy(identity=Identity(IdentityKind.SESSION, headers={"X-Uid": "{mustit_uid}"}))

    with pytest.raises(Invalid, match=r"names \{mustit_uid\}, which the session does not have"):
        shown(policy, "Agent/1", "a.b.c", KEPT)


def test_secrets_are_not_in_the_words_for_a_session() -> None:
    session: Any = session_of(MUSTIT, page(COOKIES), NOON)

    assert "a.b.c" not in repr(session)
    assert "n-1" not in repr(session)
