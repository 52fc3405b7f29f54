"""What an answer means."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit import json
from bobusang.kit.errors import Blocked, BobusangError, Drifted, Invalid, Throttled, Unavailable
from bobusang.kit.http import Answer, Oversized
from bobusang.stages.collect.policy import BackOff, Identity, IdentityKind, Policy, Reaction, Response, Says
from bobusang.stages.collect.responses import Tally, Verdict, classify, tally
from bobusang.stages.collect.source import Kind
from bobusang.testing.clock import NOON

URL = "https://m.example/mustit-api/v1/search?pageNo=1"
PLAIN = Policy()
SESSION = Policy(identity=Identity(IdentityKind.SESSION))
KEY = Policy(identity=Identity(IdentityKind.API_KEY))
CAPTURES = Path(__file__).parents[4] / "shared" / "captures"


def answer(status: int, body: bytes = b"{}", **headers: str) -> Answer:
    return Answer(URL, status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


@pytest.mark.parametrize(
    ("policy", "kind", "got", "expected"),
    [
        (PLAIN, Kind.LIST, answer(200), Verdict(Reaction.READ, "")),
        (PLAIN, Kind.LIST, answer(304, b""), Verdict(Reaction.READ, "not modified")),
        (
            PLAIN,
            Kind.LIST,
            answer(429),
            Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429: too many calls"),
        ),
        (
            PLAIN,
            Kind.LIST,
            answer(429, retry_after="120"),
            Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429: too many calls", None, timedelta(seconds=120)),
        ),
        (
            PLAIN,
            Kind.LIST,
            answer(429, retry_after="Tue, 27 Jan 2026 12:05:00 GMT"),
            Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429: too many calls", None, timedelta(minutes=5)),
        ),
        (SESSION, Kind.LIST, answer(401), Verdict(Reaction.RENEW_IDENTITY, "HTTP 401: the session is over")),
        (KEY, Kind.LIST, answer(401), Verdict(Reaction.HALT, "HTTP 401: our key is refused")),
        (PLAIN, Kind.LIST, answer(401), Verdict(Reaction.HALT, "HTTP 401: they want to know who we are")),
        (PLAIN, Kind.ITEM, answer(403), Verdict(Reaction.HALT, "HTTP 403: they do not want us here")),
        (PLAIN, Kind.ITEM, answer(404), Verdict(Reaction.GONE, "HTTP 404: the item is no more")),
        (PLAIN, Kind.ITEM, answer(410), Verdict(Reaction.GONE, "HTTP 410: the item is no more")),
        (PLAIN, Kind.PART, answer(404), Verdict(Reaction.FAIL, "HTTP 404: this request will not be answered")),
        (PLAIN, Kind.LIST, answer(404), Verdict(Reaction.FAIL, "HTTP 404: this request will not be answered")),
        (PLAIN, Kind.LIST, answer(400), Verdict(Reaction.FAIL, "HTTP 400: this request will not be answered")),
        (PLAIN, Kind.LIST, answer(302), Verdict(Reaction.FAIL, "HTTP 302: this request will not be answered")),
        (PLAIN, Kind.LIST, answer(408), Verdict(Reaction.RETRY, "HTTP 408")),
        (PLAIN, Kind.LIST, answer(500), Verdict(Reaction.RETRY, "HTTP 500: their fault")),
        (
            PLAIN,
            Kind.LIST,
            answer(503, retry_after="7"),
            Verdict(Reaction.RETRY, "HTTP 503: their fault", None, timedelta(seconds=7)),
        ),
    ],
)
def test_the_built_in_table(policy: Policy, kind: Kind, got: Answer, expected: Verdict) -> None:
    assert classify(policy, URL, got, now=NOON, kind=kind) == expected


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (200, b"<html><head><title>Just a moment...</title>", "just a moment"),
        (503, b"\n<html><title>Human Verification</title>", "human verification"),
        (200, b"<html><title>shop</title>" + b" " * 50_000 + b"</html>", ""),
        (200, b"<html><body><form class='g-recaptcha'>", "captcha"),
        (200, b"<html><title>coat</title>" + b"x" * 20_000 + b"<script src=recaptcha.js>", ""),
        (200, b'{"name": "captcha coat"}', ""),
    ],
)
def test_a_bot_wall_halts_and_a_page_with_a_log_in_form_does_not(status: int, body: bytes, says: str) -> None:
    expected = Verdict(Reaction.HALT, f"a bot wall: the page says '{says}'") if says else Verdict(Reaction.READ, "")

    assert classify(PLAIN, URL, answer(status, body), now=NOON) == expected


def test_a_challenge_that_says_so_in_its_headers_halts() -> None:
    got = classify(PLAIN, URL, answer(403, b"", cf_mitigated="challenge"), now=NOON)

    assert got == Verdict(Reaction.HALT, "a bot wall: the answer is a challenge")


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the captured pages are not here")
def test_no_captured_page_is_taken_for_a_bot_wall() -> None:
    pages = [path for path in CAPTURES.iterdir() if path.suffix in (".html", ".json")]

    assert pages
    assert {path.name: classify(PLAIN, URL, answer(200, path.read_bytes()), now=NOON).reaction for path in pages} == {
        path.name: Reaction.READ for path in pages
    }


BACK_OFF = BackOff(timedelta(seconds=30))
TABLE = Policy(
    identity=Identity(IdentityKind.SESSION),
    responses=(
        Response(Reaction.COOLDOWN_IDENTITY, (429,), back_off=BACK_OFF),
        Response(Reaction.RENEW_IDENTITY, (400,), path="/search", reason="nid or uid is missing"),
        Response(Reaction.OPEN_BREAKER, body_has=("점검 중",), rest=timedelta(minutes=30), reason="maintenance"),
        Response(Reaction.FAIL, json=(Says("errors.0.code"),)),
        Response(Reaction.OPEN_BREAKER, (5,)),
    ),
)


@pytest.mark.parametrize(
    ("url", "got", "expected"),
    [
        (
            URL,
            answer(429, retry_after="9"),
            Verdict(Reaction.COOLDOWN_IDENTITY, "HTTP 429: cooldown identity", BACK_OFF, timedelta(seconds=9)),
        ),
        (URL, answer(400), Verdict(Reaction.RENEW_IDENTITY, "nid or uid is missing")),
        ("https://m.example/other?x=/search", answer(400), None),
        (
            URL,
            answer(200, "<p>지금은 점검 중입니다".encode()),
            Verdict(Reaction.OPEN_BREAKER, "maintenance", rest=timedelta(minutes=30)),
        ),
        (
            URL,
            answer(200, "<p>지금은 점검 중입니다".encode("cp949")),
            Verdict(Reaction.OPEN_BREAKER, "maintenance", rest=timedelta(minutes=30)),
        ),
        (URL, answer(200, b" " * 70_000 + "점검 중".encode()), Verdict(Reaction.READ, "")),
        (URL, answer(200, b'{"errors": [{"code": 7}]}'), Verdict(Reaction.FAIL, "HTTP 200: fail")),
        (URL, answer(200, b'{"errors": [{"code": null}]}'), Verdict(Reaction.READ, "")),
        (URL, answer(200, b'{"errors": []}'), Verdict(Reaction.READ, "")),
        (URL, answer(200, b'{"errors": '), Verdict(Reaction.READ, "")),
        (URL, answer(200, b"[" * 100_000), Verdict(Reaction.READ, "")),
        (URL, answer(502), Verdict(Reaction.OPEN_BREAKER, "HTTP 502: open breaker")),
    ],
)
def test_the_first_line_of_the_source_that_matches_counts(url: str, got: Answer, expected: Verdict | None) -> None:
    built_in = Verdict(Reaction.FAIL, "HTTP 400: this request will not be answered")

    assert classify(TABLE, url, got, now=NOON) == (expected or built_in)


@pytest.mark.parametrize("text", ["🚧", "🚧 403"])
def test_a_text_that_the_old_encoding_cannot_have_is_not_half_looked_for(text: str) -> None:
    policy = Policy(responses=(Response(Reaction.HALT, body_has=(text,), reason="closed"),))
    bodies = (b"{}", b"<p>room 403", f"<p>{text}".encode())

    assert [classify(policy, URL, answer(200, body), now=NOON).reaction for body in bodies] == [
        Reaction.READ,
        Reaction.READ,
        Reaction.HALT,
    ]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Unavailable("no answer\x00within 30 s"), Verdict(Reaction.RETRY, "no answer within 30 s")),
        (TimeoutError(), Verdict(Reaction.RETRY, "TimeoutError")),
        (ConnectionResetError("reset"), Verdict(Reaction.RETRY, "reset")),
        (
            Throttled("later", until=NOON + timedelta(seconds=5)),
            Verdict(Reaction.COOLDOWN_IDENTITY, "later", None, timedelta(seconds=5)),
        ),
        (Blocked("10.0.0.1 is not called"), Verdict(Reaction.FAIL, "10.0.0.1 is not called")),
        (Oversized("200 MB"), Verdict(Reaction.FAIL, "200 MB")),
        (Invalid("no HTTP address"), Verdict(Reaction.FAIL, "no HTTP address")),
        (Drifted("the session lacks nid"), Verdict(Reaction.HALT, "the session lacks nid")),
        (BobusangError("else"), Verdict(Reaction.FAIL, "else")),
    ],
)
def test_errors_of_the_transport(error: Exception, expected: Verdict) -> None:
    assert classify(PLAIN, URL, error, now=NOON) == expected


def test_verdicts_add_up() -> None:
    verdicts = [
        Verdict(Reaction.READ, ""),
        Verdict(Reaction.GONE, "gone"),
        Verdict(Reaction.FAIL, "400"),
        Verdict(Reaction.RETRY, "500", None, timedelta(seconds=3)),
        Verdict(Reaction.RENEW_IDENTITY, "401"),
        Verdict(Reaction.COOLDOWN_IDENTITY, "429", BACK_OFF, timedelta(seconds=9)),
        Verdict(Reaction.OPEN_BREAKER, "maintenance", rest=timedelta(minutes=1)),
        Verdict(Reaction.HALT, "wall"),
    ]

    assert tally(verdicts) == Tally(
        calls=8,
        answered=3,
        throttled=1,
        refused=1,
        broken=1,
        trouble="500",
        failed=1,
        halted="wall",
        opened="maintenance",
        retry_after=timedelta(seconds=9),
        back_off=BACK_OFF,
        rest=timedelta(minutes=1),
    )
    assert tally([]) == Tally()


@pytest.mark.parametrize(
    ("says", "body", "expected"),
    [
        (Says("errors"), b'{"errors": [{"message": "x"}], "data": {}}', True),
        (Says("errors"), b'{"errors": null}', False),
        (Says("meta.result", unequal=("SUCCESS",)), b'{"meta": {"result": "FAIL"}}', True),
        (Says("meta.result", unequal=("SUCCESS",)), b'{"meta": {"result": "SUCCESS"}}', False),
        (Says("meta.result", unequal=("SUCCESS",)), b'{"data": {}}', False),
        (Says("meta.result", unequal=("SUCCESS",)), b"<html>result</html>", False),
        (Says("code", equal=(17, 18)), b'{"code": 18}', True),
        (Says("code", equal=(1,)), b'{"code": true}', False),
        (Says("code", equal=("1",)), b'{"code": 1}', False),
        (
            Says("errors.message", has=("quota", "\ud55c\ub3c4")),
            b'{"errors": {"message": "\\ud55c\\ub3c4 \\ucd08"}}',
            True,
        ),
        (Says("errors.message", has=("quota",)), b'{"errors": {"message": 7}}', False),
    ],
)
def test_a_line_may_ask_what_a_json_answer_says(says: Says, body: bytes, expected: bool) -> None:
    policy = Policy(responses=(Response(Reaction.RETRY, json=(says,)),))

    found = classify(policy, URL, answer(200, body), now=NOON)

    assert found.reaction is (Reaction.RETRY if expected else Reaction.READ)


NAMES = st.sampled_from(["a", "b", "0", "result"])
SAID = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
)


@given(SAID, st.lists(NAMES, min_size=1, max_size=3))
def test_what_stands_at_a_place_is_found_however_the_answer_is_made(said: Any, names: list[str]) -> None:
    policy = Policy(responses=(Response(Reaction.RETRY, json=(Says(".".join(names)),)),))
    found = said
    for name in names:
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            found = found.get(name) if isinstance(found, dict) else None

    verdict = classify(policy, URL, answer(200, json.dumps(said).encode()), now=NOON)

    assert verdict.reaction is (Reaction.READ if found is None else Reaction.RETRY)
