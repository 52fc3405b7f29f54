"""How BUYMA counts characters, and which it refuses."""

from __future__ import annotations

import re

HALF = re.compile(r"[\x00-\x7f\uff61-\uff9f]")
REFUSED = re.compile("[\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\u00a0]")
"""Hangul, whole or in letters, and the blank that does not break."""
MARKUP = re.compile(r"<\s*[a-zA-Z/!]")
FREE = re.compile(r"(free|one)[\s_-]*(size)?|フリー(サイズ)?|f|os", re.IGNORECASE)


def width(text: str) -> int:
    """In half-width units: what is full-width counts twice."""
    return 2 * len(text) - len(HALF.findall(text))


def is_refused(text: str) -> bool:
    """Whether it has a character that BUYMA does not take."""
    return REFUSED.search(text) is not None


def has_markup(text: str) -> bool:
    """Whether there is HTML in it."""
    return MARKUP.search(text) is not None


def is_free(size: str) -> bool:
    """Whether a size says that there is only one."""
    return FREE.fullmatch(size.strip()) is not None
