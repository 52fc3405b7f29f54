"""What the belt did minute by minute, on each database: counted once, whatever is measured again meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import Park
from bobusang.flows.conveyor.measuring import measured
from bobusang.flows.conveyor.model import Mode
from bobusang.views import history
from bobusang.views.history import Series
from tests.integration.flows.test_batches import GUCCI, NIGHT, NIKE, again, failing, line, run

if TYPE_CHECKING:
    from bobusang.testing.workshop import Workshop

__all__ = ["line"]

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
STAGES = ("COLLECT", "CONVERT", "IMAGE", "PRICE", "REGISTER")


async def series(line: Workshop, name: str = history.THROUGHPUT) -> Series:
    return await line.do(lambda tx: history.series(tx, LONG_AGO, name))


async def passed(line: Workshop, **span: float) -> None:
    line.engine.db.clock.advance(**span)  # type: ignore[attr-defined]
    await line.do(measured)


def minutes(*which: int) -> list[int]:
    return [int((NIGHT + timedelta(minutes=one)).timestamp()) for one in which]


async def test_each_minute_has_what_came_in_it_and_after_two_weeks_nothing(line: Workshop) -> None:
    await line.do(measured)
    started = await run(line, Mode.FULL, NIKE, GUCCI)
    await line.enter()
    await line.drain(failing(GUCCI, "register", Park(ReasonClass.INVALID, "not today")))
    await passed(line, seconds=60)
    await passed(line, seconds=10)
    await line.do(measured)
    await passed(line, minutes=1)
    once = [1.0, 0.0]
    assert await series(line) == Series(minutes(0, 1), {stage: [2.0, 0.0] for stage in STAGES} | {"REGISTER": once})
    assert await series(line, "failures") == Series(minutes(0, 1), {"INVALID": once})

    await again(line, started.batch_id)
    await line.drain()
    await passed(line, minutes=3)

    assert await series(line) == Series(
        minutes(*range(6)),
        {stage: [2.0, *[0.0] * 5] for stage in STAGES} | {"REGISTER": [1.0, 0.0, 0.0, *[1 / 3] * 3]},
    )
    assert await line.do(lambda tx: history.totals(tx, LONG_AGO, "jobs")) == {"SUCCESS": 3}

    await passed(line, days=15)

    assert await series(line) == Series([], {})
    assert await line.value("select count(*) as value from engine_history") == 1
