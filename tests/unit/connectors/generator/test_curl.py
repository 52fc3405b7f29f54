"""A pasted curl command: what it asks for, without what opens a door; nothing of it is run."""

from __future__ import annotations

import pytest

from bobusang.connectors.sources.generator.curl import looks_like_curl, parsed
from bobusang.connectors.sources.generator.sample import Request
from bobusang.kit.errors import Invalid

CHROME = """curl 'https://api.acme.co.kr/list?page=1&size=20' \\
  -H 'accept: application/json' \\
  -H 'accept-language: ko-KR' \\
  -H 'authorization: Bearer eyJhbGciOi' \\
  -b 'sid=1; uid=2' \\
  -H 'sec-ch-ua: "Chromium"' \\
  -H 'user-agent: Mozilla/5.0' \\
  -H 'x-api-key: abc' \\
  --data-raw '{"brand":"it'\\''s","page":1}' --compressed"""

COMMANDS = [
    (
        CHROME,
        Request(
            "https://api.acme.co.kr/list?page=1&size=20",
            "POST",
            {"accept": "application/json", "accept-language": "ko-KR"},
            '{"brand":"it\'s","page":1}',
            ("authorization", "Cookie", "x-api-key"),
        ),
    ),
    ("curl acme.co.kr/list", Request("https://acme.co.kr/list")),
    ("$ curl -s -L --url http://acme.co.kr/ -o out.txt", Request("http://acme.co.kr/")),
    (
        "curl -X PUT --json '{}' https://acme.co.kr",
        Request("https://acme.co.kr", "PUT", {"Content-Type": "application/json"}, "{}"),
    ),
    ("curl https://acme.co.kr -d a=1 -d b=2", Request("https://acme.co.kr", "POST", {}, "a=1&b=2")),
    ("curl 'https://acme.co.kr/$(touch x)`id`;ls'", Request("https://acme.co.kr/$(touch x)`id`;ls")),
]


@pytest.mark.parametrize(("text", "request_"), COMMANDS, ids=range(len(COMMANDS)))
def test_a_command_is_what_it_asks_for(text: str, request_: Request) -> None:
    assert parsed(text) == request_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curl 'https://acme.co.kr", "cannot be read"),
        ("curl -s", "names no address"),
        ("curl file:///etc/passwd", "names no address"),
        ("curl -X DELETE https://acme.co.kr", "not by DELETE"),
        ("curl https://acme.co.kr -d @/etc/passwd", "a body from a file is not read"),
        ("curl -K config https://acme.co.kr", "-K of curl is not understood"),
        ("curl -F 'a=@/etc/passwd' https://acme.co.kr", "-F of curl is not understood"),
        ("curl -u me:secret https://acme.co.kr", "-u of curl is not understood"),
        ("curl " + "x" * 200_000, "at most 100,000"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(text: str, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        parsed(text)


def test_a_command_is_told_from_a_name() -> None:
    assert [looks_like_curl(text) for text in ("curl x", "  curl.exe x", "curly", "corner", "{}")] == [
        True,
        True,
        False,
        False,
        False,
    ]
