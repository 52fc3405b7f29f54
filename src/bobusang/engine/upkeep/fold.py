"""Fold: appended counters go into jobs and steps, and what is over ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import ending, progress
from bobusang.engine.upkeep.duty import Duty
from bobusang.kit import log
from bobusang.kit.db import Contended
from bobusang.kit.errors import Unavailable

if TYPE_CHECKING:
    from bobusang.engine.service import Engine

PAUSE = timedelta(seconds=0.25)
"""Each batch rings for it, and a pass costs some statements for each job that moved, however little it did."""


def fold(engine: Engine) -> Duty:
    """Every process that works folds; it rings for itself."""

    async def run() -> int:
        try:
            return await engine.do(progress.fold)
        except (Contended, Unavailable):
            raise
        except Exception:  # a hook, most likely, and for one of many jobs
            return await _one_by_one(engine)

    return Duty("fold", timedelta(seconds=1), run, frozenset({"deltas"}), PAUSE, leader=False)


async def _one_by_one(engine: Engine) -> int:
    """Each job by itself: one that cannot be folded must not keep the others from ending."""
    async with engine.db.read() as tx:
        ids = await progress.moved(tx)
    count = 0
    for job_id in ids:
        try:
            count += await engine.do(progress.fold, job_id)
        except Exception as error:
            log.get("progress").error("a job cannot be folded", job=job_id, error=repr(error))
    return count


def contexts(engine: Engine) -> Duty:
    """Checkpoints are merged at most once a second."""
    return Duty("contexts", timedelta(seconds=1), lambda: engine.db.transact(ending.fold_contexts))
