"""Sweep: entries of paused and ended jobs leave the queue."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import control
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def sweep(engine: Engine) -> Duty:
    """At once when asked, and every second for stragglers."""
    return Duty("sweep", timedelta(seconds=1), lambda: engine.db.transact(control.sweep), frozenset({"sweep"}))
