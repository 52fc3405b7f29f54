"""Start: pending jobs begin when their time, limits and dependencies allow."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import jobs
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def start(engine: Engine) -> Duty:
    """At once when a job ends or is made, and every second for those whose time comes."""
    return Duty("start", timedelta(seconds=1), lambda: engine.do(jobs.start_pending), frozenset({"jobs"}))
