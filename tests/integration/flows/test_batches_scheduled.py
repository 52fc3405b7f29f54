"""The shipped schedules start batches: at three o'clock FULL wins, and nothing to do is no failure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import brands
from bobusang.catalog.brands import Proposal
from bobusang.catalog.model import Review
from bobusang.engine import schedules
from bobusang.engine.model import StepMode
from bobusang.flows.conveyor import choosing, control, scheduling, starting, telling
from bobusang.flows.conveyor.model import Brand, Mode, Stage
from bobusang.flows.conveyor.scheduling import Starting
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Missing
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import open_alerts, raise_alert
from bobusang.settings import load
from bobusang.stages.collect import decisions
from bobusang.stages.register import accounts
from bobusang.stages.register.model import Account
from bobusang.testing.clock import ManualClock
from bobusang.testing.workshop import Workshop, step
from bobusang.wiring.collecting import collector

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx

EVENING = datetime(2026, 1, 26, 17, 30, tzinfo=UTC)
"""Half past two in the night of the 27th in Seoul."""
NIKE, GUCCI = Brand("okmall", "나이키(NIKE)"), Brand("okmall", "구찌(GUCCI)")
STEPS = (
    *(step(name, handler="work") for name in ("plan", "list", "item", "convert", "image", "price")),
    step("register", handler="work", mode=StepMode.BARRIER),
    step("close", handler="work", gather=True),
)
ON_SHELF = Statement("""
    insert into products (id, mall, product_id, brand, brand_ko, name, url, listed, version, created_at, updated_at)
    values (1, 'okmall', '1', 'Nike', '나이키', 'x', 'https://x', true, 1, :now, :now),
      (2, 'okmall', '2', 'GUCCI', null, 'x', 'https://x', true, 1, :now, :now)""")
LISTED = Statement("""
    insert into listings (id, account_id, product_id, sku, state, created_at, updated_at)
    select p.id, a.id, p.id, 'okmall', case when p.id = 1 then 'LIVE' else 'SUSPENDED' end, p.created_at, p.updated_at
    from market_accounts a join products p on p.mall = 'okmall'""")
SUSPENDED = Statement("update listings set state = 'SUSPENDED'")


class Night:
    """An engine with the shipped schedules, the shelf of the shipped malls, and a clock to turn."""

    def __init__(self, line: Workshop, shelf: Collector) -> None:
        self.line = line
        self.shelf = shelf
        self.starting = Starting(line.engine, shelf)
        assert isinstance(line.db.clock, ManualClock)
        self.clock = line.db.clock

    async def accept(self, *wanted: Brand) -> None:
        async def work(tx: Tx) -> None:
            await decisions.decide(tx, "okmall", enabled=True, why="an agreement", by="me")
            await brands.propose(tx, "okmall", [Proposal(one.name) for one in wanted])
            known = await brands.listed(tx, "okmall")
            await brands.review(tx, [one.id for one in known if Brand("okmall", one.key) in wanted], Review.ACCEPTED)

        await self.line.do(work)

    async def sell(self) -> None:
        account = Account(
            0, "buyma", "main", "2001001", "2001001", (1,), token_ref="env:TOKEN", secret_ref="env:SECRET"
        )
        await self.line.do(lambda tx: accounts.add(tx, account))

    async def strike(self, **passed: float) -> None:
        """Let time pass, fire what is due, and work off what came of it."""
        self.clock.advance(**passed)
        await self.line.fire()
        await self.line.start()
        await self.work()

    async def work(self) -> None:
        await self.line.promote()
        while (batch := await self.line.claim(handler=scheduling.HANDLER)) is not None:
            found = await self.starting.work(batch.tasks)
            outcomes = {task.id: outcome for task, outcome in zip(batch.tasks, found, strict=True)}
            await self.line.finish(batch, lambda task, known=outcomes: known[task.id])  # type: ignore[misc]
            await self.line.fold()

    async def batches(self) -> list[tuple[str, str, list[str]]]:
        """Each batch with its mode and the brands that it began with."""
        rows = await self.line.rows(
            """select batch_id, run_mode, brand_name from pipeline_control where stage = 'COLLECT' order by id"""
        )
        found: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            found.setdefault((row["batch_id"], row["run_mode"]), []).append(row["brand_name"])
        return [(*names, sorted(known)) for names, known in found.items()]

    async def said(self) -> list[tuple[str, Any]]:
        """What became of the tasks that start batches."""
        rows = await self.line.rows(
            """select t.status, t.error_message from tasks t join workflow_steps s on s.id = t.step_id
                where s.step_name = 'start' order by t.id"""
        )
        return [(row["status"], row["error_message"]) for row in rows]


@pytest.fixture
async def night(database_url: str, tmp_path: Path) -> AsyncIterator[Night]:
    async with Workshop.opened(database_url, clock=ManualClock(EVENING)) as shop:
        shop.engine.hooks.on_step.append(control.on_step)
        shop.engine.hooks.on_job.append(control.on_job)
        await shop.workflow(*STEPS, workflow=control.WORKFLOW, tolerance=1.0)
        await scheduling.install(shop.engine)
        await shop.enter()
        shelf = collector(load({}, home=str(tmp_path), sandbox_url="http://127.0.0.1:1"), shop.db)
        yield Night(shop, shelf)
        await shelf.close()


async def test_the_schedules_are_shipped_once_and_stay_as_a_person_leaves_them(night: Night) -> None:
    found = await night.line.rows(
        """select id, name, cron_expression, timezone, next_run_at from crawling_schedules order by id"""
    )
    assert [(row["name"], row["cron_expression"], row["timezone"], utc(row["next_run_at"])) for row in found] == [
        ("conveyor full", "0 3 * * *", "Asia/Seoul", EVENING + timedelta(minutes=30)),
        ("conveyor partial", "0 * * * *", "Asia/Seoul", EVENING + timedelta(minutes=30)),
    ]
    await night.line.do(lambda tx: schedules.delete(tx, found[0]["id"]))
    await night.line.do(lambda tx: schedules.pause(tx, found[1]["id"]))

    await scheduling.install(night.line.engine)

    kept = await night.line.rows("select is_active, deleted_at from crawling_schedules order by id")
    assert [(bool(row["is_active"]), row["deleted_at"] is None) for row in kept] == [(False, False), (False, True)]


async def test_at_three_full_takes_the_brands_and_partial_has_the_next_hour(night: Night) -> None:
    await night.accept(NIKE, GUCCI)
    await night.sell()

    await night.strike(minutes=30)
    both = sorted([NIKE.name, GUCCI.name])
    assert await night.batches() == [("20260127_01", "FULL", both)]
    await night.strike(seconds=3)
    assert await night.batches() == [("20260127_01", "FULL", both)]
    assert await night.said() == [
        ("SUCCESS", None),
        (
            "SUCCESS",
            "all 2 brands are in batches that are running (`bobusang run list` shows them; wait, or cancel one)",
        ),
    ]

    await night.line.drain()
    await night.strike(hours=1)
    assert await night.batches() == [("20260127_01", "FULL", both), ("20260127_02", "PARTIAL", both)]
    stages = await night.line.rows("select distinct stage from pipeline_control where batch_id = '20260127_02'")
    assert sorted(row["stage"] for row in stages) == ["COLLECT", "PRICE", "REGISTER"]


async def test_partial_waits_while_full_is_about_to_start_in_another_process(night: Night) -> None:
    await night.accept(NIKE)
    await night.sell()
    night.clock.advance(minutes=30)
    await night.line.fire()
    await night.line.start()
    full = await night.line.claimed(1, handler=scheduling.HANDLER)
    assert full.tasks[0].input == {"mode": "FULL"}

    await night.work()
    assert await night.batches() == []
    (done,) = await night.starting.work(full.tasks)
    await night.line.finish(full, done)
    night.clock.advance(seconds=3)
    await night.work()

    assert await night.batches() == [("20260127_01", "FULL", [NIKE.name])]


async def test_full_comes_back_for_a_brand_that_a_partial_still_had(night: Night) -> None:
    await night.accept(NIKE)
    await night.sell()
    workflow = int(
        await night.line.value("select id as value from crawling_workflows where workflow_name = 'conveyor'")
    )
    await night.line.do(lambda tx: starting.start(tx, night.line.engine, workflow, Mode.PARTIAL, [NIKE]))
    await night.accept(NIKE, GUCCI)

    await night.strike(minutes=30)
    assert (await night.batches())[1:] == [("20260127_02", "FULL", [GUCCI.name])]
    await night.strike(seconds=3)
    await night.line.drain()
    await night.strike(minutes=5)

    assert (await night.batches())[2:] == [("20260127_03", "FULL", [NIKE.name])]


async def test_without_an_account_or_an_accepted_brand_nothing_starts_and_nothing_fails(night: Night) -> None:
    await night.strike(minutes=30)
    await night.strike(seconds=3)
    await night.sell()
    await night.strike(hours=1)
    await night.line.do(lambda tx: decisions.decide(tx, "okmall", enabled=True, why="an agreement", by="me"))
    await night.strike(hours=1)

    assert await night.batches() == []
    account = "there is no account to sell with: `bobusang account add` opens one"
    found = await night.said()
    assert {status for status, _ in found} == {"SUCCESS"}
    words = [text for _, text in found]
    assert words[:2] == [account, account]
    assert "no mall is enabled" in words[2]
    assert "no brand of a mall that is enabled is accepted" in words[3]


async def test_a_brand_is_named_by_its_key_or_its_name_and_must_be_accepted(night: Night) -> None:
    await night.accept(NIKE)
    await night.line.do(lambda tx: brands.propose(tx, "okmall", [Proposal("구찌(GUCCI)", "구찌", "GUCCI")]))

    async def chosen(*names: str, malls: tuple[str, ...] = ()) -> list[Brand]:
        return await night.line.do(lambda tx: choosing.chosen(tx, night.shelf, malls, names))

    assert await chosen() == await chosen(NIKE.name) == await chosen(malls=("okmall",)) == [NIKE]
    with pytest.raises(Conflict, match=r"brand '구찌\(GUCCI\)' of okmall is proposed, not accepted"):
        await chosen("gucci")
    with pytest.raises(Missing, match=r"there is no brand '나이키\(NIKEE\)'") as missing:
        await chosen("나이키(NIKEE)")
    assert missing.value.hint == "did you mean 나이키(NIKE)?"
    with pytest.raises(Conflict, match="mustit is off"):
        await chosen(malls=("okmall", "mustit"))


async def test_partial_runs_what_is_not_accepted_any_more_and_still_on_sale(night: Night) -> None:
    await night.accept(NIKE, GUCCI)
    await night.sell()
    known = await night.line.do(lambda tx: brands.listed(tx, "okmall"))
    numbers = [one.id for one in known]
    names = [Proposal(NIKE.name, "나이키", "NIKE"), Proposal(GUCCI.name, "구찌", "GUCCI")]
    await night.line.do(lambda tx: brands.propose(tx, "okmall", names))
    await night.line.do(lambda tx: brands.review(tx, numbers, Review.BLOCKED))
    await night.line.do(lambda tx: tx.execute(ON_SHELF, now=EVENING))
    await night.line.do(lambda tx: tx.execute(LISTED))

    async def chosen(mode: Mode, *named: str) -> list[Brand]:
        return await night.line.do(lambda tx: choosing.chosen(tx, night.shelf, ("okmall",), named, mode=mode))

    assert await chosen(Mode.PARTIAL) == await chosen(Mode.PARTIAL, "NIKE") == [NIKE]
    with pytest.raises(Conflict, match=r"GUCCI.* is blocked, not accepted"):
        await chosen(Mode.PARTIAL, "GUCCI")
    with pytest.raises(Conflict, match=r"NIKE.* is blocked, not accepted"):
        await chosen(Mode.FULL, "NIKE")
    await night.line.do(lambda tx: tx.execute(SUSPENDED))
    with pytest.raises(Conflict, match="no brand of okmall is accepted"):
        await chosen(Mode.PARTIAL)


async def test_alerts_of_a_brand_that_nobody_runs_any_more_are_over(night: Night) -> None:
    await night.accept(NIKE, GUCCI)
    told = [telling.stage_failed(Stage.COLLECT, one, "20260127_01", "no page") for one in (NIKE, GUCCI)]
    other = telling.batch_failed(Mode.FULL, "20260127_01", "no page")
    await night.line.do(lambda tx: raise_alert(tx, *told, other))
    duty = telling.settle(night.line.db, night.shelf)

    async def lasting() -> set[str]:
        return {one.key for one in await night.line.do(open_alerts)}

    await duty.run()
    assert await lasting() == {*(one.key for one in told), other.key}
    known = await night.line.do(lambda tx: brands.listed(tx, "okmall"))
    gucci = [one.id for one in known if one.key == GUCCI.name]
    await night.line.do(lambda tx: brands.review(tx, gucci, Review.BLOCKED))
    await duty.run()
    assert await lasting() == {told[0].key, other.key}
    await night.line.do(lambda tx: decisions.decide(tx, "okmall", enabled=False, why="no more", by="me"))
    await duty.run()
    assert await lasting() == {other.key}
