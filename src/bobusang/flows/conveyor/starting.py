"""Starting the conveyor: a batch for the brands that may run, one job a brand, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.catalog import brands as catalog
from bobusang.catalog.model import Review
from bobusang.engine import jobs, presence, targets
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobType
from bobusang.flows.conveyor import batches
from bobusang.flows.conveyor.model import Brand, Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.engine.service import Engine
    from bobusang.flows.conveyor.model import Batch
    from bobusang.kit.db import Tx

JOB_TYPES = {Mode.FULL: JobType.FULL, Mode.PARTIAL: JobType.INCREMENTAL}
KIND = "brand"
MOST_BRANDS = 10_000


@dataclass(frozen=True, slots=True)
class Started:
    """The batch that runs now: a new one, or one that was left by a worker that is gone."""

    batch_id: str
    is_new: bool
    brands: tuple[Brand, ...] = ()
    busy: tuple[Brand, ...] = ()
    """Left out: another batch has them."""


async def accepted(tx: Tx, malls: Iterable[str]) -> list[Brand]:
    """The brands of these malls that a person has accepted."""
    found = [one for mall in malls for one in await catalog.listed(tx, mall, review=Review.ACCEPTED, limit=MOST_BRANDS)]
    return [Brand(one.mall, one.key) for one in found]


async def start(tx: Tx, engine: Engine, workflow_id: int, mode: Mode, brands: Sequence[Brand]) -> Started:
    """Begin a batch of these brands.

    A batch of the same mode that is still RUNNING while no worker lives is gone on with instead: its tasks wait in the
    queue, each brand's where it stopped, and the next worker takes them up.
    """
    left = await batches.running(tx, mode)
    if left and not await presence.alive(tx, engine.pace.dead_after):
        return _continued(left[0])
    begun = await batches.begin(tx, mode, brands)
    for brand in begun.brands:
        known = await targets.known(tx, kind=KIND, key=brand.name, source=brand.mall)
        target_id = known[0] if known else await targets.put(tx, kind=KIND, key=brand.name, source=brand.mall)
        new = NewJob(
            workflow_id,
            target_id=target_id,
            job_type=JOB_TYPES[mode],
            input={"batch": begun.batch_id},
            key=f"{begun.batch_id}:{brand.mall}:{brand.name}"[:200],
        )
        await jobs.create(tx, engine.books, engine.hooks, new)
    return Started(begun.batch_id, is_new=True, brands=begun.brands, busy=begun.busy)


def _continued(batch: Batch) -> Started:
    return Started(batch.batch_id, is_new=False)
