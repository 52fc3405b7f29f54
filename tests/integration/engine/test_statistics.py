"""What the engine measures of itself, and what calls a person."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import budgets, schedules, statistics
from bobusang.engine.alarms import Thresholds
from bobusang.engine.budgets import FOREVER
from bobusang.engine.model import QueueType, ReasonClass
from bobusang.engine.outcome import Fail, Halt, Park, Retry, Wait
from bobusang.engine.schedules import ScheduleSpec
from bobusang.engine.upkeep.alerts import alerts
from bobusang.engine.upkeep.statistics import statistics as measuring
from bobusang.platform.alerting import Alerting
from bobusang.platform.notifier import Level, Notice
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from bobusang.engine.statistics import Figures
    from bobusang.testing.clock import ManualClock


class Ears:
    """A notifier that remembers."""

    name = "ears"

    def __init__(self) -> None:
        self.heard: list[tuple[Level, str]] = []

    async def send(self, notice: Notice) -> None:
        self.heard.append((notice.level, notice.key))


async def measured(shop: Workshop) -> Figures:
    await measuring(shop.engine).run()
    async with shop.db.read() as tx:
        return await statistics.stored(tx)


async def test_depth_and_oldest_wait_are_measured_by_queue(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    await shop.job(workflow, *range(3), priority=1)
    clock.advance(seconds=90)
    await shop.job(workflow, *range(2), queue=QueueType.HIGH_PRIORITY)
    await shop.claimed(1)

    found = await measured(shop)

    assert {label: found["queue_depth", label] for label in ("HIGH_PRIORITY", "NORMAL", "LOW_PRIORITY")} == {
        "HIGH_PRIORITY": 2,
        "NORMAL": 2,
        "LOW_PRIORITY": 0,
    }
    assert (found["oldest_wait_seconds", "NORMAL"], found["oldest_wait_seconds", "HIGH_PRIORITY"]) == (90, 0)
    assert (found["handler_depth", "work"], found["running_tasks", ""]) == (4, 1)


async def test_what_waits_elsewhere_is_measured_too(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, *range(4))
    await shop.finish(
        await shop.claimed(),
        {"0": Retry("503"), "1": Wait("w", clock.now() + timedelta(hours=1)), "2": Park(ReasonClass.REJECTED, "no")},
    )

    found = await measured(shop)

    assert (found["delayed", ""], found["held", "WAIT"], found["dead_letters", "REJECTED"]) == (1, 1, 1)
    assert found["workers", ""] == 1


async def test_the_last_hour_of_each_workflow_is_measured(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow(step(max_retries=1), workflow="수집")
    await shop.job(workflow, "long ago")
    await shop.drain(Fail("no"))
    clock.advance(hours=1, seconds=1)
    for key in ("good", "good", "good", "bad"):
        await shop.job(workflow, key)
        batch = await shop.claimed()
        clock.advance(seconds=10)
        await shop.finish(batch, {"bad": Fail("no")})
        await shop.fold()

    found = await measured(shop)

    assert (found["jobs_success", "수집"], found["jobs_failed", "수집"]) == (3, 1)
    assert (found["job_success_rate", "수집"], found["items_processed", "수집"]) == (0.75, 4)
    assert found["job_seconds_average", "수집"] == 10


async def test_large_figures_are_kept_exactly(shop: Workshop) -> None:
    figures = {("queue_depth", "NORMAL"): 12_345_678.0, ("retry_rate", "w"): 1 / 3}
    await shop.do(lambda tx: statistics.store(tx, figures))
    async with shop.db.read() as tx:
        assert await statistics.stored(tx) == figures


async def test_a_person_is_called_once_and_told_when_it_is_over(shop: Workshop, clock: ManualClock) -> None:
    ears = Ears()
    duty = alerts(shop.engine, Alerting(shop.db, ears), Thresholds())
    workflow = await shop.workflow(workflow="w")
    for key in ("good", "bad"):
        await shop.job(workflow, key)
        await shop.drain({"bad": Fail("no")})
    for _ in range(3):
        await measured(shop)
        await duty.run()
        clock.advance(seconds=30)
    assert ears.heard == [(Level.CRITICAL, "failure_rate:w")]

    clock.advance(hours=1)
    await measured(shop)
    await duty.run()
    assert ears.heard[1:] == [(Level.OK, "failure_rate:w")]


async def test_each_rule_calls_a_person(shop: Workshop, clock: ManualClock) -> None:
    ears = Ears()
    limits = Thresholds(queue_depth=5, oldest_wait=timedelta(minutes=30), retried_items=1, dead_letters=2)
    duty = alerts(shop.engine, Alerting(shop.db, ears), limits)
    workflow = await shop.workflow(step("flaky"), workflow="flaky")
    await shop.job(workflow, "a")
    for _ in range(2):
        await shop.finish(await shop.claimed(handler="flaky"), Retry("503"))
        clock.advance(minutes=1)
        await shop.promote()
    await shop.drain(handler="flaky")
    schedule = ScheduleSpec("hourly", workflow, cron="0 * * * *")
    await shop.do(lambda tx: schedules.create(tx, schedule))
    await shop.job(await shop.workflow(step("halting")), "a")
    await shop.finish(await shop.claimed(handler="halting"), Halt("a bot wall"))
    await shop.do(lambda tx: budgets.block(tx, "okmall", FOREVER, "403"))
    await shop.job(await shop.workflow(workflow="big"), *range(9))
    await shop.finish(await shop.claimed(2), Park(ReasonClass.DRIFTED, "no price"))
    await measured(shop)
    await duty.run()
    first = {key.partition(":")[0] for _, key in ears.heard}
    clock.advance(hours=3)
    await measured(shop)
    await duty.run()

    assert first == {"retry_rate", "queue_depth", "dead_letters", "halted"}
    later = {key.partition(":")[0] for level, key in ears.heard if level is not Level.OK} - first
    assert later == {"oldest_wait", "overdue_schedule"}


async def test_a_schedule_that_is_a_little_late_calls_nobody(shop: Workshop, clock: ManualClock) -> None:
    ears = Ears()
    duty = alerts(shop.engine, Alerting(shop.db, ears), Thresholds())
    workflow = await shop.workflow()
    await shop.do(lambda tx: schedules.create(tx, ScheduleSpec("hourly", workflow, cron="0 * * * *")))
    clock.advance(hours=2, minutes=59)
    await duty.run()
    assert ears.heard == []

    clock.advance(minutes=2)
    await duty.run()
    assert [level for level, _ in ears.heard] == [Level.CRITICAL]
