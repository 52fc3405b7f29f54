"""Refusals unstick themselves: each class says what must change before the same listing is tried again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from bobusang.stages.register.diffing import Way
from bobusang.stages.register.market import Cause, Family
from bobusang.stages.register.model import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from bobusang.stages.register.market import Problem
    from bobusang.stages.register.model import Draft

WORST = (Cause.PERMANENT, Cause.MAPPING, Cause.DATA, Cause.OUTAGE)
MAPPED = (
    *("brand_id", "brand_name", "category_id", "options", "buying_area", "shipping_area", "shipping_methods"),
    "size_unit",
)
LASTING = ("name", "brand_id", "brand_name", "category_id", "shop_name")
STOCK = ("options", "variants", "order_quantity")
SEPARATOR = "/"
SHORT = 20
"""So many letters of a digest for each way have room in the column."""


def worst(problems: Sequence[Problem]) -> Cause:
    """Of several causes the one that is hardest to mend."""
    causes = {problem.cause for problem in problems}
    return next(cause for cause in WORST if cause in causes)


def refusal(
    problems: Sequence[Problem],
    way: Way,
    draft: Draft,
    now: datetime,
    rest: timedelta,
    before: Refusal | None = None,
) -> Refusal:
    """What stands in the way now; an outage only for so long. What stood in the way of the other ways before still
    does: with one refusal forgotten for the next, two ways would be tried in turn, for ever."""
    cause = worst(problems)
    words = "; ".join(f"{problem.field}: {problem.words}" for problem in problems)
    until = now + rest if cause is Cause.OUTAGE else None
    marks = _marks(before) | {way: digest_for(cause, way, draft)[:SHORT]}
    return Refusal(cause, SEPARATOR.join(marks.get(one, "") for one in Way), until, words)


def still_stands(refused: Refusal | None, way: Way, draft: Draft, now: datetime) -> bool:
    """Whether sending this would only be refused again: the cause has not changed, or its time has not come."""
    if refused is None or (refused.until is not None and now >= refused.until):
        return False
    found = {digest_for(cause, way, draft) for cause in Cause}
    # The whole digest of one way is how earlier versions kept it.
    return refused.digest in found or _marks(refused, lasting=False).get(way) in {one[:SHORT] for one in found}


def _marks(refused: Refusal | None, *, lasting: bool = True) -> dict[Way, str]:
    """By way, what was refused; of an outage nothing lasts."""
    if refused is None or SEPARATOR not in refused.digest or (lasting and refused.until is not None):
        return {}
    return {way: mark for way, mark in zip(Way, refused.digest.split(SEPARATOR), strict=True) if mark}


def digest_for(cause: Cause, way: Way, draft: Draft) -> str:
    """What the cause depends on; a refused edit never stands in the way of stock, by itself or as a whole."""
    family = Family.STOCK if way is Way.STOCK else Family.PRODUCT
    if way is not Way.EDIT:
        names: tuple[str, ...] = STOCK
    elif cause is Cause.PERMANENT:
        names = LASTING
    elif cause is Cause.MAPPING:
        names = MAPPED
    else:
        names = tuple(name for name in draft.__struct_fields__ if name not in ("available_until", "variants"))
    return digest((family, [(name, getattr(draft, name)) for name in names]))


def digest(value: object) -> str:
    """A short name for exactly this."""
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
