"""What people are told of brands and batches that fail: one alert each, whichever batch it was, until all is well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bobusang.engine.outcome import DONE, Fail, Outcome
from bobusang.flows.conveyor.model import BatchStatus, Brand, Mode, Stage
from bobusang.stages.register import accounts
from tests.integration.flows.test_batches import GUCCI, NIKE, again, batch, failing, line, rows, run
from tests.unit.register.making import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.engine.model import Task
    from bobusang.kit.db import Tx
    from bobusang.testing.workshop import Workshop

__all__ = ["line"]


async def alerts(line: Workshop) -> dict[str, tuple[str, int]]:
    """By key, of which batch an open alert tells and how often it was seen."""
    rows = await line.rows("select alert_key, fields, count from alerts where resolved_at is null order by id")
    return {row["alert_key"]: (row["fields"], row["count"]) for row in rows}


def said(batch_id: str) -> str:
    return f'{{"batch":"{batch_id}"}}'


async def ran(line: Workshop, mode: Mode, mood: Callable[[Task], Outcome] | None = None, *brands: Brand) -> str:
    started = await run(line, mode, *(brands or (NIKE, GUCCI)), tolerance=0.05)
    await line.enter()
    await line.drain(mood or (lambda _: DONE))
    return started.batch_id


async def test_a_brand_that_fails_every_hour_is_one_alert_and_over_when_it_runs_well(line: Workshop) -> None:
    mood = failing(GUCCI, "item", Fail("no page"))
    await ran(line, Mode.PARTIAL, mood)
    second = await ran(line, Mode.PARTIAL, mood)

    assert await alerts(line) == {
        f"conveyor.stage:COLLECT:okmall:{GUCCI.name}": (said(second), 2),
        "conveyor.batch:PARTIAL": (said(second), 2),
    }
    await ran(line, Mode.PARTIAL)
    assert await alerts(line) == {}


async def test_what_ran_well_without_pictures_says_nothing_of_pictures(line: Workshop) -> None:
    full = await ran(line, Mode.FULL, failing(GUCCI, "image", Fail("no picture")))
    told = {
        f"conveyor.stage:IMAGE:okmall:{GUCCI.name}": (said(full), 1),
        "conveyor.batch:FULL": (said(full), 1),
    }
    assert await alerts(line) == told

    await ran(line, Mode.PARTIAL)
    assert await alerts(line) == told
    await again(line, full)
    await line.drain()
    assert await alerts(line) == {}


async def test_a_stage_that_runs_well_is_over_while_another_fails(line: Workshop) -> None:
    await ran(line, Mode.FULL, failing(GUCCI, "item", Fail("no page")), GUCCI)
    second = await ran(line, Mode.FULL, failing(GUCCI, "image", Fail("no picture")), GUCCI)

    assert await alerts(line) == {
        f"conveyor.stage:IMAGE:okmall:{GUCCI.name}": (said(second), 1),
        "conveyor.batch:FULL": (said(second), 2),
    }


async def test_a_batch_over_accounts_that_are_all_off_is_not_well_and_says_why(line: Workshop) -> None:
    async def shut(tx: Tx) -> None:
        for name in ("main", "second"):
            account = await accounts.add(tx, replace(ACCOUNT, name=name))
            await accounts.switch(tx, account, enabled=False, why="BUYMA answered 401")

    await line.do(shut)
    first = await ran(line, Mode.PARTIAL, None, NIKE)

    why = "buyma/main is switched off: BUYMA answered 401; buyma/second is switched off: BUYMA answered 401"
    assert await rows(line, first, NIKE) == {
        Stage.COLLECT: ("DONE", 1, None),
        Stage.PRICE: ("ERROR", 1, why),
        Stage.REGISTER: ("ERROR", 1, why),
    }
    assert (await batch(line, first))[0] is BatchStatus.FAILED
    assert await alerts(line) == {"conveyor.batch:PARTIAL": (said(first), 1)}

    second = await line.do(lambda tx: accounts.named(tx, "buyma", "second"))
    await line.do(lambda tx: accounts.switch(tx, second, enabled=True, why=""))
    later = await ran(line, Mode.PARTIAL, None, NIKE)
    partly = "buyma/main is switched off: BUYMA answered 401 (the other accounts were served)"
    assert (await rows(line, later, NIKE))[Stage.REGISTER] == ("DONE", 1, partly)
    assert ((await batch(line, later))[0], await alerts(line)) == (BatchStatus.COMPLETED, {})
