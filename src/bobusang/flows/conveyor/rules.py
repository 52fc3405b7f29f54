"""The conveyor's decisions, pure: a batch's name, what a stage's steps come to, how a batch ends."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bobusang.engine.model import StepState
from bobusang.flows.conveyor.model import BatchStatus, Stage, StageStatus
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from bobusang.engine.rules import Count

SEOUL = ZoneInfo("Asia/Seoul")

STAGE_OF = {
    "plan": Stage.COLLECT,
    "list": Stage.COLLECT,
    "item": Stage.COLLECT,
    "part": Stage.COLLECT,
    "sift": Stage.COLLECT,
    "convert": Stage.CONVERT,
    "image": Stage.IMAGE,
    "price": Stage.PRICE,
    "register": Stage.REGISTER,
    "close": Stage.REGISTER,
}
"""The steps of the workflow, by the stage they belong to."""
COUNTED = {
    Stage.COLLECT: "item",
    Stage.CONVERT: "convert",
    Stage.IMAGE: "image",
    Stage.PRICE: "price",
    Stage.REGISTER: "register",
}
"""The step whose tasks are a stage's items."""


def batch_prefix(now: datetime) -> str:
    """How the names of a day's batches begin: the day is Seoul's."""
    return f"{now.astimezone(SEOUL):%Y%m%d}_"


def next_batch_id(now: datetime, known: Iterable[str]) -> str:
    """The name of the next batch: the highest number of the day and one, with two digits or as many as it needs."""
    prefix = batch_prefix(now)
    return f"{prefix}{max((number_of(name) for name in known if name.startswith(prefix)), default=0) + 1:02}"


def number_of(batch_id: str) -> int:
    """A batch's number within its day."""
    day, _, number = batch_id.partition("_")
    if len(day) != 8 or not day.isdigit() or not number.isdigit():
        raise Invalid(f"'{batch_id}' is no batch", hint="as 20260127_01", field="batch_id")
    return int(number)


def status_of(states: Sequence[tuple[StepState, Count]]) -> StageStatus:
    """Where a stage stands, by its steps. A stage with failures is in ERROR once all of it is over: until then it
    still moves."""
    if all(state is StepState.DONE for state, _ in states):
        return StageStatus.ERROR if any(count.failed for _, count in states) else StageStatus.DONE
    begun = any(state is not StepState.PENDING or count.created for state, count in states)
    return StageStatus.RUNNING if begun else StageStatus.PENDING


def outcome_of(brands: Mapping[tuple[Stage, StageStatus], int]) -> tuple[BatchStatus, int]:
    """How a batch stands, by how many of its brands are where in each stage, and how many came through: well only if
    the last stage of every brand is done, REGISTER unless fewer were asked for."""
    last = max((stage for stage, _ in brands), key=list(Stage).index, default=Stage.REGISTER)
    good, all_of_them = brands.get((last, StageStatus.DONE), 0), sum(n for (at, _), n in brands.items() if at is last)
    if any(status in (StageStatus.PENDING, StageStatus.RUNNING) for (_, status), count in brands.items() if count):
        return BatchStatus.RUNNING, good
    return BatchStatus.COMPLETED if good == all_of_them else BatchStatus.FAILED, good
