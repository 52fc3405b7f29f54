"""Secrets taken out of what is written down: by the name of a field, and by the look of a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MASK = "***"
DEEPEST = 12

_SECRET = re.compile(
    r"secret|passw|passphrase|pwd|authori[sz]ation|cookie|api[-_]?key|private[-_]?key|credential|webhook[-_]?url|^auth$",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"token", re.IGNORECASE)

_LOOKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"([a-z][a-z0-9+.-]*://[^\s/:@?#]*):[^\s/@]+@", re.IGNORECASE), rf"\1:{MASK}@"),
    (re.compile(r"(hooks\.slack\.com/)[^\s\"'<>]+", re.IGNORECASE), rf"\1{MASK}"),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9+/_.~=-]{8,}", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"\bwhsec_[A-Za-z0-9_-]+"), MASK),
    (re.compile(r"\bbobu_[A-Za-z0-9_-]{20,}"), MASK),
    (
        re.compile(
            r"([?&;\s\"'](?:[\w-]*(?:secret|token|password|api[-_]?key|access[-_]?key)[\w-]*)=)[^\s&;\"'#]+",
            re.IGNORECASE,
        ),
        rf"\1{MASK}",
    ),
)
_TELLING = re.compile(r"[@=_.\s]")
"""Whatever looks like a secret has one of these; most texts of a log line have none."""


def scrub(text: str) -> str:
    """A text without passwords in addresses, bearer tokens, and the like."""
    if not _TELLING.search(text):
        return text
    for look, mask in _LOOKS:
        text = look.sub(mask, text)
    return text


def is_secret(name: str, value: object) -> bool:
    """Does a field of this name hold a secret? A token that is a number is a fencing token or a budget."""
    if value is None or isinstance(value, bool):
        return False
    secret, token = _named(name)
    return secret or (token and not isinstance(value, int | float))


@lru_cache(maxsize=1024)
def _named(name: str) -> tuple[bool, bool]:
    """Whether a field of this name holds a secret, and whether it holds a token."""
    return _SECRET.search(name) is not None, _TOKEN.search(name) is not None


def redact(value: object, *, depth: int = 0) -> object:
    """The same value with every secret replaced; what is not plain data becomes text."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return scrub(value)
        case _ if depth > DEEPEST:
            return "…"
        case Mapping():
            return {
                str(name): MASK if is_secret(str(name), inner) else redact(inner, depth=depth + 1)
                for name, inner in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [redact(inner, depth=depth + 1) for inner in value]
        case bytes() | bytearray():
            return f"<{len(value)} bytes>"
    return scrub(str(value))
