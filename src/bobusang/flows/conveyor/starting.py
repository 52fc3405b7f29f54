"""Starting the conveyor: a batch for the brands that may run, one job a brand, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bobusang.engine import jobs, presence, targets
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobType
from bobusang.flows.conveyor import batches
from bobusang.flows.conveyor.model import STAGES, Brand, Mode, Stage
from bobusang.kit import json
from bobusang.kit.clock import utc
from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.service import Engine
    from bobusang.flows.conveyor.model import Batch
    from bobusang.kit.db import Tx

JOB_TYPES = {Mode.FULL: JobType.FULL, Mode.PARTIAL: JobType.INCREMENTAL}
KIND = "brand"
PATIENCE = {Mode.FULL: timedelta(hours=23), Mode.PARTIAL: timedelta(minutes=50)}
"""How long a batch that was left is gone on with instead of beginning another. Less than from one start by the schedule
to the next, which may be some seconds early: one brand that hangs must not keep the others from theirs."""

MOVED = Statement("select max(updated_at) as value from pipeline_control where batch_id = :batch_id")
REVIEW = Statement("select is_active from mall_brands where mall_name = :mall and mall_brand_no = :brand")
KEYED = Statement("select input as value from crawling_jobs where dedup_key = :key")


@dataclass(frozen=True, slots=True)
class Wish:
    """What a batch should do beyond its mode: only these stages, at most so many products a brand."""

    stages: tuple[Stage, ...] = ()
    limit: int | None = None

    def input(self, batch_id: str, mode: Mode) -> dict[str, Any]:
        """The input of each of its jobs. The mode stands here too: a job that is run again forgets its type."""
        told: dict[str, Any] = {"batch": batch_id, "mode": mode.value}
        if self.stages:
            told["stages"] = [stage.value for stage in passed(self.stages)]
        return told if self.limit is None else told | {"limit": self.limit}


@dataclass(frozen=True, slots=True)
class Started:
    """The batch that runs now: a new one, one that was left by a worker that is gone, or that of an earlier call."""

    batch_id: str
    is_new: bool
    brands: tuple[Brand, ...] = ()
    busy: tuple[Brand, ...] = ()
    """Left out: another batch has them."""


async def start(
    tx: Tx,
    engine: Engine,
    workflow_id: int,
    mode: Mode,
    brands: Sequence[Brand],
    *,
    stages: Sequence[Stage] | None = None,
    limit: int | None = None,
    key: str = "",
) -> Started:
    """Begin a batch of these brands; `choosing.chosen` finds those that may run.

    A batch of the same mode that is still RUNNING while its worker is gone is gone on with instead: its tasks wait in
    the queue, each brand's where it stopped, and the next worker takes them up. With a `key`, whoever comes again with
    the same finds the batch of the first time.
    """
    wish = Wish(stages_asked(mode, stages), limit)
    keyed = f"batch:{blake2b(key.encode(), digest_size=32).hexdigest()}" if key else None
    if keyed and (known := await tx.value(KEYED, key=keyed)) is not None:
        return Started(str(json.loads(known)["batch"]), is_new=False)
    if (left := await _left(tx, engine, mode, brands)) is not None:
        return Started(left.batch_id, is_new=False)
    begun = await batches.begin(tx, mode, brands, wish.stages)
    for number, brand in enumerate(begun.brands):
        await enlist(tx, engine, workflow_id, begun.batch_id, mode, brand, wish, key=None if number else keyed)
    return Started(begun.batch_id, is_new=True, brands=begun.brands, busy=begun.busy)


async def enlist(
    tx: Tx, engine: Engine, workflow_id: int, batch_id: str, mode: Mode, brand: Brand, wish: Wish, *, key: str | None
) -> None:
    """Make the job that takes a brand of a batch through its stages. Of a brand that is not accepted any more only what
    is live is kept true: nothing of it comes back on sale."""
    known = await targets.known(tx, kind=KIND, key=brand.name, source=brand.mall)
    target_id = known[0] if known else await targets.put(tx, kind=KIND, key=brand.name, source=brand.mall)
    told = wish.input(batch_id, mode)
    review = await tx.first(REVIEW, mall=brand.mall, brand=brand.name) if mode is Mode.PARTIAL else None
    if review is not None and review["is_active"] != 1:
        told |= {"live_only": True}
    new = NewJob(workflow_id, target_id=target_id, job_type=JOB_TYPES[mode], input=told, key=key)
    await jobs.create(tx, engine.books, engine.hooks, new)


def stages_asked(mode: Mode, stages: Sequence[Stage] | None) -> tuple[Stage, ...]:
    """The stages in their order; none where all of the mode are meant."""
    wrong = [stage for stage in stages or () if stage not in STAGES[mode]]
    if wrong:
        hint = f"it has {', '.join(STAGES[mode])}"
        raise Invalid(f"{mode} has no stage {wrong[0]}", hint=hint, field="stages")
    found = tuple(stage for stage in STAGES[mode] if stage in (stages or ()))
    return () if found == STAGES[mode] else found


def passed(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages that products pass where these are asked for: a price goes with the task, so whatever comes to
    REGISTER comes by PRICE."""
    wanted = {*stages, Stage.PRICE} if Stage.REGISTER in stages else {*stages}
    return tuple(stage for stage in Stage if stage in wanted)


async def _left(tx: Tx, engine: Engine, mode: Mode, brands: Sequence[Brand]) -> Batch | None:
    """The batch with some of these brands whose workers are gone: none lives, or all that live came after it had
    stopped to move."""
    since = await presence.since(tx, engine.pace.dead_after)
    for batch in await batches.running(tx, mode):
        if not await batches.held(tx, batch.batch_id) & set(brands):
            continue
        if since is None:
            return batch
        moved = utc(await tx.value(MOVED, batch_id=batch.batch_id))
        if tx.now - batch.start_time < PATIENCE[mode] and moved < since:
            return batch
    return None
