"""The handlers and the workflow of imports, as the engine knows them."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.flows.sheets.importing import Importing, on_job

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector

DEADLINE = timedelta(minutes=10)


def register(engine: Engine, collector: Collector) -> None:
    """Add the handlers, and what happens when a job ends."""
    importing = Importing(collector)
    engine.handlers.add(Handler("sheet.plan", importing.plan, batch=1, concurrency=1, deadline=DEADLINE))
    engine.handlers.add(Handler("sheet.rows", importing.rows, importing.save, batch=2, concurrency=2))
    engine.handlers.add(Handler("sheet.close", importing.close, batch=5, concurrency=1, deadline=DEADLINE))
    engine.hooks.on_job.append(on_job)


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.sheets").joinpath("sheets.yaml").read_text("utf-8")


async def install(engine: Engine) -> int:
    """Store the workflow, a new version where it has changed; its id."""
    found = load(definition(), origin="sheets.yaml")
    return (await engine.db.transact(lambda tx: workflows.store(tx, engine.books, found))).id
