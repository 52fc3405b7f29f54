"""The conveyor's words: stages, their statuses, batches."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


class Mode(StrEnum):
    """Everything, or price and stock of what is already there."""

    FULL = "FULL"
    PARTIAL = "PARTIAL"


class Stage(StrEnum):
    """The five stages, in their order."""

    COLLECT = "COLLECT"
    CONVERT = "CONVERT"
    IMAGE = "IMAGE"
    PRICE = "PRICE"
    REGISTER = "REGISTER"


STAGES = {
    Mode.FULL: tuple(Stage),
    Mode.PARTIAL: (Stage.COLLECT, Stage.PRICE, Stage.REGISTER),
}
"""PARTIAL touches only what is there: it has no CONVERT and no IMAGE, and no rows for them."""


class BatchStatus(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class StageStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand of a mall: what one job of a batch is for."""

    mall: str
    name: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One run of the conveyor."""

    batch_id: str
    mode: Mode
    status: BatchStatus
    start_time: datetime
    end_time: datetime | None
    total_brands: int
    success_brands: int
