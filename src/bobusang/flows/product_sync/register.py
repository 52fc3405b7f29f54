"""The handlers, the workflow and the shipped schedule of the product sync: every six hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import jobs, schedules, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.engine.jobs import NewJob
from bobusang.engine.schedules import ScheduleSpec
from bobusang.flows.product_sync import asking
from bobusang.flows.product_sync.enriching import Enriching
from bobusang.flows.product_sync.steps import Steps
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.platform.model import Model

WORKFLOW, SCHEDULE = "product_sync", "product sync"
ZONE, CRON = "Asia/Seoul", "0 */6 * * *"
PERIOD = timedelta(hours=6)

KNOWN = Statement("select id from crawling_schedules where name = :name and workflow_id = :workflow_id limit 1")
BUSY = Statement("""
    select id as value from crawling_jobs where workflow_id = :workflow_id and status in ('PENDING', 'RUNNING')
    order by id limit 1""")


@dataclass(frozen=True, slots=True)
class Started:
    """The job that syncs, and whether this call made it."""

    job_id: int
    is_new: bool


def register(engine: Engine, collector: Collector, model: Model) -> None:
    """Add the handlers."""
    steps, enriching = Steps(engine, collector), Enriching(engine.db, model)
    add = engine.handlers.add
    add(Handler("product_sync.collect", steps.collect, batch=5))
    add(Handler("product_sync.normalise", steps.normalise, batch=5))
    add(Handler("product_sync.enrich", enriching.work, enriching.save, batch=1))
    add(Handler("product_sync.sync", steps.sync, batch=5))


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.product_sync").joinpath("product_sync.yaml").read_text("utf-8")


async def install(engine: Engine) -> None:
    """Store the workflow and, once, its schedule: one that a person has changed, paused or deleted stays so."""
    found = load(definition(), origin="product_sync.yaml")

    async def work(tx: Tx) -> None:
        workflow_id = (await workflows.store(tx, engine.books, found)).id
        if await tx.first(KNOWN, name=SCHEDULE, workflow_id=workflow_id) is None:
            spec = ScheduleSpec(SCHEDULE, workflow_id, cron=CRON, timezone=ZONE, misfire_window=PERIOD)
            await schedules.create(tx, spec)

    await engine.db.transact(work)


async def start(tx: Tx, engine: Engine, names: Sequence[str] = ()) -> Started:
    """Sync the active suppliers now, or those that are named; one sync at a time: a second is the first.

    Raises Missing for a supplier that nobody knows, Conflict for one that is paused.
    """
    await asking.chosen(tx, names)
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    busy = await tx.value(BUSY, workflow_id=workflow_id)
    if busy is not None:
        return Started(int(busy), is_new=False)
    told = {"suppliers": list(names)} if names else {}
    made = await jobs.create(tx, engine.books, engine.hooks, NewJob(workflow_id, input=told))
    return Started(made[0], is_new=made[1])
