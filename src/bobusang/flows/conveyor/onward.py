"""How products move on: which stages a job has, and the tasks that carry a product from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog.rules import digest
from bobusang.engine.making import KEY_LIMIT
from bobusang.engine.model import NewTask
from bobusang.engine.queue import MOST_URGENT
from bobusang.flows.collect.run import mode_of
from bobusang.flows.conveyor.model import STAGES, Mode, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Run

STEPS = {Stage.CONVERT: "convert", Stage.IMAGE: "image", Stage.PRICE: "price", Stage.REGISTER: "register"}
URGENT = MOST_URGENT
"""The priority of what has sold out: it overtakes what was ready up to 25 seconds earlier, and waits for no company."""


def stages_of(run: Run) -> tuple[Stage, ...]:
    """The stages that a job goes through: those of its mode, or the ones among them that were asked for."""
    asked = run.input.get("stages")
    every = STAGES[Mode(mode_of(run).value)]
    return tuple(stage for stage in every if stage in asked) if asked else every


def follows(run: Run, stage: Stage) -> bool:
    """Whether a job has a stage."""
    return stage in stages_of(run)


def carried(
    run: Run, stage: Stage, key: str, version: int, *, urgent: bool = False, again: Sequence[int] = (), **more: Any
) -> tuple[NewTask, ...]:
    """The task that takes a version of a product to a stage; none where the job does not go so far. `again` are the
    tasks of the product that went back to a stage it had been through: each makes a way of its own from there."""
    if not follows(run, stage):
        return ()
    told = {"key": key, "version": version, **more} | ({"again": list(again)} if again else {})
    name = _name(f"{key}:{version}" + (f"~{again[-1]}" if again else ""))
    return (NewTask(told, key=name, step=STEPS[stage], priority=URGENT if urgent else 0, raw=True),)


def sifted(keys: Sequence[str], page: str) -> tuple[NewTask, ...]:
    """The task that asks what the products of a page need; a page is sifted once."""
    return (NewTask({"keys": list(keys)}, key=_name(page), step="sift", raw=True),) if keys else ()


def _name(text: str) -> str:
    return text if len(text) <= KEY_LIMIT else f"{text[:100]}#{digest(text)}"
