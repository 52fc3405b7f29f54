from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from bobusang.kit.errors import Invalid
from bobusang.kit.url import Origin, joined, origin, readied, shown


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("https://www.okmall.com/products/list?brand=%B3%AA&x=%2B+a%20b", None),
        ("https://a.kr/?sig=a%2Fb%3D&%7e=~", None),
        ("HTTP://WWW.OKmall.com:80/A", "http://www.okmall.com/A"),
        (
            "https://a.kr/나이키?q=울 코트#top",
            "https://a.kr/%EB%82%98%EC%9D%B4%ED%82%A4?q=%EC%9A%B8%20%EC%BD%94%ED%8A%B8",
        ),
        ('https://a.kr/a|b{c}"<>\\', "https://a.kr/a%7Cb%7Bc%7D%22%3C%3E%5C"),
        ("https://한글.kr/", "https://xn--bj0bj06e.kr/"),
        ("http://①②⑦.⓪.⓪.①/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]:8080/", "http://[::ffff:127.0.0.1]:8080/"),
        (" https://a.kr ", "https://a.kr"),
    ],
)
def test_an_address_is_escaped_once_and_otherwise_as_written(text: str, sent: str | None) -> None:
    assert str(readied(text)) == (sent or text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.kr",
        "//a.kr/",
        "ftp://a.kr/",
        "javascript:alert(1)",
        "http:///x",
        "http:a.kr",
        "http://u@a.kr/",
        "http://u:p@a.kr/",
        "http://a.kr:x/",
        "http://a.kr:65536/",
        "http://a.kr:1:2/",
        "http://a kr/",
        "http://a.kr\\@b.kr/",
        "http://%61.kr/",
        "http://[fe80::1%25eth0]/",
        "http://[::1",
        "http://a.kr/\nX: y",
        "http://a.kr/\x00",
        "http://a.kr/" + "x" * 8200,
    ],
)
def test_what_is_no_web_address_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        readied(text)


@given(st.text(max_size=60), st.sampled_from(["", "http://", "https://a.kr/", "http://a.kr:80", "//"]))
def test_whatever_is_accepted_can_be_sent(text: str, before: str) -> None:
    try:
        url = readied(before + text)
    except Invalid:
        return

    sent = str(url)
    assert (sent.isascii(), url.scheme in {"http", "https"}, url.user) == (True, True, None)
    assert not any(sign <= " " for sign in sent)
    assert url.raw_host
    assert str(readied(sent)) == sent
    assert url.raw_path_qs.startswith("/")


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/b", "https://a.kr/b"),
        ("c?d=1", "https://a.kr/x/c?d=1"),
        ("//b.kr/", "https://b.kr/"),
        ("http://b.kr/", "http://b.kr/"),
        ("/\\b.kr/", "https://a.kr/%5Cb.kr/"),
        (" /b \t", "https://a.kr/b"),
        ("/" + b"\xb3\xaa".decode("utf-8", "surrogateescape"), "https://a.kr/%B3%AA"),
    ],
)
def test_a_location_is_seen_from_where_it_was_said(location: str, leads: str) -> None:
    assert joined(URL("https://a.kr/x/y"), location) == leads


@pytest.mark.parametrize(
    ("here", "there", "trusts"),
    [
        ("https://a.kr/", "https://a.kr:443/x", True),
        ("http://a.kr/", "https://a.kr/", True),
        ("https://a.kr/", "http://a.kr/", False),
        ("http://a.kr:8080/", "https://a.kr/", False),
        ("https://a.kr/", "https://www.a.kr/", False),
        ("https://a.kr/", "https://a.kr:8443/", False),
    ],
)
def test_an_origin_trusts_itself_and_itself_over_tls(here: str, there: str, trusts: bool) -> None:
    assert origin(URL(here)).trusts(origin(URL(there))) is trusts


def test_an_origin_and_how_an_address_is_shown() -> None:
    assert origin(URL("https://a.kr/b")) == Origin("https", "a.kr", 443)
    assert shown("https://a.kr/b?token=secret#x") == "https://a.kr/b"
