"""What REGISTER found as it should be gets its mark, and when it must be looked at though nothing changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor import marks
from bobusang.flows.conveyor.marks import Mark
from bobusang.kit.sql import Statement
from bobusang.stages.price.model import Reason
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Tx

SOON, DAILY = timedelta(hours=1), timedelta(days=1)
ENDS = Statement("""
    select product_id, account_id, available_until from listings
    where account_id in (:accounts...) and product_id in (:ids...) and retired = 0 and available_until > ''""")


@dataclass(frozen=True, slots=True)
class Fine:
    """A product that is as it should be, by what its task was told."""

    told: Mapping[str, Any]
    looked: datetime | None = None
    """When it was found so: the market may have made it otherwise since."""
    soon: bool = False
    """Whether it is worth another look in an hour."""

    @property
    def stamp(self) -> str:
        """PARTIAL leaves a price that should be higher to FULL, which must not be told that all is well."""
        stamp: str = self.told["stamp"]
        waits = any(one["reason"] == Reason.NO_RAISE for one in self.told["prices"].values())
        return marks.unraised(stamp) if waits else stamp


async def mark(tx: Tx, market: str, found: Sequence[Fine]) -> None:
    """Mark these, but for what the market has made otherwise meanwhile: nobody knows how it should be now."""
    if not found:
        return
    ids = sorted({one.told["id"] for one in found})
    doubts, extended = await marks.doubts(tx, market, ids), await _extended(tx, ids)
    fresh = []
    for one in found:
        id = one.told["id"]
        if one.looked is not None and one.looked < doubts.get(id, one.looked):
            continue
        due = tx.now + (SOON if one.soon else DAILY)
        due = due if one.soon else max(due, extended.get(id, due))
        fresh.append(Mark(id, one.told["version"], one.stamp, one.told["model"], due))
    await marks.put(tx, market, fresh)


async def _extended(tx: Tx, products: Sequence[int]) -> dict[int, datetime]:
    """By product, when the first of its listings is to be extended."""
    policies = {one.id: one.policy for one in await accounts.every(tx)}
    found: dict[int, datetime] = {}
    for row in await tx.fetch(ENDS, accounts=sorted(policies), ids=products):
        extend = timedelta(days=policies[row["account_id"]].extend)
        at = datetime.combine(date.fromisoformat(row["available_until"]) - extend, time(), UTC)
        found[row["product_id"]] = min(at, found.get(row["product_id"], at))
    return found
