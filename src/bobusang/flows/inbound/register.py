"""The handler, the workflow and the duties of webhooks, as the engine knows them."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import jobs, targets, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.engine.jobs import NewJob
from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.inbound.reading import KIND, Reading
from bobusang.kit.sql import Statement
from bobusang.stages.collect import events

if TYPE_CHECKING:
    from bobusang.engine.handlers import Handlers
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

WORKFLOW, HANDLER = "inbound", "inbound.read"
EVERY = timedelta(seconds=1)
"""For databases that carry no ring from one process to another; where one is heard it is at once."""
PAUSE = timedelta(seconds=0.5)
"""Webhooks come in crowds: those of half a second are one job."""
FORGET_EVERY = timedelta(hours=1)

BUSY = Statement("""
    select id from crawling_jobs where workflow_id = :workflow_id and target_id = :target_id
      and status in ('PENDING', 'RUNNING') limit 1""")


def register(handlers: Handlers, collector: Collector) -> None:
    """Add the handler."""
    reading = Reading(collector)
    handlers.add(Handler(HANDLER, reading.work, reading.save, batch=4, required=frozenset({"source"})))


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.inbound").joinpath("inbound.yaml").read_text("utf-8")


async def install(engine: Engine) -> int:
    """Store the workflow, a new version where it has changed; its id."""
    found = load(definition(), origin="inbound.yaml")
    stored = await engine.db.transact(lambda tx: workflows.store(tx, engine.books, found))
    return stored.id


def start(engine: Engine) -> Duty:
    """At once when a webhook was stored: a job for each source of which some wait, one at a time."""

    async def run() -> int:
        async with engine.db.read() as tx:
            sources = await events.waiting(tx)
        # As much as was begun: nothing is left for another pass, what comes meanwhile rings again.
        for source in sources:
            await engine.db.transact(lambda tx, source=source: started(tx, engine, source))  # type: ignore[misc]
        return 0

    return Duty("inbound webhooks", EVERY, run, frozenset({events.DOORBELL}), PAUSE)


async def started(tx: Tx, engine: Engine, source: str) -> int | None:
    """Begin to read what a source has sent; None where that is being done."""
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    known = await targets.known(tx, kind=KIND, key=source, source=source)
    target_id = known[0] if known else await targets.put(tx, kind=KIND, key=source, source=source)
    if await tx.first(BUSY, workflow_id=workflow_id, target_id=target_id) is not None:
        return None
    new = NewJob(workflow_id, target_id=target_id, input={"source": source})
    return (await jobs.create(tx, engine.books, engine.hooks, new))[0]


def forget(engine: Engine, keep: timedelta) -> Duty:
    """Every hour: events that were read long ago. Whoever sends one again then is too late by its time."""

    async def run() -> int:
        return await engine.db.transact(lambda tx: events.forget(tx, tx.now - keep))

    return Duty("old events", FORGET_EVERY, run, pause=timedelta(seconds=1))
