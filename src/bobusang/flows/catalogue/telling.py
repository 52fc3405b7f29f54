"""What every change of a product leaves behind in its transaction: an event, a line of the audit log, and work for the
conveyor, which goes by versions and would not see what a person has edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.kit.sql import Statement
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.platform.bus import Event, publish

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Tx

CHANGED = "product.changed"
DELETED = "product.deleted"
NAMED = 100
"""How many changed fields an event names."""

UNMARK = Statement("delete from conveyor_marks where product_id = :id")
UNMADE = Statement("update conversions set source_version = 0 where product_id = :id")


@dataclass(frozen=True, slots=True)
class Told:
    """One change of one product: who did what, and what stood there before and after."""

    id: int
    mall: str
    product_id: str
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None

    @property
    def event(self) -> Event:
        """For whoever follows products, in order by product."""
        fields = sorted({*(self.before or ()), *(self.after or ())})[:NAMED]
        payload = {"id": self.id, "mall": self.mall, "product_id": self.product_id, "fields": fields}
        return Event(DELETED if self.after is None else CHANGED, f"{self.mall}:{self.product_id}", payload)


async def tell(tx: Tx, actor: str, told: Sequence[Told]) -> None:
    """Publish and write down changes whose rows are written."""
    if not told:
        return
    await audit.record_all(
        tx, *(Entry(actor, one.action, Subject("product", one.id), one.before, one.after) for one in told)
    )
    await publish(tx, *(one.event for one in told))


async def anew(tx: Tx, product_id: int) -> None:
    """Have the next run convert and price a product again, though its version is the same."""
    await tx.execute(UNMARK, id=product_id)
    await tx.execute(UNMADE, id=product_id)
