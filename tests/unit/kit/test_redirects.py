from __future__ import annotations

import pytest

from bobusang.kit.errors import Blocked
from bobusang.kit.http import Call
from bobusang.kit.redirects import Hop, first_hop, next_hop
from bobusang.kit.url import readied

SAID = {"user-agent": "us/1", "accept-language": "ko", "accept-encoding": "gzip, deflate"}
SECRET = {"authorization": "Bearer x", "x-api-key": "k"}


def hop(url: str, method: str = "GET", body: bytes | None = None) -> Hop:
    return Hop(readied(url), method, SAID | SECRET, {"a": "1"}, body)


def test_a_call_becomes_its_first_request() -> None:
    call = Call(
        "https://a.kr/",
        headers={"Accept-Language": "ko", "Accept-Encoding": "br", "Cookie": "a=1; b=2"},
        cookies={"b": "3"},
    )
    first = first_hop(call, "us/1")

    assert first == Hop(readied("https://a.kr/"), "GET", SAID, {"a": "1", "b": "3"}, None)
    assert first.sent_headers() == {**SAID, "cookie": "a=1; b=3"}


@pytest.mark.parametrize("location", ["/b", "https://a.kr/b", "//a.kr:443/b"])
def test_at_home_everything_goes_along(location: str) -> None:
    found = next_hop(hop("https://a.kr/"), 302, location, {"new": "2"}, {})

    assert (found.headers, found.cookies) == (SAID | SECRET, {"a": "1", "new": "2"})


def test_a_cookie_that_is_withdrawn_stays_behind() -> None:
    assert next_hop(hop("https://a.kr/"), 302, "/b", {}, {"a": 0.0}).cookies == {}


@pytest.mark.parametrize("location", ["https://b.kr/", "https://www.a.kr/", "https://a.kr:8443/"])
def test_elsewhere_only_what_anyone_may_know_goes_along(location: str) -> None:
    assert next_hop(hop("https://a.kr/"), 302, location, {"new": "2"}, {}) == Hop(
        readied(location), "GET", SAID, {}, None
    )


def test_from_open_to_tls_is_still_at_home_but_never_back() -> None:
    assert next_hop(hop("http://a.kr/"), 301, "https://a.kr/", {}, {}).cookies == {"a": "1"}
    with pytest.raises(Blocked, match="from TLS to an open connection"):
        next_hop(hop("https://a.kr/"), 301, "http://a.kr/", {}, {})


@pytest.mark.parametrize(
    ("status", "method", "expected"),
    [
        (301, "POST", ("GET", None)),
        (302, "POST", ("GET", None)),
        (303, "POST", ("GET", None)),
        (307, "POST", ("POST", b"x")),
        (308, "POST", ("POST", b"x")),
        (303, "HEAD", ("HEAD", None)),
        (301, "GET", ("GET", None)),
    ],
)
def test_what_becomes_of_the_method(status: int, method: str, expected: tuple[str, bytes | None]) -> None:
    body = b"x" if method == "POST" else None
    found = next_hop(hop("https://a.kr/", method, body), status, "/b", {}, {})

    assert (found.method, found.body) == expected


def test_the_headers_of_a_body_go_with_the_body() -> None:
    posted = Hop(readied("https://a.kr/"), "POST", {**SAID, "content-type": "application/json"}, {}, b"{}")

    assert next_hop(posted, 303, "/b", {}, {}).headers == SAID
    assert next_hop(posted, 307, "/b", {}, {}).headers == posted.headers


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://a.kr/", "https://u@a.kr/", "https://a.kr:0x1/", "http://[x"]
)
def test_what_is_no_web_address_is_not_followed(location: str) -> None:
    with pytest.raises(Blocked):
        next_hop(hop("http://a.kr/"), 302, location, {}, {})
