"""Self-healing: a seller whose pages fail lastingly is paused and told of; probes ask until it answers, and resume it.

A probe is a job of its own that asks for one list page. It carries its number and the crawl that failed, so nothing
else has to be remembered: each one that fails makes the next, twice as late, and one whose seller was meanwhile resumed
or paused by a person does nothing.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from bobusang.catalog.model import SellerStatus
from bobusang.engine import jobs
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobStatus, JobType
from bobusang.flows.seller_crawl import sellers
from bobusang.flows.seller_crawl.sellers import alert_of, of_run
from bobusang.platform.alerting import raise_alert
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.collect import counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.catalog.sellers import Seller
    from bobusang.engine.hooks import JobMoved
    from bobusang.engine.model import Run
    from bobusang.engine.service import Engine
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.counts import Counts

FIRST = timedelta(minutes=15)
LONGEST = timedelta(hours=24)
LASTING = 3
"""So many requests that came to nothing, and not one page read."""
HEALS = "self-healing, job"
"""How the reason of a pause begins that a probe may end; a person's pause is a person's."""


class Probe(NamedTuple):
    """Which probe a job is: its number, and the crawl that failed."""

    number: int
    crawl: int


class Healing:
    """Hooked to the end of jobs; `first` is the rest before the first probe."""

    def __init__(self, engine: Engine, *, first: timedelta = FIRST) -> None:
        self._engine = engine
        self._first = first

    async def __call__(self, tx: Tx, moved: JobMoved) -> None:
        """Look at a crawl of a seller that has ended."""
        run = moved.run
        seller = await of_run(tx, run) if moved.status.ended else None
        if seller is None:
            return
        probe = probe_of(run)
        if probe is not None and is_paused_for(seller, probe.crawl):
            await self._probed(tx, seller, run, probe, well=moved.status is JobStatus.SUCCESS)
        elif probe is None and seller.status is SellerStatus.ACTIVE and moved.status is not JobStatus.CANCELLED:
            failed = failures(await counts.of_job(tx, run.job_id))
            if failed >= LASTING:
                await self._pause(tx, seller, run, failed)

    async def _pause(self, tx: Tx, seller: Seller, run: Run, failed: int) -> None:
        reason = f"{_reason(run.job_id)} {failed} requests failed and none succeeded"
        await sellers.pause(tx, seller.id, reason)
        await raise_alert(tx, notice(seller, failed, self._first))
        await self._probe(tx, seller, run.plan.workflow_id, Probe(1, run.job_id))

    async def _probed(self, tx: Tx, seller: Seller, run: Run, probe: Probe, *, well: bool) -> None:
        if not well:
            await self._probe(tx, seller, run.plan.workflow_id, Probe(probe.number + 1, probe.crawl))
            return
        await sellers.resume(tx, seller.id)
        # What the failed crawl should have seen is wanted now, not after another whole cadence.
        new = NewJob(
            run.plan.workflow_id,
            target_id=seller.target_id,
            key=f"healed:{probe.crawl}",
            schedule_id=seller.schedule_id,
        )
        await jobs.create(tx, self._engine.books, self._engine.hooks, new)

    async def _probe(self, tx: Tx, seller: Seller, workflow_id: int, probe: Probe) -> None:
        new = NewJob(
            workflow_id,
            target_id=seller.target_id,
            job_type=JobType.INCREMENTAL,
            input={"probe": probe.number, "of": probe.crawl},
            key=f"probe:{probe.crawl}:{probe.number}",
            scheduled_at=tx.now + rest(probe.number, self._first),
        )
        await jobs.create(tx, self._engine.books, self._engine.hooks, new)


def probe_of(run: Run) -> Probe | None:
    """Which probe a run is; None when it is a crawl."""
    number = run.input.get("probe")
    return Probe(int(number), int(run.input.get("of") or 0)) if number else None


def rest(probe: int, first: timedelta = FIRST) -> timedelta:
    """How long to wait before the so-manieth probe."""
    return min(first * (1 << min(probe - 1, 20)), LONGEST)


def failures(told: Mapping[str, Counts]) -> int:
    """How many requests of a crawl came to nothing; 0 as soon as one page was read."""
    if any(one.success or one.not_modified for one in told.values()):
        return 0
    return sum(one.retries + one.failure for one in told.values())


def is_paused_for(seller: Seller, crawl: int) -> bool:
    """Whether it was this crawl's failure that paused it: then a probe may resume it."""
    return seller.status is SellerStatus.PAUSED and (seller.paused_reason or "").startswith(_reason(crawl))


def notice(seller: Seller, failed: int, first: timedelta = FIRST) -> Notice:
    """What people are told."""
    minutes = first.total_seconds() / 60
    return Notice(
        alert_of(seller),
        Level.WARNING,
        f"{seller.mall}: seller {seller.seller_id} is paused",
        f"{failed} requests failed and none succeeded. A probe asks again in {minutes:g} minutes, later ones less often"
        f"; the first that is answered resumes it. `bobusang seller resume {seller.id}` does so at once.",
    )


def _reason(crawl: int) -> str:
    return f"{HEALS} {crawl}:"
