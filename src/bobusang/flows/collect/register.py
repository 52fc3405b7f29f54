"""The handlers and the workflow of collecting, as the engine knows them."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.flows.collect.fetching import Fetching
from bobusang.flows.collect.steps import Steps

if TYPE_CHECKING:
    from bobusang.engine.handlers import Handlers
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector

WORKFLOW = "collect"
DEADLINE = timedelta(minutes=10)
AT_ONCE = 64
"""Pages a worker takes at a time, where the source allows so many in flight."""


def register(handlers: Handlers, collector: Collector) -> None:
    """Add the handlers."""
    fetching, steps = Fetching(collector), Steps(collector)
    handlers.add(Handler("collect.plan", steps.plan, batch=20, deadline=DEADLINE))
    handlers.add(Handler("collect.fetch", fetching.work, fetching.save, batch=AT_ONCE, concurrency=4))
    handlers.add(Handler("collect.close", steps.close, batch=20, deadline=DEADLINE))


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.collect").joinpath("collect.yaml").read_text("utf-8")


async def install(engine: Engine) -> int:
    """Store the workflow, a new version where it has changed; its id."""
    found = load(definition(), origin="collect.yaml")
    stored = await engine.db.transact(lambda tx: workflows.store(tx, engine.books, found))
    return stored.id
