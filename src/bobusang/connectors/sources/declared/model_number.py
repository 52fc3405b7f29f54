"""Model numbers in names: the parenthesis that is neither a size nor a colour nor Korean."""

from __future__ import annotations

import re

SHORTEST = 4
LONGEST = 40

_INSIDE = re.compile(r"\(([^()]{1,60})\)")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_SHAPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/+#-]*")
_TELLING = re.compile(r"[0-9_-]")
_SIZE = re.compile(
    r"(?:US|UK|EU|FR|IT|KR|JP)?\s*\d{1,3}(?:\.\d)?\s*(?:mm|cm|ml|g|kg|inch|oz|l|pcs|p|set|ea)?", re.IGNORECASE
)
_COLOURS = frozenset(
    word
    for line in (
        "black white grey gray navy blue red green yellow orange pink purple brown beige ivory cream khaki olive",
        "silver gold charcoal burgundy wine camel mint lime multi natural indigo denim melange heather",
        "dark light deep off sky royal free onesize one size small medium large",
    )
    for word in line.split()
)


def model_numbers(name: str) -> tuple[str, ...]:
    """The best candidates for the model number of a name such as `드라이 핏 하프 짚 (FQ2494-010)`.

    Those with digits, - or _ come before a bare word, those of one word before those of several. More than one is
    a doubt that only a person can settle.
    """
    candidates = [text for text in map(str.strip, _INSIDE.findall(name)) if _possible(text)]
    telling = [text for text in candidates if _TELLING.search(text)]
    single = [text for text in telling or candidates if " " not in text]
    return tuple(dict.fromkeys(single or telling))


def _possible(text: str) -> bool:
    if not SHORTEST <= len(text) <= LONGEST or _HANGUL.search(text) or not _SHAPE.fullmatch(text):
        return False
    if _SIZE.fullmatch(text):
        return False
    words = re.split(r"[\s/+._-]+", text.lower())
    return not all(word in _COLOURS or not word for word in words)
