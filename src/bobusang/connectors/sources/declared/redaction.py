"""What must not be kept of a recorded page: tokens, cookies, phone numbers, e-mail and business numbers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MASK = "redacted"

_DROPPED = re.compile(r"cookie|authorization|token|secret|api-?key|x-amz|cf-ray|set-", re.IGNORECASE)

_SHAPES: tuple[tuple[str, re.Pattern[bytes], bytes], ...] = (
    ("token", re.compile(rb"eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,2000}"), b"redacted"),
    ("token", re.compile(rb"(?i)(bearer\s{1,5})[A-Za-z0-9+/_.~=-]{8,4000}"), rb"\1redacted"),
    (
        "token",
        re.compile(
            rb"(?i)((?:csrf|xsrf|access|refresh|session|auth)?[_-]?(?:token|secret|api[_-]?key)"
            rb"[\"']?\s{0,5}[:=]\s{0,5}[\"'])[^\"'<>]{6,4000}"
        ),
        rb"\1redacted",
    ),
    ("token", re.compile(rb"(?i)(name=[\"']csrf[_-]?token[\"']\s{1,5}content=[\"'])[^\"']{1,500}"), rb"\1redacted"),
    (
        "e-mail address",
        re.compile(rb"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}"),
        b"someone@example.com",
    ),
    (
        "phone number",
        re.compile(rb"(?<![0-9])\+?82[- ]?1[016789][- ]?[0-9]{3,4}[- ]?[0-9]{4}(?![0-9])"),
        b"010-0000-0000",
    ),
    ("phone number", re.compile(rb"(?<![0-9])01[016789][-. ]?[0-9]{3,4}[-. ]?[0-9]{4}(?![0-9])"), b"010-0000-0000"),
    ("phone number", re.compile(rb"(?<![0-9-])0[2-6][0-9]?-[0-9]{3,4}-[0-9]{4}(?![0-9-])"), b"02-000-0000"),
    ("phone number", re.compile(rb"(?<![0-9-])1[5-8][0-9]{2}-[0-9]{4}(?![0-9-])"), b"1500-0000"),
    ("business number", re.compile(rb"(?<![0-9-])[0-9]{3}-[0-9]{2}-[0-9]{5}(?![0-9-])"), b"000-00-00000"),
)


def redact_body(body: bytes) -> bytes:
    """The same page without what belongs to a person or opens a door."""
    return redacted(body)[0]


def redacted(body: bytes) -> tuple[bytes, dict[str, int]]:
    """The same page without that, and how much was taken out, by what it was."""
    found: Counter[str] = Counter()
    for what, shape, mask in _SHAPES:
        body, count = _masked(body, shape, mask)
        found[what] += count
    return body, {what: count for what, count in found.items() if count}


def _masked(body: bytes, shape: re.Pattern[bytes], mask: bytes) -> tuple[bytes, int]:
    """What was masked before stays and does not count."""
    count = 0

    def replaced(match: re.Match[bytes]) -> bytes:
        nonlocal count
        text = match.expand(mask)
        count += text != match[0]
        return text

    return shape.sub(replaced, body), count


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The same headers without those that carry cookies and keys."""
    return {name: MASK if _DROPPED.search(name) else value for name, value in headers.items()}
