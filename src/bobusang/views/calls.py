"""What was sent to markets: how many calls of which kind a run made, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from bobusang.kit.db import Tx
from bobusang.kit.sql import Statement

OF_RUN = Statement("""
    select kind, state, count(*) as calls from market_calls where run_id = :run
    group by kind, state order by kind, state""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Calls of one kind and state."""

    kind: str
    state: str
    calls: int


async def of_run(tx: Tx, run: str) -> Sequence[Sent]:
    """The calls of a run of the conveyor, by the name of its batch."""
    rows = await tx.fetch(OF_RUN, run=run)
    return [Sent(kind=row["kind"], state=row["state"], calls=int(row["calls"])) for row in rows]
