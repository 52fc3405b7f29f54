"""Lanes: one handler and its pools (and, where a workflow limits parallel tasks, one job). Claims are by lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.engine.tables import lane_pools, lanes
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Tx

NEW = Bulk(lanes, ("handler", "job_id", "pools"), keep=True)
FIND = Statement("select id as value from lanes where handler = :handler and job_id = :job_id and pools = :pools")
POOLS = Bulk(lane_pools, ("pool", "lane"), keep=True)
OF_HANDLERS = Statement("""
    select l.id, l.handler, l.job_id, l.pools, case when l.id in (:known...) then null else
      (select r.due from queue_ready r where r.lane = l.id order by r.due, r.task_id limit 1) end as due
    from lanes l where l.handler in (:handlers...)""")
REMOVE = Statement("delete from lanes where job_id = :job_id and job_id <> 0")


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane as workers see it."""

    id: int
    handler: str
    job_id: int
    pools: tuple[str, ...]


class Lanes:
    """Finds or makes lanes, remembering those that are committed and shared by all jobs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, str], int] = {}

    async def get(self, tx: Tx, handler: str, job_id: int = 0, pools: Iterable[str | None] = ()) -> int:
        """The id of a lane."""
        names = ",".join(sorted({pool for pool in pools if pool}))
        wanted = (handler, job_id, names)
        found = self._known.get(wanted)
        if found is None:
            found = await self._make(tx, handler, job_id, names)
            if not job_id:  # a job's own lanes go when it ends, and come again when it is re-driven
                made = found
                tx.after_commit(lambda: self._known.__setitem__(wanted, made))
        return found

    async def _make(self, tx: Tx, handler: str, job_id: int, pools: str) -> int:
        await tx.insert(NEW, [(handler, job_id, pools)])
        lane: int = await tx.value(FIND, handler=handler, job_id=job_id, pools=pools)
        await tx.insert(POOLS, [(pool, lane) for pool in pools.split(",") if pool])
        tx.ring(f"lane:{lane}")
        return lane


async def stocked(tx: Tx, handlers: Sequence[str], known: Sequence[int]) -> list[tuple[Lane, int | None]]:
    """The lanes of these handlers, each with the sort key at its head (None: empty, or known to have work).

    The head is not looked for where it is known: under an old open transaction that would step over all dead rows.
    """
    rows = await tx.fetch(OF_HANDLERS, handlers=list(handlers), known=list(known))
    return [
        (Lane(row["id"], row["handler"], row["job_id"], tuple(filter(None, row["pools"].split(",")))), row["due"])
        for row in rows
    ]
