"""Refusals unstick themselves: each class says what must change before the same listing is tried again."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

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


def worst(problems: Sequence[Problem]) -> Cause:
    """Of several causes the one that is hardest to mend."""
    causes = {problem.cause for problem in problems}
    return next(cause for cause in WORST if cause in causes)


def refusal(problems: Sequence[Problem], family: Family, draft: Draft, now: datetime, rest: timedelta) -> Refusal:
    """What stands in the way now; an outage only for so long."""
    cause = worst(problems)
    words = "; ".join(f"{problem.field}: {problem.words}" for problem in problems)
    until = now + rest if cause is Cause.OUTAGE else None
    return Refusal(cause, digest_for(cause, family, draft), until, words)


def still_stands(refused: Refusal | None, family: Family, draft: Draft, now: datetime) -> bool:
    """Whether sending this would only be refused again: the cause has not changed, or its time has not come."""
    if refused is None:
        return False
    if refused.digest != digest_for(Cause(refused.cause), family, draft):
        return False
    return refused.until is None or now < refused.until


def digest_for(cause: Cause, family: Family, draft: Draft) -> str:
    """What the cause depends on; a refused edit never stands in the way of a stock call, nor of closing as a whole."""
    if family is Family.STOCK or draft.is_sold_out:
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
