"""Model numbers: what may be told to a market as one, without the season that a mall puts beside it."""

from __future__ import annotations

import re
from unicodedata import normalize

from bobusang.stages.convert import colors, sizes
from bobusang.stages.convert.text import clean, has_hangul

SHORTEST = 4
LONGEST = 40

_YEAR = r"(?:20)?\d{2}"
_HALF = r"(?:S\s?/\s?S|F\s?/\s?W|A\s?/\s?W|SS|FW|AW|SP|SU|FA|HO|PRE|CRUISE|RESORT)"
_SEASON = rf"(?:{_YEAR}\s?{_HALF}|{_HALF}\s?{_YEAR})"
_LEADING = re.compile(rf"^[\[(]?{_SEASON}[\])]?(?:\s+|(?<=[\])]))(?=\S)", re.IGNORECASE)
_TRAILING = re.compile(rf"(?<=\S)(?:\s+[\[(]?|[\[(]){_SEASON}[\])]?$", re.IGNORECASE)
_ALONE = re.compile(rf"[\[(]?{_SEASON}[\])]?", re.IGNORECASE)
_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/+#&*:()-]*")
_WORD = re.compile(r"[\s/+._-]+")


def without_season(text: str) -> str:
    """A model number without a season before or after it; one inside the code (`25FW1234`, `AC-24SS-1`) stays.

    Done until nothing is left to do, so that doing it twice is doing it once.
    """
    plain = clean(normalize("NFKC", text))
    while True:
        shorter = _TRAILING.sub("", _LEADING.sub("", plain)).strip()
        if shorter == plain:
            return plain
        plain = shorter


def refused(number: str) -> str:
    """Why this is no model number; empty if it may be one."""
    if has_hangul(number):
        return "it is partly Korean"
    if not SHORTEST <= len(number) <= LONGEST:
        return f"it has {len(number)} characters, not {SHORTEST} to {LONGEST}"
    if not _SHAPE.fullmatch(number):
        return "it has characters that no model number has"
    if _ALONE.fullmatch(number):
        return "it is a season"
    if all(_is_shade(word) for word in _WORD.split(number) if word):
        return "it is a colour"
    if sizes.is_size(number) and re.search(r"[ .]", number):  # M990 is a shoe, M 9.5 a size
        return "it is a size"
    return ""


def _is_shade(word: str) -> bool:
    """BK is black and BK9SR17D a jacket."""
    return word.isalpha() and (colors.is_color(word) or word.casefold() in _SHADES)


_SHADES = frozenset(["dark", "light", "deep", "off", "royal", "pale", "pure", "bright", "free", "size", "one"])
