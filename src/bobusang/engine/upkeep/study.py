"""Study: the database gets to know tables that have grown, before its own rounds come to them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty

if TYPE_CHECKING:
    from bobusang.engine.service import Engine


def study(engine: Engine) -> Duty:
    """Every two seconds; PostgreSQL's own rounds are a minute apart, and until then it plans for empty tables."""

    async def run() -> int:
        await engine.db.study()
        return 0

    return Duty("study", timedelta(seconds=2), run)
