"""The shipped schedule of Musinsa's daily crawl, at six in the morning of Seoul."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import schedules, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.engine.schedules import ScheduleSpec
from bobusang.flows.daily.steps import Steps
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from bobusang.engine.handlers import Handlers
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

WORKFLOW = "daily-crawl"
ZONE, CRON = "Asia/Seoul", "0 6 * * *"
SOURCES = ("musinsa",)
"""Those that are crawled daily as the program comes; for another one add a schedule of the same workflow."""
LATE = timedelta(hours=12)
"""A crawl that was missed by more than this waits for the next morning."""

KNOWN = Statement("select id from crawling_schedules where name = :name and workflow_id = :workflow_id limit 1")


def register(handlers: Handlers, engine: Engine, collector: Collector) -> None:
    """Add the handlers."""
    steps = Steps(engine, collector)
    needs = frozenset({"source"})
    handlers.add(Handler("daily.crawl", steps.crawl, batch=10, required=needs))
    handlers.add(Handler("daily.validate", steps.validate, batch=10, required=needs))
    handlers.add(Handler("daily.load", steps.load, batch=10, required=needs))


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.daily").joinpath("daily.yaml").read_text("utf-8")


async def install(engine: Engine) -> None:
    """Store the workflow and, once, its schedules: one that a person has changed, paused or deleted stays so."""
    found = load(definition(), origin="daily.yaml")

    async def work(tx: Tx) -> None:
        workflow_id = (await workflows.store(tx, engine.books, found)).id
        for source in SOURCES:
            if await tx.first(KNOWN, name=name_of(source), workflow_id=workflow_id) is None:
                await schedules.create(tx, _spec(workflow_id, source))

    await engine.db.transact(work)


def name_of(source: str) -> str:
    """What its schedule is called."""
    return f"{source} daily"


def _spec(workflow_id: int, source: str) -> ScheduleSpec:
    return ScheduleSpec(
        name_of(source), workflow_id, cron=CRON, timezone=ZONE, misfire_window=LATE, input={"source": source}
    )
