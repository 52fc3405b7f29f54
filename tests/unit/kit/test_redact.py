from __future__ import annotations

import pytest

from bobusang.kit.redact import redact, scrub


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("postgresql://app:hunter2@db:5432/x?y=1", "postgresql://app:***@db:5432/x?y=1"),
        ("redis://:hunter2@cache", "redis://:***@cache"),
        ("two: http://a:b@c and https://d:e@f", "two: http://a:***@c and https://d:***@f"),
        ("https://host:8443/path?next=a@b", "https://host:8443/path?next=a@b"),
        ("POST https://hooks.slack.com/services/T0/B0/xyz 200", "POST https://hooks.slack.com/*** 200"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer ***"),
        ("the bearer of news", "the bearer of news"),
        ("GET /x?access_token=abc&page=2", "GET /x?access_token=***&page=2"),
        ("signed with whsec_abcDEF-123", "signed with ***"),
        ("비밀 아닌 글", "비밀 아닌 글"),
    ],
)
def test_secrets_are_found_by_their_look(text: str, safe: str) -> None:
    assert scrub(text) == safe


def test_secrets_are_found_by_the_name_of_their_field() -> None:
    assert redact(
        {
            "Password": "a",
            "api_key": "b",
            "X-Api-Key": "c",
            "Set-Cookie": ["d"],
            "Authorization": "e",
            "client_secret": 5,
            "accessToken": "f",
            "nested": [{"token": "g", "name": "h"}],
            "auth": {"user": "i"},
        }
    ) == {
        "Password": "***",
        "api_key": "***",
        "X-Api-Key": "***",
        "Set-Cookie": "***",
        "Authorization": "***",
        "client_secret": "***",
        "accessToken": "***",
        "nested": [{"token": "***", "name": "h"}],
        "auth": "***",
    }


def test_a_fencing_token_and_a_budget_are_no_secrets() -> None:
    plain = {"token": 17, "tokens": 2.5, "password": None, "author": "minji", "keys": ["k1"]}
    assert redact(plain) == plain


def test_what_is_not_plain_data_becomes_text() -> None:
    assert redact([ValueError("http://a:b@c"), b"raw", ("x",), {1: 2}]) == [
        "http://a:***@c",
        "<3 bytes>",
        ["x"],
        {"1": 2},
    ]


def test_data_that_holds_itself_ends() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert "…" in str(redact(endless))
