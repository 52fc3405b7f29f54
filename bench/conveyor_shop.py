"""A shop to be measured: sandbox, database and `bobusang up`, each in a process of its own, and its seller here."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from bench.quota import limited
from bobusang import migrations
from bobusang.flows.conveyor.model import Brand, Mode
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.settings import load
from bobusang.stages.register.model import Policy
from bobusang.testing.sandbox import process
from bobusang.testing.shop import BATCH, ENDLESS, NAME, Shop
from bobusang.testing.yard import Yard
from bobusang.wiring import opened
from tests.servers import postgres
from tests.servers.postgres import Postgres
from tests.servers.server import ROOT, free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

MALL = "okmall"
POLICY = Policy(budget=ENDLESS, patience=timedelta(minutes=10))
"""Nothing is sent again only because this machine is busy."""
POLL_SECONDS = 0.25
START_SECONDS, STOP_SECONDS = 60.0, 60.0
LIVE = Statement("select count(*) as value from listings where state = 'LIVE'")
COLLECTED = Statement("select count(*) as value from products")
WHY = Statement("""
    select mall_name, brand_name, stage, error_msg from pipeline_control
    where batch_id = :id and status <> 'DONE' order by id""")
SETTINGS = {"BOBUSANG_LOG_LEVEL": "ERROR", "BOBUSANG_LOG_FORMAT": "json"}
SPARE = 1.3
"""Products of the mall for each that is listed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is set up."""

    database: str
    products: int
    """Wanted on the market; the mall has some more, for not all that it sells can be listed."""
    page_size: str = "default"
    pictures: int = 1
    side: int = 300
    workers: int = 1
    share: float = 0.0
    """Of a core, that each of our processes gets at most; 0: as much as there is."""
    meter: str = ""
    """The module that runs our processes and notes something when they end; stages cost about 0.4 ms a product."""

    @property
    def world(self) -> list[str]:
        """The sandbox's arguments: a market without delays and limits, a mall that never ages."""
        size = max(28, round(self.products * SPARE))
        return [
            *("--size", str(size), "--pace", "0", "--page-size", self.page_size),
            *("--pictures", str(self.pictures), "--picture-side", str(self.side)),
            *("--market-delay", "0", "--market-limits", "0", "0"),
        ]


@dataclass(frozen=True, slots=True)
class Spent:
    """What one run took: CPU seconds of ours, of the sandbox and of the database's server, and seconds on the clock."""

    ours: float
    sandbox: float
    server: float
    wall: float


@dataclass(slots=True)
class Stand:
    """A shop that is open."""

    shop: Shop
    plan: Plan
    brands: list[Brand]
    ups: Sequence[psutil.Popen]
    server: psutil.Process | None
    notes: Path
    """Where each process notes what its meter has found when it ends."""
    peak: float = field(default=0.0)
    """Megabytes that our largest process had at most."""

    @property
    def seller(self) -> str:
        """Our account's name."""
        return NAME

    async def run(self, mode: Mode, *, brands: Sequence[Brand] = (), **wish: Any) -> Spent:
        """One batch to its end, of all brands unless some are named; `wish` is what `starting.start` takes."""
        begun, wall = await self.spent(), time.perf_counter()
        batch = await self.shop.start(mode, brands or self.brands, **wish)
        while (status := await self._status(batch)) == "RUNNING":
            await asyncio.sleep(POLL_SECONDS)
            if not all(one.is_running() for one in self.ups):
                raise RuntimeError("a process of ours has ended; see above")
        wall = time.perf_counter() - wall
        self.peak = max([self.peak, *map(_peak, self.ups)])
        if status != "COMPLETED":
            raise RuntimeError(f"batch {batch} is {status}: {await self.shop.yard.rows(WHY, id=batch)}")
        ours, sandbox, server = await self.spent()
        return Spent(ours - begun[0], sandbox - begun[1], server - begun[2], wall)

    async def value(self, statement: Statement, **given: Any) -> int:
        """A number of the database."""
        row = await self.shop.yard.one(statement, **given)
        assert row is not None
        return int(row["value"])

    def noted(self) -> list[Any]:
        """What each of our processes has noted; that ends them."""
        for one in self.ups:
            stop(one)
        files = sorted(self.notes.iterdir()) if self.notes.exists() else []
        return [json.loads(file.read_text("utf-8")) for file in files]

    def stages(self) -> list[tuple[str, str, float]]:
        """Who used how many CPU seconds in which thread since our processes were started; that ends them."""
        return [(who, thread, seconds) for rows in self.noted() for who, thread, seconds in rows]

    async def _status(self, batch: str) -> str:
        row = await self.shop.yard.one(BATCH, id=batch)
        assert row is not None
        return str(row["status"])

    async def spent(self) -> tuple[float, float, float]:
        """CPU seconds so far: ours, the sandbox's, the database server's."""
        sandbox = float((await self.shop.door.world())["cpu_seconds"])
        return sum(map(cpu, self.ups)), sandbox, 0.0 if self.server is None else cpu(self.server)


class Watched(Postgres):
    """PostgreSQL, whose work is counted apart."""

    @property
    def process(self) -> psutil.Process:
        assert self._keeper is not None
        return psutil.Process(self._keeper.pid)


@asynccontextmanager
async def open_for_sale(plan: Plan) -> AsyncIterator[Stand]:
    """Everything, equipped, with nothing collected yet."""
    name = _folder()
    with _database(plan.database, Path(name)) as (url, server):
        await migrations.upgrade(url)
        async with process(*plan.world) as door:
            folder, port = Path(name), free_port()
            said: dict[str, Any] = {
                "home": str(folder / "home"),
                "database_url": url,
                "sandbox_url": door.url,
                "port": port,
            }
            notes = folder / "stages"
            async with (
                _running(plan, folder, notes, said) as ups,
                opened(load({}, folder, **said)) as app,
            ):
                shop = Shop(Yard(app, door), f"http://127.0.0.1:{port}")
                await door.account(webhook_url=f"{shop.url}/webhooks/{app.belt.market}/{NAME}")
                await shop.equip(POLICY)
                brands = [Brand(MALL, brand) for brand in (await door.world())["malls"][MALL]]
                yield Stand(shop, plan, brands, ups, server, notes)


def _folder() -> str:
    """A new one, which is there until all is measured: for minutes after thousands of files were deleted, ext4 takes
    several times as long for a new one."""
    name = tempfile.mkdtemp(prefix="bobusang-bench-")
    atexit.register(shutil.rmtree, name, ignore_errors=True)
    return name


@contextmanager
def _database(kind: str, folder: Path) -> Iterator[tuple[str, psutil.Process | None]]:
    """A fresh one, with the process that its server's hang under."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'bench.db'}", None
        return
    with Watched(fsync=True) as server, postgres.fresh(server.url) as url:
        yield url, server.process


@asynccontextmanager
async def _running(
    plan: Plan, folder: Path, notes: Path, given: Mapping[str, object]
) -> AsyncIterator[list[psutil.Popen]]:
    """`bobusang up`, and further workers beside it; each makes its notes, where that is wanted, when it is stopped."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **SETTINGS}
    environment |= {f"BOBUSANG_{name.upper()}": str(value) for name, value in given.items()}
    found: list[psutil.Popen] = []
    try:
        for number, command in enumerate(["up", *["worker"] * (plan.workers - 1)]):
            program = [str(Path(sys.executable).with_name("bobusang"))]
            if plan.meter:
                program = [sys.executable, "-m", plan.meter, str(notes / f"{number}.json")]
            argv = [*program, command, "--json", "--quiet"]
            found.append(psutil.Popen(argv, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True))
            async with asyncio.timeout(START_SECONDS):
                said = await asyncio.to_thread(found[-1].stdout.readline)
                if '"pid"' not in said:
                    raise RuntimeError(f"`bobusang {command}` did not start: {said or 'see above'}")
        with ExitStack() as quotas:
            for one in found if plan.share else ():
                quotas.enter_context(limited(one.pid, plan.share))
            yield found
    finally:
        for one in found:
            stop(one)


def stop(one: psutil.Popen) -> None:
    """Let a process finish what it does, and end."""
    if one.poll() is None:
        one.terminate()
    one.wait(STOP_SECONDS)


def cpu(process: psutil.Process) -> float:
    """CPU seconds of a process and of all below it, living and ended."""
    return sum(
        float(each.user + each.system + each.children_user + each.children_system)
        for each in (one.cpu_times() for one in (process, *process.children(recursive=True)))
    )


def _peak(process: psutil.Process) -> float:
    """Megabytes that a process has had at most, where the system tells; else what it has now."""
    status = Path(f"/proc/{process.pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    most = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), process.memory_info().rss)
    return most / 1e6
