"""What a robots.txt says of an address (RFC 9309), and by which line; it is shown beside a source, it decides nothing.

The standard library's parser takes the first rule instead of the longest and knows neither `*` nor `$`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

LARGEST = 500 << 10
OK = range(200, 300)
NOT_THERE = frozenset({404, 410})

_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)


class Standing(StrEnum):
    """Whether an address may be visited."""

    ALLOWED = "allowed"
    DISALLOWED = "disallowed"
    UNKNOWN = "unknown"
    """The file could not be had, or is none."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result for one address."""

    standing: Standing
    line: str = ""
    """The line that decided, with its number; or why there is none."""
    crawl_delay: float | None = None
    """Seconds between two visits that the group asks for."""


class Rule(NamedTuple):
    """One Allow or Disallow."""

    pattern: str
    allows: bool
    line: str


@dataclass(slots=True)
class Group:
    """What is said to one user agent, gathered from all places where it is named."""

    rules: list[Rule] = field(default_factory=list)
    crawl_delay: float | None = None


def judged(status: int | None, text: str, *, url: str, agent: str) -> Judgement:
    """What the answer to `GET /robots.txt` says of an address.

    `status` is that of the answer, None when none came; `agent` is the whole user agent or its product name.
    """
    if status is None:
        return Judgement(Standing.UNKNOWN, "robots.txt: no answer")
    if status in NOT_THERE:
        return Judgement(Standing.ALLOWED, f"there is no robots.txt (status {status})")
    if status not in OK:
        return Judgement(Standing.UNKNOWN, f"robots.txt: status {status}")
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return Judgement(Standing.UNKNOWN, "robots.txt: a web page came instead")
    group = _group(groups(text), agent)
    if group is None:
        return Judgement(Standing.ALLOWED, "no group speaks of us")
    return _standing(group, _path(url))


def groups(text: str) -> dict[str, Group]:
    """The groups of a file, by user agent in lower case; `*` is everyone else's."""
    found: dict[str, Group] = {}
    named: list[Group] = []
    naming = False
    for number, raw in enumerate(text[:LARGEST].lstrip("\ufeff").splitlines(), 1):
        key, colon, value = (part.strip() for part in raw.partition("#")[0].partition(":"))
        match key.lower():
            case "user-agent" if colon:
                named = named if naming else []
                named.append(found.setdefault(_product(value), Group()))
                naming = True
                continue
            case "allow" | "disallow" as rule if colon:
                _add_rule(named, value, rule == "allow", f"line {number}: {raw.strip()[:200]}")
            case "crawl-delay" if colon:
                _set_delay(named, value)
            case _:
                continue
        naming = False
    return found


def _add_rule(named: list[Group], pattern: str, allows: bool, line: str) -> None:
    # "Disallow:" with nothing after it allows everything, which is what holds without a rule.
    if pattern:
        for group in named:
            group.rules.append(Rule(_normal(pattern), allows, line))


def _set_delay(named: list[Group], value: str) -> None:
    if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", value, re.ASCII):
        for group in named:
            group.crawl_delay = max(float(value), group.crawl_delay or 0.0)


def _product(value: str) -> str:
    token = _TOKEN.match(value)
    return token[0].lower() if token else value[:1]


def _group(found: dict[str, Group], agent: str) -> Group | None:
    """The group that names a word of our user agent, the longest name first; else everyone's."""
    words = {word.lower() for word in _TOKEN.findall(agent)}
    ours = max((name for name in found if name in words), key=len, default="*")
    return found.get(ours)


def _standing(group: Group, path: str) -> Judgement:
    """The longest pattern that matches decides; of two as long, the one that allows."""
    matching = [rule for rule in group.rules if _matches(rule.pattern, path)]
    best = max(matching, key=lambda rule: (len(rule.pattern), rule.allows), default=None)
    if path == "/robots.txt" or best is None:
        return Judgement(Standing.ALLOWED, "no rule speaks of this address", group.crawl_delay)
    return Judgement(Standing.ALLOWED if best.allows else Standing.DISALLOWED, best.line, group.crawl_delay)


def _matches(pattern: str, path: str) -> bool:
    """`*` stands for anything, a `$` at the end for the end. By searching, not by a regex: patterns are strangers'."""
    ends = pattern.endswith("$")
    first, *rest = (pattern[:-1] if ends else pattern).split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not ends or len(path) == len(first)
    at = len(first)
    for piece in rest[:-1]:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    last = rest[-1]
    return path.endswith(last) and len(path) - len(last) >= at if ends else path.find(last, at) >= 0


def _path(url: str) -> str:
    """Path and query of an address, as patterns are compared with it."""
    parts = urlsplit(url)
    return _normal((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))


def _normal(text: str) -> str:
    """One spelling for what means the same: reserved characters stay as written, all others are compared as bytes."""
    spelled = quote(text, safe="%/?#[]@!$&'()*+,;=:~", errors="surrogatepass")
    return _ESCAPE.sub(lambda found: _unescaped(found[0]), spelled)


def _unescaped(escape: str) -> str:
    letter = unquote_to_bytes(escape)
    return letter.decode() if letter.isalnum() or letter in {b"-", b".", b"_", b"~"} else escape.upper()
