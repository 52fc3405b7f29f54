"""How sure each way of finding is, the same in every index."""

from __future__ import annotations

from enum import IntEnum

ENOUGH = 3
"""With so many products found by parts of words nothing else can have been meant; with one by a part of a number."""
PARTLY = (0.8, 0.6)
"""Which part of the tokens has to be there when nothing has all of them."""


class Rank(IntEnum):
    """How sure a tier is; a cursor names it, so that a tier that comes or goes between two pages moves no other."""

    EXACT = 0
    NAMED_KIND = 1
    NAMED = 2
    KIND = 3
    WHOLE = 4
    MOSTLY = 5
    PARTS = 6
    READINGS = 10
    MORPHEMES = 30
    MISSPELT = 40
    PARTLY = 50
