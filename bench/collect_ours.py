"""List pages collected by the whole product: plan, gate, fetch, archive, read, compare, guard, write, prove."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import yaml

import bobusang.kit.transport  # noqa: F401 - before the clock runs, as the others import theirs
from bench.peers.crawl import Meter, arguments, report
from bobusang import __version__
from bobusang.connectors.sources.declared.extending import FILE, SHIPPED
from bobusang.engine import workflows
from bobusang.engine.jobs import NewJob
from bobusang.engine.model import JobStatus
from bobusang.flows.collect.register import WORKFLOW
from bobusang.kit import log
from bobusang.kit.sql import Statement
from bobusang.settings import Settings
from bobusang.wiring import opened
from bobusang.wiring.collecting import SANDBOX_LIMITS

if TYPE_CHECKING:
    import argparse

    from bobusang.engine.hooks import JobMoved
    from bobusang.kit.db import Tx
    from bobusang.wiring import App

SOURCE = "okmall"
SAME = ("name", "brand", "price", "list_price", "thumbnail")
URL = "a[href]@href | abs_url"
COUNT = Statement("select count(*) as value from products")


def lists_alone(folder: Path) -> Path:
    """A folder of shops with OKmall's lists and nothing else, read for the fields that the crawlers beside us read."""
    shop = yaml.safe_load((SHIPPED / SOURCE / FILE).read_text("utf-8"))
    listed = shop["streams"]["list"]
    listed["fields"] = {name: spec for name, spec in listed["fields"].items() if name in SAME} | {"url": URL}
    shop["streams"] = {"list": listed}
    read = {name.rstrip("?") for name in listed["fields"]}
    shop["groups"] = {group: [name for name in names if name in read] for group, names in shop["groups"].items()}
    shop["contract"] = {name: term for name, term in shop["contract"].items() if name in read}
    (folder / SOURCE).mkdir(parents=True, exist_ok=True)
    (folder / SOURCE / FILE).write_text(yaml.safe_dump(shop, allow_unicode=True), "utf-8")
    return folder


async def collect(given: argparse.Namespace, meter: Meter) -> int:
    """One job for the brand, by one worker and its upkeep in this process; how many products there are then."""
    parts = urlsplit(given.list)
    home = Path(given.database).parent / "home"
    settings = Settings(
        home=str(home),
        database_url=f"sqlite:///{given.database}",
        sandbox_url=f"{parts.scheme}://{parts.netloc}",
        shops=str(lists_alone(home / "shops")),
        log_level="ERROR",
    )
    log.configure(settings.log_level, settings.log_format)
    async with opened(settings) as app:
        await _run(app, parse_qs(parts.query)["brand"][0], meter)
        async with app.engine.db.read() as tx:
            return int(await tx.value(COUNT))


async def _run(app: App, brand: str, meter: Meter) -> None:
    ended: asyncio.Queue[JobStatus] = asyncio.Queue()

    async def hear(tx: Tx, moved: JobMoved) -> None:
        if moved.status.ended:
            tx.after_commit(lambda: ended.put_nowait(moved.status))

    app.engine.hooks.on_job.append(hear)
    async with app.engine.db.read() as tx:
        workflow = await workflows.find(tx, WORKFLOW)
    worker, keeper = app.worker("bench"), app.keeper()
    meter.start()
    await app.engine.submit(NewJob(workflow["id"], input={"source": SOURCE, "kind": "brand", "key": brand}))
    running = [asyncio.create_task(worker.run()), asyncio.create_task(keeper.run())]
    status = await ended.get()
    meter.stop()
    worker.stop()
    keeper.stop()
    await asyncio.gather(*running)
    if status is not JobStatus.SUCCESS:
        raise RuntimeError(f"the job ended as {status}: see crawling_tasks")


def main() -> None:
    given = arguments("Bobusang").parse_args()
    meter = Meter()
    items = asyncio.run(collect(given, meter))
    report("Bobusang", __version__, items, meter, {"concurrency": SANDBOX_LIMITS.concurrency})


if __name__ == "__main__":
    main()
