"""Starting a crawl: once for a key, whoever calls and however often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.engine import jobs
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobType
from bobusang.flows.seller_crawl.sellers import must_be_crawled
from bobusang.kit.errors import Conflict
from bobusang.stages.collect import decisions

if TYPE_CHECKING:
    from bobusang.catalog.sellers import Seller
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx

KEY = "crawl"
LONGEST_KEY = 150


@dataclass(frozen=True, slots=True)
class Started:
    """The job of a crawl, and whether this call made it."""

    job_id: int
    is_new: bool


async def start(
    tx: Tx, engine: Engine, workflow_id: int, seller: Seller, *, key: str = "", partial: bool = False
) -> Started:
    """Crawl a seller now. A second call with the same key (an EventBridge rule or a cron that fires twice) finds the
    first one's job; two at the same moment: the second raises Duplicate, and finds it when it tries again.

    Conflict when the seller is paused or disabled, or when its mall is off.
    """
    known = f"{KEY}:{seller.id}:{key}" if key else None
    if known is not None and (found := await tx.value(jobs.KNOWN, key=known)) is not None:
        return Started(found, is_new=False)
    must_be_crawled(seller)
    await must_be_on(tx, seller.mall)
    new = NewJob(
        workflow_id,
        target_id=seller.target_id,
        job_type=JobType.INCREMENTAL if partial else JobType.FULL,
        key=known,
    )
    return Started(*await jobs.create(tx, engine.books, engine.hooks, new))


async def must_be_on(tx: Tx, mall: str) -> None:
    """Refuse to start what would only wait at the gate."""
    if not await decisions.is_enabled(tx, mall):
        hint = f'`bobusang source enable {mall} --why "…"` records why it may be collected'
        raise Conflict(f"the source {mall} is off", hint=hint)
