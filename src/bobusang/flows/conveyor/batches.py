"""Batches: begun with a name of their own and the brands that are free, ended when the last of them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.flows.conveyor import rules
from bobusang.flows.conveyor.model import STAGES, Batch, BatchStatus, Brand, Mode, Stage, StageStatus
from bobusang.flows.conveyor.tables import pipeline_batches, pipeline_brands, pipeline_control
from bobusang.kit.clock import utc
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Bulk, Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    select mall_name, brand_name, stage, status, job_id from pipeline_control where batch_id = :batch_id order by id""")
COUNTED = Statement("""
    select stage, status, count(*) as brands from pipeline_control where batch_id = :batch_id group by stage, status""")
END = Statement("""
    update pipeline_batches set status = :status, end_time = :end_time, success_brands = :success_brands
    where batch_id = :batch_id""")
# Also where it is RUNNING: whoever ends its last brand at this moment waits, and finds what runs again.
REOPEN = Statement("""
    update pipeline_batches set status = 'RUNNING', end_time = null where batch_id = :batch_id""")
RUNNING = Statement("select * from pipeline_batches where status = 'RUNNING' and run_mode = :mode order by id desc")
HOLDERS = Statement("""
    select p.mall_name, p.brand_name from pipeline_brands p join pipeline_batches b on b.batch_id = p.batch_id
    where b.run_mode = :mode""")


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch that has begun, and who was left out because another batch has it."""

    batch_id: str
    brands: tuple[Brand, ...]
    busy: tuple[Brand, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a stage of a brand stands, and the job that moves it."""

    stage: Stage
    status: StageStatus
    job_id: int | None


async def begin(tx: Tx, mode: Mode, brands: Sequence[Brand], stages: Sequence[Stage] = ()) -> Begun:
    """Write a batch down with the brands that no other batch has; those of a running FULL are left to it. It has rows
    for the stages that are asked for, without any for all of its mode.

    Two that begin at the same moment get different names: the second is made to try again.
    """
    wanted = list(dict.fromkeys(brands))
    if not wanted:
        raise Invalid("there is no brand to run", hint="accept some: `bobusang brand accept`", field="brands")
    day = rules.batch_prefix(tx.now)
    known = [row["batch_id"] for row in await tx.fetch(TODAY, day=f"{day}%")]
    batch_id = rules.next_batch_id(tx.now, known)
    free = await take(tx, batch_id, wanted)
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
            if not stages or stage in stages
        ],
    )
    return Begun(batch_id, mine, tuple(brand for brand in wanted if brand not in free))


async def take(tx: Tx, batch_id: str, brands: Iterable[Brand]) -> set[Brand]:
    """Put brands into a batch unless another has them; all that the batch has then."""
    await tx.insert(TAKE, [(brand.mall, brand.name, batch_id) for brand in sorted(brands, key=_order)])
    return await held(tx, batch_id)


async def held(tx: Tx, batch_id: str) -> set[Brand]:
    """The brands that a batch has now: those of its own that have not ended."""
    return {_brand(row) for row in await tx.fetch(MINE, batch_id=batch_id)}


async def taken(tx: Tx, mode: Mode) -> set[Brand]:
    """The brands that are in running batches of a mode."""
    return {_brand(row) for row in await tx.fetch(HOLDERS, mode=mode)}


def _brand(row: Row) -> Brand:
    return Brand(row["mall_name"], row["brand_name"])


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


async def standing(tx: Tx, batch_id: str) -> dict[Brand, list[Standing]]:
    """The stages of each brand, in their order."""
    found: dict[Brand, list[Standing]] = {}
    for row in await tx.fetch(STANDING, batch_id=batch_id):
        one = Standing(Stage(row["stage"]), StageStatus(row["status"]), row["job_id"])
        found.setdefault(_brand(row), []).append(one)
    return found


async def reopen(tx: Tx, batch_id: str) -> None:
    """Something of a batch runs again, so it has not ended."""
    await tx.execute(REOPEN, batch_id=batch_id)


async def leave(tx: Tx, batch_id: str, brand: Brand) -> BatchStatus:
    """A brand's job has ended: give the brand back, and end the batch if it was the last. How the batch stands."""
    await tx.first(LOCK, batch_id=batch_id)
    await tx.execute(GIVE_BACK, mall=brand.mall, brand=brand.name, id=batch_id)
    counted = await tx.fetch(COUNTED, batch_id=batch_id)
    brands = {(Stage(row["stage"]), StageStatus(row["status"])): row["brands"] for row in counted}
    status, good = rules.outcome_of(brands)
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
