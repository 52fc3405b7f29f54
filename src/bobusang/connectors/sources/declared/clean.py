"""Text as a database and a person can use it: without control signs, spaces collapsed."""

from __future__ import annotations

import re
from typing import Any

from bobusang.connectors.sources.declared.known import UNCLEAR

# What no database of ours keeps, and what no name holds; tabs and line breaks stay.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


# No text of a product is longer; a page that has one is not what it was.
LONGEST = 200_000

# What decoding puts where bytes were no text.
REPLACED = "\ufffd"


def collapsed(text: str) -> str:
    """On one line, with single spaces and none at the ends."""
    return " ".join(text.split())


def settled(value: Any) -> Any:
    """The same value without signs that cannot be stored; `UNCLEAR` where its bytes were no text, or it has no end.

    Most texts need nothing and are not touched.
    """
    if type(value) is str:
        if REPLACED in value or len(value) > LONGEST:
            return UNCLEAR
        return value if value.isprintable() else _UNWANTED.sub("", value)
    if type(value) is list:
        found = [settled(each) for each in value]
        return UNCLEAR if UNCLEAR in found else found
    if type(value) is dict:
        pairs = {settled(name): settled(each) for name, each in value.items()}
        return UNCLEAR if UNCLEAR in pairs or UNCLEAR in pairs.values() else pairs
    return value
