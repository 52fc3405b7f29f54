"""A fleet of crash-test workers, the job they work on, and what became of it in the end."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bobusang.engine.jobs import NewJob
from bobusang.engine.model import NewTask
from bobusang.kit.errors import Unavailable
from bobusang.kit.sql import Statement
from bobusang.testing.crash import STEPS
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
    from pathlib import Path

T = TypeVar("T")

POLL_SECONDS = 0.02
LONGEST_AIM = 0.03
"""Seconds between choosing a victim and killing it: a batch and its transaction take about as long."""

MAKE = Statement("create table crash_effects (step varchar(20), number integer, task_id bigint)")
DROP = Statement("drop table crash_effects")
COUNTERS = ("total_items", "processed_items", "success_count", "failed_count", "skipped_count", "cancelled_count")


class Fleet:
    """Worker processes on one database; none of them outlives the block."""

    def __init__(self, url: str, log: Path) -> None:
        self._url = url
        self._log = log
        self._numbers = itertools.count(1)
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.killed = 0

    @classmethod
    @contextmanager
    def of(cls, size: int, url: str, folder: Path) -> Iterator[Fleet]:
        """So many workers, whose log goes to a file in a folder; its end is shown when the block fails."""
        fleet = cls(url, folder / "fleet.log")
        try:
            for _ in range(size):
                fleet.start()
            yield fleet
        except BaseException:
            sys.stderr.write(fleet.told())
            raise
        finally:
            fleet.end()

    @property
    def alive(self) -> int:
        """How many run that were not killed by us."""
        return sum(process.poll() is None for process in self._running.values())

    def start(self) -> None:
        """One more worker."""
        name = f"crash {next(self._numbers)}"
        with self._log.open("ab") as out:
            self._running[name] = subprocess.Popen(  # noqa: S603  (our own program)
                [sys.executable, "-m", "bobusang.testing.crash", self._url, name],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
            )

    def kill(self, name: str) -> None:
        """SIGKILL, and wait until it is gone."""
        process = self._running.pop(name)
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        self.killed += 1

    async def strike(self, chance: random.Random, among: Collection[str] = ()) -> None:
        """Kill one (of those named, if any of them runs) a random moment later, and put another in its place."""
        victims = sorted(self._running.keys() & among) or sorted(self._running)
        await asyncio.sleep(chance.uniform(0, LONGEST_AIM))
        self.kill(chance.choice(victims))
        self.start()

    def end(self) -> None:
        """Kill them all."""
        for name in list(self._running):
            self.kill(name)

    async def says(self, words: str, *, patience: float) -> None:
        """Wait until one of them has logged these words."""
        async with asyncio.timeout(patience):
            while words not in self._log.read_text(errors="replace"):  # noqa: ASYNC110  (a file tells nobody)
                await asyncio.sleep(POLL_SECONDS)

    def told(self) -> str:
        """The end of their log."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return f"{self.killed} killed before the end; the log ends:\n{text[-8000:]}\n"


@dataclass(frozen=True, slots=True)
class Ending:
    """All that must be right when the job is over."""

    status: str
    counters: tuple[int, ...]
    """As in COUNTERS."""
    steps: dict[str, tuple[str, int, int]]
    """State, tasks made, tasks succeeded."""
    rows: dict[str, int]
    """Effects of each step."""
    missing: tuple[tuple[str, int], ...] = ()
    doubled: tuple[tuple[str, int], ...] = ()
    left: tuple[tuple[int, str], ...] = ()
    """Entries still standing somewhere."""
    deltas: int = 0


def perfect(tasks: int) -> Ending:
    """Every effect once, and nothing left."""
    both = tasks * len(STEPS)
    return Ending(
        "SUCCESS",
        (both, both, both, 0, 0, 0),
        dict.fromkeys(STEPS, ("DONE", tasks, tasks)),
        dict.fromkeys(STEPS, tasks),
    )


class Trial:
    """One job of two streaming steps, watched from outside while workers and servers die."""

    def __init__(self, shop: Workshop, job: int, tasks: int) -> None:
        self.shop = shop
        self.job = job
        self.tasks = tasks

    @staticmethod
    @asynccontextmanager
    async def on(url: str, *, tasks: int) -> AsyncIterator[Trial]:
        """Make the table of effects and a job of so many tasks; afterwards the table goes."""
        async with Workshop.opened(url) as shop:
            await shop.do(lambda tx: tx.execute(MAKE))
            try:
                yield await Trial._made(shop, tasks)
            finally:
                await shop.do(lambda tx: tx.execute(DROP))

    @staticmethod
    async def _made(shop: Workshop, tasks: int) -> Trial:
        workflow = await shop.workflow(*(step(name) for name in STEPS))
        seeds = [NewTask({"number": number}, key=str(number)) for number in range(tasks)]
        job, _ = await shop.engine.submit(NewJob(workflow, seeds=seeds))
        return Trial(shop, job, tasks)

    async def again(self) -> Trial:
        """The next round on the same database."""
        await self.shop.do(lambda tx: tx.execute(Statement("delete from crash_effects")))
        return await Trial._made(self.shop, self.tasks)

    async def busy(self) -> set[str]:
        """The names of the workers that hold claims now."""
        text = "select distinct w.name from queue_claims c join workers w on w.id = c.worker_id"
        return {row["name"] for row in await self.shop.rows(text)}

    async def reached(self, effects: int, *, patience: float) -> None:
        """Wait until there are so many effects."""

        async def enough() -> bool:
            count: int = await self.shop.value("select count(*) from crash_effects")
            return count >= effects

        await self._until(enough, patience)

    async def over(self) -> bool:
        """Whether the job has ended, as far as the database answers."""
        try:
            return (await self.shop.job_row(self.job))["completed_at"] is not None
        except Unavailable:
            return False

    async def ending(self, *, patience: float) -> Ending:
        """Wait for the end and look closely; when it does not come, what there is instead."""
        try:
            await self._until(self._settled, patience)
        except TimeoutError:
            pass
        rows = await self.shop.rows("select step, number from crash_effects")
        seen: dict[tuple[str, int], int] = {}
        for row in rows:
            place = (row["step"], row["number"])
            seen[place] = seen.get(place, 0) + 1
        wanted = {(name, number) for name in STEPS for number in range(self.tasks)}
        job = await self.shop.job_row(self.job)
        places = await self.shop.places()
        return Ending(
            job["status"],
            tuple(job[name] for name in COUNTERS),
            await self._steps(),
            {name: sum(row["step"] == name for row in rows) for name in STEPS},
            tuple(sorted(wanted - seen.keys())),
            tuple(sorted(place for place, times in seen.items() if times > 1)),
            tuple((task, place) for task, where in places.items() for place in where),
            await self.shop.value("select count(*) from job_deltas"),
        )

    async def rescued(self) -> int:
        """How many entries were taken back from dead workers."""
        text = "select count(*) from task_attempts where job_id = :id and outcome = 'RESCUED'"
        found: int = await self.shop.value(text, id=self.job)
        return found

    async def _settled(self) -> bool:
        return await self.over() and not await self.shop.value("select count(*) from queue_claims")

    async def _steps(self) -> dict[str, tuple[str, int, int]]:
        text = """select s.step_name, j.state, j.created, j.succeeded from job_steps j
            join workflow_steps s on s.id = j.step_id where j.job_id = :id"""
        rows = await self.shop.rows(text, id=self.job)
        return {row["step_name"]: (row["state"], row["created"], row["succeeded"]) for row in rows}

    async def _until(self, holds: Callable[[], Awaitable[Any]], patience: float) -> None:
        """Ask again and again for a bounded time; a database that is away has not answered yet."""
        async with asyncio.timeout(patience):
            while True:
                try:
                    if await holds():
                        return
                except Unavailable:
                    pass
                await asyncio.sleep(POLL_SECONDS)
