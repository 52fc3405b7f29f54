"""The margin of a decided price, read off the end of its steps: what stands before is long, and nobody asks for it."""

import re

from bobusang.kit.sql import Statement

TAIL = 800
"""So much of a price's steps is read: the margin stands among the last."""
_MARGIN = re.compile(r'"name":\s*"margin"[^}]*?"basis":\s*"(-?[\d.]+)%')


def with_tail(text: str) -> Statement:
    """A statement in which `tail(steps)` is the end of the steps, in the words of each database."""
    return Statement(
        text.replace("tail(steps)", f"right(steps, {TAIL})"),
        sqlite=text.replace("tail(steps)", f"substr(steps, -{TAIL})"),
    )


def margin_of(steps: str) -> float | None:
    """A share of one; None where the decision came to no margin."""
    found = _MARGIN.search(steps)
    return float(found.group(1)) / 100 if found else None
