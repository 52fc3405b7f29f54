"""Fold: appended counters go into jobs and steps, and what is over ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import ending, progress
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def fold(engine: Engine) -> Duty:
    """Every process that works folds; it rings for itself."""
    return Duty(
        "fold",
        timedelta(seconds=1),
        lambda: engine.do(progress.fold),
        frozenset({"deltas"}),
        timedelta(seconds=0.1),
        False,
    )


def contexts(engine: Engine) -> Duty:
    """Checkpoints are merged at most once a second."""
    return Duty("contexts", timedelta(seconds=1), lambda: engine.db.transact(ending.fold_contexts))
