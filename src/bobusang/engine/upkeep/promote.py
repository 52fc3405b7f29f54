"""Promote: what was delayed, or waited in vain, becomes runnable."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import promoting
from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def promote(engine: Engine) -> Duty:
    """Four times a second: a retry may be that late, no more."""
    return Duty("promote", timedelta(seconds=0.25), lambda: engine.db.transact(promoting.promote))
