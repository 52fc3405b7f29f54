"""The handlers and the workflow of the conveyor, as the engine knows them."""

from __future__ import annotations

from datetime import timedelta
from importlib.resources import files
from typing import TYPE_CHECKING

from bobusang.engine import workflows
from bobusang.engine.grammar.definition import load
from bobusang.engine.handlers import Handler
from bobusang.flows.conveyor import control
from bobusang.flows.conveyor.converting import Converting
from bobusang.flows.conveyor.fetching import Belted
from bobusang.flows.conveyor.picturing import Picturing
from bobusang.flows.conveyor.pricing import Pricer
from bobusang.flows.conveyor.registering import Registering
from bobusang.flows.conveyor.sifting import Sifting

if TYPE_CHECKING:
    from bobusang.engine.handlers import Handlers
    from bobusang.engine.service import Engine
    from bobusang.flows.conveyor.belt import Belt

WORKFLOW = control.WORKFLOW
DEADLINE = timedelta(minutes=10)
LISTS = 4
"""List pages at a time. Each tells of a hundred products: thirty pages together kept the loop for 24 ms in one step,
and SQLite's only writer far longer, and a webhook is answered by the same two."""
PAGES = 16
"""Pages a slot takes at a time. With more, the first slot takes all that a mall allows in flight and the others get
what it leaves over: batches of one or two, each of which costs its forty statements."""
LINGER = timedelta(seconds=0.05)
"""Products come from the stage before one by one; a batch of ten costs hardly more than one of three."""
BUSY_LINGER = timedelta(seconds=1)
"""As long as pages are fetched and other stages are at work more products are on their way; what has sold out does not
wait for them."""


def register(handlers: Handlers, belt: Belt) -> None:
    """Add the handlers. Pages and products come in batches, because each batch is a few statements for all of it."""
    sifting, fetching, converting = Sifting(belt), Belted(belt.collector), Converting(belt)
    picturing, pricing, registering = Picturing(belt), Pricer(belt), Registering(belt)
    handlers.add(Handler("conveyor.plan", sifting.plan, batch=20, deadline=DEADLINE))
    handlers.add(Handler("conveyor.list", fetching.work, fetching.save, batch=LISTS))
    handlers.add(Handler("conveyor.fetch", fetching.work, fetching.save, batch=PAGES, concurrency=4))
    handlers.add(Handler("conveyor.sift", sifting.sift, batch=50, linger=LINGER, busy_linger=BUSY_LINGER))
    stages = {
        "convert": (converting.work, converting.save, 50),
        "image": (picturing.work, None, 32),
        "price": (pricing.work, pricing.save, 50),
        "register": (registering.work, registering.save, 50),
    }
    for name, (work, save, batch) in stages.items():
        handlers.add(
            Handler(f"conveyor.{name}", work, save, batch, deadline=DEADLINE, linger=LINGER, busy_linger=BUSY_LINGER)
        )


def definition() -> str:
    """The workflow as it is written."""
    return files("bobusang.flows.conveyor").joinpath("conveyor.yaml").read_text("utf-8")


async def install(engine: Engine) -> int:
    """Store the workflow, a new version where it has changed; its id."""
    found = load(definition(), origin="conveyor.yaml")
    stored = await engine.db.transact(lambda tx: workflows.store(tx, engine.books, found))
    return stored.id
