"""Two processes work while people pause, cancel, retry and re-drive: in the end every counter equals its rows."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.engine import control, redriving, waiting
from bobusang.engine.grammar.definition import Parallel
from bobusang.engine.model import ErrorHandling, NewTask, ReasonClass, StepMode
from bobusang.engine.outcome import DONE, Done, Fail, Halt, Outcome, Park, Retry, Skip, Snooze, Wait
from bobusang.engine.redriving import Filter
from bobusang.engine.worker import Pace
from bobusang.kit.errors import Conflict, Missing
from bobusang.testing.workshop import Workshop, step
from tests import seed as seeds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task

ACTS = 60
QUICK = Pace(beat=timedelta(seconds=0.25), dead_after=timedelta(seconds=2), drain=timedelta(seconds=0.05))
LEFT = ("queue_ready", "queue_delayed", "queue_held", "queue_claims", "job_deltas", "job_sweeps", "workers")
NAMES = {"DONE": "succeeded", "SKIPPED": "skipped", "FAILED": "failed", "PARKED": "failed", "CANCELLED": "cancelled"}


class Moods:
    """A handler that does whatever it likes, until it is told to behave."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.behaves = False
        self.asleep: set[str] = set()

    async def work(self, shop: Workshop, batch: Sequence[Task]) -> list[Outcome]:
        await asyncio.sleep(self.chance.uniform(0, 0.01))
        if not self.behaves and self.chance.random() < 0.05:
            raise ZeroDivisionError("a bad moment")
        return [DONE if self.behaves else self.outcome(shop, task) for task in batch]

    def outcome(self, shop: Workshop, task: Task) -> Outcome:
        soon = shop.db.clock.now() + timedelta(seconds=self.chance.uniform(0, 0.5))
        key = f"wait {task.id}"
        dice = self.chance.random()
        if dice < 0.06:
            self.asleep.add(key)
            return Wait(key, soon)
        again = 0.3 if task.step.name == "list" else 0.0
        chances: list[tuple[float, Outcome]] = [
            (again, Done(spawn=tuple(NewTask(n, step=name) for n in range(2) for name in ("list", "item")))),
            (0.05, Retry("503", reason=ReasonClass.TRANSPORT)),
            (0.05, Snooze(soon)),
            (0.03, Skip("nothing")),
            (0.03, Fail("no")),
            (0.03, Park(ReasonClass.REJECTED, "no")),
            (0.005, Halt("403")),
        ]
        for chance, outcome in chances:
            if self.chance.random() < chance:
                return outcome
        return Done({"by": task.id})


async def people(shop: Workshop, chance: random.Random, workflows: list[int], moods: Moods, acts: int) -> None:
    """Whatever people do, in any order, to any job."""
    jobs: list[int] = []
    for _ in range(acts):
        await asyncio.sleep(chance.uniform(0, 0.03))
        if not jobs or chance.random() < 0.25:
            jobs.append(await shop.job(chance.choice(workflows), *range(chance.randrange(1, 12))))
        with suppress(Conflict, Missing):
            await act(shop, chance, chance.choice(jobs), chance.choice(sorted(moods.asleep) or ["nobody"]))


async def act(shop: Workshop, chance: random.Random, job: int, key: str) -> Any:
    match chance.choice(["pause", "resume", "resume", "cancel", "retry", "redrive", "wake"]):
        case "pause":
            return await shop.do(lambda tx: control.pause(tx, job))
        case "resume":
            return await shop.do(lambda tx: control.resume(tx, job))
        case "cancel":
            return await shop.engine.do(control.cancel, job)
        case "retry":
            return await shop.do(lambda tx: redriving.retry_job(tx, shop.books, job))
        case "redrive":
            return await shop.do(lambda tx: redriving.redrive(tx, shop.books, Filter(limit=10)))
        case _:
            return await shop.do(lambda tx: waiting.wake(tx, key))


async def settle_down(shop: Workshop) -> None:
    """Let everything go on until nothing is left to do."""

    async def over() -> bool:
        for row in await shop.rows("select id from crawling_jobs where is_paused = :yes", yes=True):
            with suppress(Conflict, Missing):
                await shop.do(lambda tx, job=row["id"]: control.resume(tx, job))  # type: ignore[misc]
        open_jobs = await shop.value("select count(*) from crawling_jobs where completed_at is null")
        sweeps = await shop.value("select count(*) from job_sweeps")
        deltas = await shop.value("select count(*) from job_deltas")
        return not (open_jobs or sweeps or deltas)

    await shop.until(over, patience=60)


async def test_people_and_workers_at_once_lose_nothing_and_count_everything_once(live: Workshop, url: str) -> None:
    seed = seeds.chosen()
    print(f"again with BOBUSANG_SEED={seed}")
    await chaos(live, url, random.Random(seed), ACTS)


async def chaos(live: Workshop, url: str, chance: random.Random, acts: int) -> None:
    """So many acts of each of two people, then peace; and then everything must add up."""
    moods = Moods(chance)
    async with AsyncExitStack() as stack:
        shops = [live, await stack.enter_async_context(Workshop.opened(url))]
        for shop in shops:
            for name in ("list", "item", "store", "report"):
                work = lambda batch, shop=shop: moods.work(shop, batch)  # noqa: E731
                shop.handler(name, work, batch=7, concurrency=2)
        flow = (step("list"), step("item", mode=StepMode.BARRIER), step("store"))
        workflows = [
            await live.workflow(*flow),
            await live.workflow(*flow, parallel=Parallel(jobs=3, tasks=5)),
            await live.workflow(step("list", on_error=ErrorHandling.FAIL), step("item"), tolerance=0.2),
            await live.workflow(step("list", mode=StepMode.BARRIER), step("report", gather=True)),
        ]
        for shop in shops:
            await stack.enter_async_context(shop.running(pace=QUICK))
        await asyncio.gather(*(people(shop, chance, workflows, moods, acts) for shop in shops))
        moods.behaves = True
        await settle_down(live)

    assert {table: await live.value(f"select count(*) from {table}") for table in LEFT} == dict.fromkeys(LEFT, 0)
    await check(live)


async def check(shop: Workshop) -> None:
    """Every task has an outcome, and what each step counted is what its tasks say."""
    rows = await shop.rows(
        "select job_id, step_id, outcome, count(*) as n from tasks group by job_id, step_id, outcome"
    )
    counted: dict[tuple[int, int], Counter[str]] = {}
    for row in rows:
        place = counted.setdefault((row["job_id"], row["step_id"]), Counter())
        place["created"] += row["n"]
        place[NAMES[row["outcome"]]] += row["n"]
    names = ("created", "succeeded", "failed", "skipped", "cancelled")
    for row in await shop.rows("select * from job_steps"):
        wanted = counted.get((row["job_id"], row["step_id"]), Counter())
        assert {name: row[name] for name in names} == {name: wanted[name] for name in names}, row
    dead = await shop.rows("""
        select d.task_id from dead_letters d join tasks t on t.id = d.task_id where t.outcome <> 'PARKED'""")
    assert dead == []
    parked = await shop.value("""
        select count(*) from tasks t where t.outcome = 'PARKED'
          and not exists (select 1 from dead_letters d where d.task_id = t.id)""")
    assert parked == 0
