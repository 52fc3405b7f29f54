"""The handlers of the product sync but for enriching: `collect`, `normalise` and `sync`.

Each begins something that runs by itself, and looks in now and then until it has ended: whoever dies meanwhile finds it
again by its key.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from bobusang.engine import workflows
from bobusang.engine.model import NewTask
from bobusang.engine.outcome import Done, Outcome, Skip, Snooze
from bobusang.flows.conveyor import batches, choosing, control, starting
from bobusang.flows.conveyor.model import BatchStatus, Mode, Stage
from bobusang.flows.product_sync import asking
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.flows.conveyor.model import Brand
    from bobusang.kit.db import Tx

BREATH = timedelta(seconds=1)
PATIENCE = timedelta(hours=5)
"""How long a sync may take in all: the next comes after six hours."""
COLLECT, NORMALISE, ENRICH = "collect", "normalise", "enrich"
NORMALISED = (Stage.CONVERT,)
SYNCED = (Stage.IMAGE, Stage.PRICE, Stage.REGISTER)
MOST_BRANDS = 5_000

OPEN = Statement("select count(*) as value from crawling_jobs where id in (:ids...) and completed_at is null")
BEGUN = Statement("select started_at as value from crawling_jobs where id = :id")
EARLIER = Statement("""
    select id as value from crawling_jobs where workflow_id = :workflow_id and id < :id
      and status in ('PENDING', 'RUNNING') order by id limit 1""")
BRANDS = Statement("""
    select distinct brand, brand_ko from products where mall = :mall and brand is not null and brand <> ''
    order by brand limit :limit""")


class Steps:
    """All three, for one process."""

    def __init__(self, engine: Engine, collector: Collector) -> None:
        self._engine = engine
        self._collector = collector

    async def collect(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Ask every supplier for what is new, and wait for the answers."""
        return [await self._engine.db.transact(lambda tx, task=task: self._collected(tx, task)) for task in batch]  # type: ignore[misc]

    async def normalise(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Convert what a supplier has of brands that a person has accepted; others are proposed."""
        return [await self._engine.db.transact(lambda tx, task=task: self._normalised(tx, task)) for task in batch]  # type: ignore[misc]

    async def sync(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Price and register it, by a batch of the conveyor."""
        return [await self._engine.db.transact(lambda tx, task=task: self._synced(tx, task)) for task in batch]  # type: ignore[misc]

    async def _collected(self, tx: Tx, task: Task) -> Outcome:
        jobs = _input(task).get("jobs")
        if jobs is None:
            return await self._asked(tx, task)
        left = await tx.value(OPEN, ids=jobs) if jobs else 0
        if left and await _in_time(tx, task):
            return Snooze(tx.now + BREATH, f"{left} of {len(jobs)} jobs are collecting")
        spawn = tuple(
            NewTask({"supplier": name}, key=f"normalise:{name}", step=NORMALISE, raw=True)
            for name in _input(task)["suppliers"]
        )
        return Done(output={"jobs": len(jobs), "open": left}, spawn=spawn)

    async def _asked(self, tx: Tx, task: Task) -> Outcome:
        """The first task asks, a second one waits: who is asked again would begin anew."""
        earlier = await tx.value(EARLIER, workflow_id=task.run.plan.workflow_id, id=task.job_id)
        if earlier is not None:
            return Skip(f"job {earlier} is syncing the suppliers already")
        try:
            found = await asking.chosen(tx, _input(task).get("suppliers") or ())
        except (Conflict, Missing) as error:
            return Skip(str(error))
        if not found:
            return Skip("there is no active supplier: `bobusang supplier add` adds one")
        jobs: list[int] = []
        told: dict[str, str] = {}
        for supplier in found:
            begun = await asking.ask(tx, self._engine, self._collector, supplier, key=f"product_sync:{task.job_id}")
            jobs += begun.jobs
            told[supplier.name] = begun.why or f"{len(begun.jobs)} jobs"
        waits = {"jobs": jobs, "suppliers": [one.name for one in found]}
        return Done(output={"asked": told}, spawn=(NewTask(waits, key="wait", step=COLLECT, raw=True),))

    async def _normalised(self, tx: Tx, task: Task) -> Outcome:
        name = str(_input(task)["supplier"])
        proposed = await self._propose(tx, name)
        wanted = await choosing.accepted(tx, [name])
        if not wanted:
            words = f"{proposed} new brands were proposed" if proposed else "`bobusang brand accept` accepts them"
            return Skip(f"no brand of {name} is accepted: {words}")
        outcome = await self._run(tx, task, wanted, NORMALISED, f"{task.job_id}:{name}")
        if not isinstance(outcome, Done):
            return outcome
        enrich = NewTask({"supplier": name, "after": 0, "asked": 0}, key=f"enrich:{name}:0", step=ENRICH, raw=True)
        return Done(output=outcome.output, spawn=(enrich,))

    async def _propose(self, tx: Tx, name: str) -> int:
        """The brands that a supplier's products name; who reads a mall's index knows them already."""
        known = {word for one in await brands.listed(tx, name, limit=MOST_BRANDS) for word in (one.key, one.name_en)}
        rows = await tx.fetch(BRANDS, mall=name, limit=MOST_BRANDS)
        new = {row["brand"]: row["brand_ko"] or "" for row in rows if row["brand"] not in known}
        proposals = [Proposal(brand, ko, brand) for brand, ko in sorted(new.items()) if len(brand) <= 100]
        return await brands.propose(tx, name, proposals) if proposals else 0

    async def _synced(self, tx: Tx, task: Task) -> Outcome:
        if not any(account.enabled for account in await accounts.every(tx)):
            return Skip("there is no account to sell with: `bobusang account add` opens one")
        try:
            found = await asking.chosen(tx, task.run.input.get("suppliers") or ())
        except (Conflict, Missing) as error:
            return Skip(str(error))
        wanted = await choosing.accepted(tx, [one.name for one in found])
        if not wanted:
            return Skip("no brand of a supplier is accepted, so there is nothing to sell")
        return await self._run(tx, task, wanted, SYNCED, f"{task.job_id}")

    async def _run(self, tx: Tx, task: Task, wanted: Sequence[Brand], stages: Sequence[Stage], key: str) -> Outcome:
        """A batch of the conveyor for these stages, and the wait for its end; another may have the brands just now."""
        workflow_id = int((await workflows.find(tx, control.WORKFLOW))["id"])
        name = f"product_sync:{key}:{stages[0].value}"
        try:
            begun = await starting.start(tx, self._engine, workflow_id, Mode.FULL, wanted, stages=stages, key=name)
        except (Conflict, Invalid) as error:
            if await _in_time(tx, task):
                return Snooze(tx.now + BREATH, str(error))
            return Skip(str(error))
        batch = await batches.get(tx, begun.batch_id)
        if batch.status is BatchStatus.RUNNING and await _in_time(tx, task):
            return Snooze(tx.now + BREATH, f"batch {batch.batch_id} is running")
        told = {"batch": batch.batch_id, "status": batch.status.value, "brands": batch.total_brands}
        return Done(output=told, spawn=())


def _input(task: Task) -> dict[str, Any]:
    return dict(task.input) if isinstance(task.input, dict) else {}


async def _in_time(tx: Tx, task: Task) -> bool:
    """Whether the sync may go on waiting: one that hangs must not keep the next from being tried."""
    begun = utc(await tx.value(BEGUN, id=task.job_id))
    return begun is None or tx.now - begun < PATIENCE
