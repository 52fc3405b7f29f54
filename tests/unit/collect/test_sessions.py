"""Sessions: asked for, read from an answer, and shown with every call."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Drifted, Invalid, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.stages.collect.policy import Expiry, Identity, IdentityKind, Issue, Policy
from bobusang.stages.collect.sessions import Session, issue_call, session_of, shown, shown_query
from bobusang.stages.collect.source import Ask, Page, Reads, Source, Target
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MUSTIT = Policy(
    identity=Identity(
        IdentityKind.SESSION,
        issue=Issue(),
        expect_cookies=("token", "nid"),
        headers={"Authorization": "Bearer {token}"},
        cookies=("nid",),
    ),
    headers={"Accept-Language": "ko"},
)
COOKIES = {"token": "a.b.c", "nid": "n-1", "tracker": "x"}
HOUR = timedelta(hours=1)


class Place(Source):
    """A source that lives at two hosts."""

    name = "place"
    base = "https://m.example"
    hosts = MappingProxyType({"auth": "https://auth.example/v1"})

    def seeds(self, target: Target) -> Iterable[Ask]:
        return ()

    def read(self, page: Page) -> Iterable[Reads]:
        return ()


def source(policy: Policy) -> Source:
    found = Place()
    found.policy = policy
    return found


def page(cookies: dict[str, str], ages: dict[str, float] | None = None, status: int = 200) -> Answer:
    return Answer("https://m.example/", status, {}, b"", cookies, ages or {})


def test_the_call_that_asks_for_a_session_says_who_we_are() -> None:
    assert issue_call(source(MUSTIT), "Agent/1") == Call(
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


def text_of(answer: Answer) -> str | None:
    return answer.body.decode() or None


def policy_of(issue: Issue, expires: Expiry = Expiry.JWT) -> Policy:
    return Policy(
        identity=Identity(IdentityKind.LOGIN, issue=issue, expires=expires, headers={"Authorization": "Bearer {token}"})
    )


AUTH = Issue(
    "/auth",
    "POST",
    "auth",
    {"X-From": "us"},
    {"service": "acme", "who": ["{username}", "{password}"], "kept": "{other} {}"},
    token=text_of,
)


def test_a_log_in_sends_name_and_password_as_json_to_its_own_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each also by reference: then the database does not hold it."""
    (tmp_path / "password").write_text('p"w\n', "utf-8")
    monkeypatch.setenv("ACME_NAME", "kim")
    given = {"username": "env:ACME_NAME", "password": f"file:{tmp_path / 'password'}"}

    assert issue_call(source(policy_of(AUTH)), "Agent/1", given) == Call(
        "https://auth.example/v1/auth",
        "POST",
        {
            "accept": "text/html,*/*;q=0.8",
            "content-type": "application/json",
            "x-from": "us",
            "user-agent": "Agent/1",
        },
        body=b'{"service":"acme","who":["kim","p\\"w"],"kept":"{other} {}"}',
    )


def test_a_log_in_may_be_a_form() -> None:
    policy = policy_of(Issue("/login", "POST", form={"id": "{username}", "pw": "{password}"}))

    found = issue_call(source(policy), "Agent/1", {"username": "kim", "password": "a&b=c"})

    assert (found.body, found.headers["content-type"]) == (
        b"id=kim&pw=a%26b%3Dc",
        "application/x-www-form-urlencoded",
    )


def jwt(**said: Any) -> str:
    return f"h.{urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip('=')}.s"


@pytest.mark.parametrize(
    ("token", "expires", "life"),
    [
        (jwt(exp=(NOON + timedelta(days=30)).timestamp()), Expiry.JWT, timedelta(days=30)),
        (jwt(iat=1), Expiry.JWT, 2 * HOUR),
        ("no.jwt", Expiry.JWT, 2 * HOUR),
        (jwt(exp=(NOON + HOUR).timestamp()), Expiry.FALLBACK, 2 * HOUR),
    ],
)
def test_a_token_that_is_read_of_the_answer_lives_as_long_as_it_says(
    token: str, expires: Expiry, life: timedelta
) -> None:
    answer = Answer("https://m.example/auth", 200, {}, token.encode())

    found = session_of(policy_of(AUTH, expires), answer, NOON)

    assert found == Session(token, {}, NOON + life, NOON + life - timedelta(minutes=5))


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("", Drifted, "has no token that can be read"),
        ("two words", Drifted, "holds what no token holds"),
        ("x" * 10_000, Drifted, "holds what no token holds"),
        (jwt(exp=NOON.timestamp() - 1), Unavailable, "over already"),
    ],
)
def test_an_answer_without_a_token_is_no_session(body: str, error: type[BobusangError], words: str) -> None:
    with pytest.raises(error, match=words):
        session_of(policy_of(AUTH), Answer("https://m.example/auth", 200, {}, body.encode()), NOON)


def test_a_key_may_belong_into_the_address() -> None:
    policy = Policy(identity=Identity(IdentityKind.API_KEY, query={"aid": "{token}", "ver": "4.1"}))

    assert shown_query(policy, "k&y", {}) == {"aid": "k&y", "ver": "4.1"}
