"""Fire: schedules whose time has come make jobs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import firing
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def fire(engine: Engine) -> Duty:
    """Every half second: cron knows minutes, so nobody notices."""
    return Duty("fire", timedelta(seconds=0.5), lambda: engine.do(firing.fire))
