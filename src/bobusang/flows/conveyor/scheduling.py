"""The shipped schedules: FULL at three in the night, PARTIAL every hour, and the handler that starts their batches."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bobusang.engine import schedules, workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.engine.model import NewTask
from bobusang.engine.outcome import Done, Outcome, Skip, Snooze
from bobusang.engine.schedules import ScheduleSpec
from bobusang.flows.conveyor import batches, choosing, control, starting
from bobusang.flows.conveyor.model import Brand, Mode
from bobusang.kit.errors import Conflict, Invalid
from bobusang.kit.sql import Statement
from bobusang.stages.register import accounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.handlers import Handlers
    from bobusang.engine.model import Task
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

WORKFLOW, HANDLER, STEP = "conveyor-start", "conveyor.start", "start"
ZONE = "Asia/Seoul"
CRON = {Mode.FULL: "0 3 * * *", Mode.PARTIAL: "0 * * * *"}
PERIODS = {Mode.FULL: timedelta(days=1), Mode.PARTIAL: timedelta(hours=1)}
"""How late a start may still be made up for: until the next is due."""
NAMES = {Mode.FULL: "conveyor full", Mode.PARTIAL: "conveyor partial"}
PRIORITIES = {Mode.FULL: 9, Mode.PARTIAL: 5}
"""At three o'clock both are due: FULL is to come first."""
BREATH = timedelta(seconds=2)
AGAIN = timedelta(minutes=5)
MOST_TRIES = 36
"""For three hours FULL comes back for the brands that a PARTIAL still had."""

KNOWN = Statement("select id from crawling_schedules where name = :name and workflow_id = :workflow_id limit 1")
FULL_COMES = Statement("""
    select j.id from crawling_jobs j where j.workflow_id = :workflow_id and j.job_type = 'FULL' and j.is_paused = false
      and (j.status = 'PENDING' and (j.scheduled_at is null or j.scheduled_at <= :now) or j.status = 'RUNNING'
        and exists (select 1 from tasks t where t.job_id = j.id and t.task_key = 'seed.1' and t.completed_at is null))
    union all select s.id from crawling_schedules s where s.workflow_id = :workflow_id and s.job_type = 'FULL'
      and s.is_active = true and s.deleted_at is null and s.next_run_at <= :now""")


def register(handlers: Handlers, engine: Engine, collector: Collector) -> None:
    """Add the handler."""
    handlers.add(Handler(HANDLER, Starting(engine, collector).work, batch=10, required=frozenset({"mode"})))


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.conveyor").joinpath("start.yaml").read_text("utf-8")


async def install(engine: Engine) -> None:
    """Store the workflow and, once, its schedules: one that a person has changed, paused or deleted stays so."""
    found = load(definition(), origin="start.yaml")

    async def work(tx: Tx) -> None:
        workflow_id = (await workflows.store(tx, engine.books, found)).id
        for mode in Mode:
            if await tx.first(KNOWN, name=NAMES[mode], workflow_id=workflow_id) is None:
                await schedules.create(tx, _spec(workflow_id, mode))

    await engine.db.transact(work)


def _spec(workflow_id: int, mode: Mode) -> ScheduleSpec:
    return ScheduleSpec(
        NAMES[mode],
        workflow_id,
        cron=CRON[mode],
        timezone=ZONE,
        priority=PRIORITIES[mode],
        misfire_window=PERIODS[mode],
        job_type=starting.JOB_TYPES[mode],
        input={"mode": mode.value},
    )


class Starting:
    """The handler `conveyor.start`, for one process."""

    def __init__(self, engine: Engine, collector: Collector) -> None:
        self._engine = engine
        self._collector = collector

    async def work(self, batch: Sequence[Task]) -> Sequence[Outcome]:
        """Start a batch for each task, FULL before PARTIAL."""
        found: dict[int, Outcome] = {}
        for task in sorted(batch, key=lambda task: Mode(task.input["mode"]) is not Mode.FULL):
            found[task.id] = await self._engine.db.transact(lambda tx, task=task: self._started(tx, task))  # type: ignore[misc]
        return [found[task.id] for task in batch]

    async def _started(self, tx: Tx, task: Task) -> Outcome:
        mode = Mode(task.input["mode"])
        if mode is Mode.PARTIAL and await tx.first(FULL_COMES, workflow_id=task.run.plan.workflow_id, now=tx.now):
            return Snooze(tx.now + BREATH, "FULL is about to start, and takes its brands first")
        every = await accounts.every(tx)
        if not every:
            return Skip("there is no account to sell with: `bobusang account add` opens one")
        if not any(account.enabled for account in every):
            return Skip("every account is switched off: `bobusang account list` says why")
        try:
            brands = await self._brands(tx, task)
            waited = await batches.taken(tx, Mode.PARTIAL) & set(brands) if mode is Mode.FULL else set()
            rest = self._rest(task, [brand for brand in brands if brand in waited], tx)
            if brands and waited == set(brands):
                return Done(output={"waits_for": len(waited)}, spawn=rest)
            workflow_id = int((await workflows.find(tx, control.WORKFLOW))["id"])
            key = f"task:{task.id}"
            made = await starting.start(tx, self._engine, workflow_id, mode, brands, key=key)
        except (Conflict, Invalid) as error:
            return Skip(str(error))
        told = {"batch": made.batch_id, "new": made.is_new, "brands": len(made.brands), "busy": len(made.busy)}
        return Done(output=told, spawn=rest)

    async def _brands(self, tx: Tx, task: Task) -> list[Brand]:
        """Those a PARTIAL had when FULL came for them, or all that may run."""
        found = await choosing.chosen(tx, self._collector, mode=Mode(task.input["mode"]))
        named = task.input.get("brands")
        return found if named is None else [brand for brand in found if [brand.mall, brand.name] in named]

    def _rest(self, task: Task, brands: Sequence[Brand], tx: Tx) -> tuple[NewTask, ...]:
        tries = int(task.input.get("tries", 0)) + 1
        if not brands or tries > MOST_TRIES:
            return ()
        told: dict[str, Any] = {
            "mode": Mode.FULL.value,
            "brands": [[brand.mall, brand.name] for brand in brands],
            "tries": tries,
        }
        return (NewTask(told, key=f"rest.{tries}", step=STEP, after=tx.now + AGAIN, raw=True),)
