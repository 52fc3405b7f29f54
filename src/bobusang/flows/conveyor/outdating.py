"""When a price that was decided is not sent any more: it is too old, PRICE has said another one since, or we pay
something else by now. Pure.

A REGISTER task waits with the price that PRICE gave it: among the dead letters, in a paused batch, for the market's
rest, until a worker is there again. Days later that price would go over a newer one.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.stages.price.model import Decision

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.stages.price.quotes import Said

HOUR = timedelta(hours=1)
MOST = 3
"""So often a product goes back to PRICE in one run; whoever is outdated then as well is left to the next."""


def why(
    told: Mapping[str, Any],
    *,
    decided_at: datetime,
    made_of: tuple[str, str],
    said: Said | None,
    hours: int,
    now: datetime,
) -> str:
    """Why a price must not be sent, empty where it may: `told` is the decision that came with the task, `said` the
    last one on the listing, `made_of` the basis then and now, `hours` how long a price is good (0: for ever)."""
    if said is not None and _price(said) != (None if told["held"] else told["price"]):
        return f"its price was {_amount(told['price'])}, and {_since(said)} was decided since"
    then, today = made_of
    if then != today:
        return f"its price was made of {then}, and the mall asks {today} now"
    if is_old(age := now - decided_at, hours):
        return f"its price was decided {age // HOUR} hours ago, and is good for {hours}"
    return ""


def is_old(age: timedelta, hours: int) -> bool:
    """Whether a price has waited too long."""
    return hours > 0 and age > hours * HOUR


def _price(said: Said) -> int | None:
    return None if said.decision is Decision.HOLD else said.price


def _since(said: Said) -> str:
    return f"a hold ({said.reason})" if said.decision is Decision.HOLD else _amount(said.price)


def _amount(price: int | None) -> str:
    return "none" if price is None else f"{price:,}"
