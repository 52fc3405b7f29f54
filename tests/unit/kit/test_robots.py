from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.robots import Judgement, Standing, judged

US = "bobusang/0.1 (+mailto:shop@example.com)"
MALL = "https://shop.example"

FILE = """\ufeff# a mall
User-agent: Yeti
User-agent: Googlebot   # two names, one group
Allow: /

User-agent: *
Disallow: /members/     # people
Disallow: /*.json$
Allow: /members/login
Crawl-delay: 1.5
Sitemap: https://shop.example/sitemap.xml
Disallow: /search?*sort=

User-agent: BadBot
Disallow: /
"""


def said(text: str, path: str, agent: str = US) -> Judgement:
    return judged(200, text, url=MALL + path, agent=agent)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", Judgement(Standing.ALLOWED, "no rule speaks of this address", 1.5)),
        ("/members/list", Judgement(Standing.DISALLOWED, "line 7: Disallow: /members/     # people", 1.5)),
        ("/members/login", Judgement(Standing.ALLOWED, "line 9: Allow: /members/login", 1.5)),
        ("/api/items.json", Judgement(Standing.DISALLOWED, "line 8: Disallow: /*.json$", 1.5)),
        ("/api/items.json?page=2", Judgement(Standing.ALLOWED, "no rule speaks of this address", 1.5)),
        ("/search?q=a&sort=NEW", Judgement(Standing.DISALLOWED, "line 12: Disallow: /search?*sort=", 1.5)),
        ("/robots.txt", Judgement(Standing.ALLOWED, "no rule speaks of this address", 1.5)),
    ],
)
def test_the_longest_rule_of_everyones_group_decides(path: str, expected: Judgement) -> None:
    assert said(FILE, path) == expected


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("Mozilla/5.0 (compatible; Yeti/1.1)", Judgement(Standing.ALLOWED, "line 4: Allow: /")),
        ("googlebot", Judgement(Standing.ALLOWED, "line 4: Allow: /")),
        ("BADBOT/2", Judgement(Standing.DISALLOWED, "line 15: Disallow: /")),
    ],
)
def test_a_group_that_names_us_comes_before_everyones(agent: str, expected: Judgement) -> None:
    assert said(FILE, "/members/list", agent) == expected


def test_groups_of_the_same_name_count_together() -> None:
    text = "User-agent: bobusang\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUser-agent: Bobusang/2\nDisallow: /b\n"

    assert [said(text, path).standing for path in ("/a", "/b", "/c")] == ["disallowed", "disallowed", "allowed"]


def test_of_two_rules_as_long_the_one_that_allows_wins() -> None:
    assert said("User-agent: *\nDisallow: /page\nAllow: /page", "/page") == Judgement(
        Standing.ALLOWED, "line 3: Allow: /page"
    )


@pytest.mark.parametrize("text", ["", "User-agent: other\nDisallow: /", "Disallow: /", "nonsense"])
def test_a_file_that_does_not_speak_of_us_allows(text: str) -> None:
    assert said(text, "/x") == Judgement(Standing.ALLOWED, "no group speaks of us")


def test_an_empty_disallow_allows() -> None:
    assert said("User-agent: *\nDisallow:", "/x") == Judgement(Standing.ALLOWED, "no rule speaks of this address")


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (None, "", Judgement(Standing.UNKNOWN, "robots.txt: no answer")),
        (404, "", Judgement(Standing.ALLOWED, "there is no robots.txt (status 404)")),
        (403, "", Judgement(Standing.UNKNOWN, "robots.txt: status 403")),
        (503, "User-agent: *\nDisallow: /", Judgement(Standing.UNKNOWN, "robots.txt: status 503")),
        (200, "\n<!doctype html><html>", Judgement(Standing.UNKNOWN, "robots.txt: a web page came instead")),
    ],
)
def test_what_is_no_file_leaves_it_unknown(status: int | None, text: str, expected: Judgement) -> None:
    assert judged(status, text, url=MALL + "/x", agent=US) == expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/브랜드/", "/%EB%B8%8C%EB%9E%9C%EB%93%9C/1"),
        ("/%eb%b8%8c", "/브랜드"),
        ("/a%2Db", "/a-b"),
        ("/list?brand=%B3%AA", "/list?brand=%b3%aa%c0%cc%c5%b0"),
        ("/a%2Fb", "/a%2fb"),
    ],
)
def test_spellings_of_the_same_address_are_the_same(pattern: str, path: str) -> None:
    assert said(f"User-agent: *\nDisallow: {pattern}", path).standing is Standing.DISALLOWED


def test_an_escaped_slash_is_no_slash() -> None:
    assert said("User-agent: *\nDisallow: /a/b", "/a%2Fb").standing is Standing.ALLOWED


@given(st.text("ab/*", max_size=12), st.booleans(), st.text("ab/", max_size=20))
def test_wildcards_mean_what_a_regex_would(pattern: str, ends: bool, path: str) -> None:
    rule = "/" + pattern
    meant = "".join(".*" if sign == "*" else re.escape(sign) for sign in rule) + ("$" if ends else "")
    expected = Standing.DISALLOWED if re.match(meant, f"/{path}") else Standing.ALLOWED

    assert judged(200, f"User-agent: *\nDisallow: {rule}{'$' * ends}", url=f"{MALL}/{path}", agent=US).standing is (
        expected
    )


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_text_is_judged(text: str, agent: str) -> None:
    assert isinstance(judged(200, text, url=MALL, agent=agent), Judgement)


def test_a_pattern_of_many_stars_costs_little() -> None:
    text = "User-agent: *\nDisallow: /" + "*a" * 5000 + "b"

    assert said(text, "/" + "a" * 8000).standing is Standing.ALLOWED
