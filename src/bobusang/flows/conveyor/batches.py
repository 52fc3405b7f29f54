"""Batches: begun with a name of their own and the brands that are free, ended when the last of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.flows.conveyor import rules
from bobusang.flows.conveyor.model import STAGES, Batch, BatchStatus, Brand, Mode, StageStatus
from bobusang.flows.conveyor.tables import pipeline_batches, pipeline_brands, pipeline_control
from bobusang.kit.clock import utc
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.kit.db import Row, Tx

TODAY = Statement("select batch_id from pipeline_batches where batch_id like :day")
_ONE = "select * from pipeline_batches where batch_id = :batch_id"
ONE = Statement(_ONE)
LOCK = Statement(f"{_ONE} for update", sqlite=_ONE)
NEW = Bulk(pipeline_batches, ("batch_id", "run_mode", "status", "start_time", "total_brands"))
TAKE = Bulk(pipeline_brands, ("mall_name", "brand_name", "batch_id"), keep=True)
MINE = Statement("select mall_name, brand_name from pipeline_brands where batch_id = :batch_id")
GIVE_BACK = Statement("delete from pipeline_brands where mall_name = :mall and brand_name = :brand and batch_id = :id")
ROWS = Bulk(pipeline_control, ("batch_id", "mall_name", "brand_name", "run_mode", "stage", "status", "updated_at"))
STANDING = Statement("""
    select mall_name, brand_name, stage, status from pipeline_control where batch_id = :batch_id order by id""")
END = Statement("""
    update pipeline_batches set status = :status, end_time = :end_time, success_brands = :success_brands
    where batch_id = :batch_id""")
RUNNING = Statement("select * from pipeline_batches where status = 'RUNNING' and run_mode = :mode order by id desc")


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch that has begun, and who was left out because another batch has it."""

    batch_id: str
    brands: tuple[Brand, ...]
    busy: tuple[Brand, ...]


async def begin(tx: Tx, mode: Mode, brands: Sequence[Brand]) -> Begun:
    """Write a batch down with the brands that no other batch has; those of a running FULL are left to it.

    Two that begin at the same moment get different names: the second is made to try again.
    """
    wanted = list(dict.fromkeys(brands))
    if not wanted:
        raise Invalid("there is no brand to run", hint="accept some: `bobusang brand accept`", field="brands")
    day = rules.batch_prefix(tx.now)
    known = [row["batch_id"] for row in await tx.fetch(TODAY, day=f"{day}%")]
    batch_id = rules.next_batch_id(tx.now, known)
    await tx.insert(TAKE, [(brand.mall, brand.name, batch_id) for brand in sorted(wanted, key=_order)])
    free = {Brand(row["mall_name"], row["brand_name"]) for row in await tx.fetch(MINE, batch_id=batch_id)}
    mine = tuple(brand for brand in wanted if brand in free)
    if not mine:
        raise Conflict(
            f"all {len(wanted)} brands are in batches that are running",
            hint="`bobusang run list` shows them; wait, or cancel one",
        )
    try:
        await tx.insert(NEW, [(batch_id, mode, BatchStatus.RUNNING, tx.now, len(mine))])
    except Duplicate as error:
        raise Contended(f"another batch was named {batch_id} at the same moment") from error
    await tx.insert(
        ROWS,
        [
            (batch_id, brand.mall, brand.name, mode, stage, StageStatus.PENDING, tx.now)
            for brand in mine
            for stage in STAGES[mode]
        ],
    )
    return Begun(batch_id, mine, tuple(brand for brand in wanted if brand not in free))


def _order(brand: Brand) -> tuple[str, str]:
    """Rows are taken in one order everywhere, so that two batches do not wait for each other."""
    return brand.mall, brand.name


async def get(tx: Tx, batch_id: str) -> Batch:
    """One batch."""
    row = await tx.first(ONE, batch_id=batch_id)
    if row is None:
        raise Missing(f"there is no batch {batch_id}", hint="`bobusang run list` shows them", field="batch_id")
    return batch_of(row)


async def running(tx: Tx, mode: Mode) -> list[Batch]:
    """The batches of a mode that have not ended, the newest first."""
    return [batch_of(row) for row in await tx.fetch(RUNNING, mode=mode)]


async def leave(tx: Tx, batch_id: str, brand: Brand) -> BatchStatus:
    """A brand's job has ended: give the brand back, and end the batch if it was the last. How the batch stands."""
    await tx.first(LOCK, batch_id=batch_id)
    await tx.execute(GIVE_BACK, mall=brand.mall, brand=brand.name, id=batch_id)
    stages: dict[str, list[StageStatus]] = {}
    for row in await tx.fetch(STANDING, batch_id=batch_id):
        stages.setdefault(f"{row['mall_name']}/{row['brand_name']}", []).append(StageStatus(row["status"]))
    status = rules.outcome_of(stages)
    good = sum(found[-1] is StageStatus.DONE for found in stages.values())
    over = None if status is BatchStatus.RUNNING else tx.now
    await tx.execute(END, batch_id=batch_id, status=status, end_time=over, success_brands=good)
    return status


def batch_of(row: Row) -> Batch:
    """A batch as its row tells it."""
    return Batch(
        row["batch_id"],
        Mode(row["run_mode"]),
        BatchStatus(row["status"]),
        utc(row["start_time"]),
        utc(row["end_time"]),
        row["total_brands"],
        row["success_brands"],
    )
