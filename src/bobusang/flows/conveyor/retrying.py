"""Running a batch again: what failed is driven again, each brand from its first stage not done; or, of a batch that
is over, all of its brands from a stage on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.engine import progress, redriving, workflows
from bobusang.engine.model import JobStatus
from bobusang.flows.conveyor import batches, control, starting
from bobusang.flows.conveyor.model import BatchStatus, Stage, StageStatus
from bobusang.flows.conveyor.starting import Wish
from bobusang.kit import json
from bobusang.kit.errors import Conflict, Invalid
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.engine.service import Engine
    from bobusang.flows.conveyor.batches import Standing
    from bobusang.flows.conveyor.model import Batch, Brand
    from bobusang.kit.db import Tx

AFRESH = Statement("""
    update pipeline_control set status = 'PENDING', error_msg = null, updated_at = :now
    where batch_id = :batch_id and mall_name = :mall and brand_name = :brand and stage in (:stages...)""")
JOB = Statement("select status from crawling_jobs where id = :id")
INPUT = Statement("""
    select input as value from crawling_jobs where id = :id
    union all select input from crawling_jobs_archive where id = :id""")


@dataclass(frozen=True, slots=True)
class Retried:
    """What runs again, how many of its tasks, and what was left alone because another batch has it now."""

    batch_id: str
    brands: tuple[Brand, ...]
    busy: tuple[Brand, ...]
    tasks: int


async def retry(tx: Tx, engine: Engine, batch_id: str) -> Retried:
    """Run again what is in ERROR. A brand whose job can go on goes on with what failed in it; one whose job was
    cancelled or is long gone gets a new one for the stages it still owes.

    Raises Conflict where nothing failed, and where other batches have all brands that did.
    """
    batch = await batches.get(tx, batch_id)
    failed = await _failed(tx, batch_id)
    if not failed:
        raise Conflict(f"batch {batch_id} has no stage in ERROR", hint="`bobusang run full` starts a new one")
    free = await _free(tx, batch_id, failed)
    failed = await _failed(tx, batch_id)  # who had the brands until now may have retried them: a brand has one job
    if not any(brand in failed for brand in free):
        raise Conflict(f"batch {batch_id} is being retried already", hint=f"`bobusang run watch {batch_id}`")
    free = [brand for brand in free if brand in failed]
    tasks = 0
    for brand in free:
        tasks += await _again(tx, engine, batch, brand, failed[brand])
    await batches.reopen(tx, batch_id)
    return Retried(batch_id, tuple(free), tuple(brand for brand in failed if brand not in free), tasks)


async def retry_from(tx: Tx, engine: Engine, batch_id: str, stage: Stage) -> Retried:
    """Run all brands of a batch that is over again from a stage on, whether it failed or not, each by a new job.

    Raises Conflict while the batch runs, and where other batches have all its brands; Invalid for a stage that it does
    not have.
    """
    batch = await _over(tx, batch_id)
    rows = await batches.standing(tx, batch_id)
    order = list(Stage)
    owed = {
        brand: tuple(one.stage for one in found if order.index(one.stage) >= order.index(stage))
        for brand, found in rows.items()
    }
    if not any(stage in stages for stages in owed.values()):
        had = dict.fromkeys(one.stage for found in rows.values() for one in found)
        raise Invalid(f"batch {batch_id} has no stage {stage}", hint=f"it has {', '.join(had)}", field="stage")
    free = await _free(tx, batch_id, rows)
    await _over(tx, batch_id)  # still: another may have had the brands until now, and brought it back
    for brand in free:
        await _anew(tx, engine, batch, brand, _job(rows[brand]), owed[brand])
    await batches.reopen(tx, batch_id)
    return Retried(batch_id, tuple(free), tuple(brand for brand in rows if brand not in free), len(free))


async def _failed(tx: Tx, batch_id: str) -> dict[Brand, list[Standing]]:
    rows = await batches.standing(tx, batch_id)
    return {brand: found for brand, found in rows.items() if any(one.status is StageStatus.ERROR for one in found)}


async def _over(tx: Tx, batch_id: str) -> Batch:
    batch = await batches.get(tx, batch_id)
    if batch.status is BatchStatus.RUNNING:
        raise Conflict(f"batch {batch_id} still runs", hint=f"wait for it, or `bobusang run cancel {batch_id}`")
    return batch


async def _free(tx: Tx, batch_id: str, wanted: Mapping[Brand, Sequence[Standing]]) -> list[Brand]:
    """Those that no other batch has, and this one from now on. Jobs are locked in the order of their numbers, and
    before their batch, as whoever folds them does."""
    mine = await batches.take(tx, batch_id, wanted)
    free = sorted((brand for brand in wanted if brand in mine), key=lambda brand: _job(wanted[brand]) or 0)
    if not free:
        raise Conflict(
            f"what is to run again of batch {batch_id} is in other batches now",
            hint="`bobusang run list --status running` shows them; wait, or cancel one",
        )
    return free


def _job(rows: Sequence[Standing]) -> int | None:
    """The last job of a brand."""
    return max((one.job_id for one in rows if one.job_id is not None), default=None)


async def _again(tx: Tx, engine: Engine, batch: Batch, brand: Brand, rows: Sequence[Standing]) -> int:
    job_id = _job(rows)
    job = None if job_id is None else await tx.first(JOB, id=job_id)
    if job_id is not None and job is not None and job["status"] != JobStatus.CANCELLED:
        count = await redriving.retry_job(tx, engine.books, job_id)
        if count or not JobStatus(job["status"]).ended:
            await _afresh(tx, batch, brand, (one.stage for one in rows if one.status is StageStatus.ERROR))
            await progress.fold(tx, engine.books, engine.hooks, job_id)
            return count
    first = next(place for place, one in enumerate(rows) if one.status is not StageStatus.DONE)
    await _anew(tx, engine, batch, brand, job_id, tuple(one.stage for one in rows[first:]))
    return 1


async def _anew(
    tx: Tx, engine: Engine, batch: Batch, brand: Brand, job_id: int | None, owed: tuple[Stage, ...]
) -> None:
    """A new job for these stages, with the limit that the last one had. The row of a stage that is only on the way
    stays as it is."""
    await _afresh(tx, batch, brand, owed)
    said = None if job_id is None else await tx.value(INPUT, id=job_id)
    wish = Wish(owed, json.loads(said).get("limit") if said else None)
    workflow_id = int((await workflows.find(tx, control.WORKFLOW))["id"])
    await starting.enlist(tx, engine, workflow_id, batch.batch_id, batch.mode, brand, wish, key=None)


async def _afresh(tx: Tx, batch: Batch, brand: Brand, stages: Iterable[Stage]) -> None:
    names = {"batch_id": batch.batch_id, "mall": brand.mall, "brand": brand.name}
    await tx.execute(AFRESH, **names, stages=list(stages), now=tx.now)
