"""Schedules: each instant fires once, whoever looks and whatever the clock does."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import schedules, workflows
from bobusang.engine.calendar.misfire import Misfire, Overlap
from bobusang.engine.model import ScheduleType
from bobusang.engine.outcome import Done
from bobusang.engine.schedules import ScheduleSpec
from bobusang.kit.clock import utc
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


async def schedule(shop: Workshop, cron: str | None = "0 * * * *", **said: Any) -> int:
    """A schedule of every hour unless said otherwise; its id."""
    if "workflow_id" not in said:
        said["workflow_id"] = await shop.workflow()
    spec = ScheduleSpec(**{"name": "nightly", "cron": cron} | said)
    return await shop.do(lambda tx: schedules.create(tx, spec))


async def change(shop: Workshop, schedule_id: int, **said: Any) -> None:
    async with shop.db.read() as tx:
        row = await schedules.get(tx, schedule_id)
    spec = ScheduleSpec(**{"name": row["name"], "workflow_id": row["workflow_id"]} | said)
    await shop.do(lambda tx: schedules.change(tx, schedule_id, spec))


async def fires(shop: Workshop) -> list[tuple[datetime, str]]:
    rows = await shop.rows("select fire_at, decision from schedule_fires order by fire_at")
    return [(utc(row["fire_at"]), row["decision"]) for row in rows]


async def instants(shop: Workshop) -> list[datetime]:
    return [instant for instant, _ in await fires(shop)]


async def next_run(shop: Workshop) -> datetime | None:
    row = await shop.row("select next_run_at from crawling_schedules")
    found: datetime | None = utc(row["next_run_at"])
    return found


async def job_count(shop: Workshop) -> int:
    found: int = await shop.value("select count(*) from crawling_jobs")
    return found


async def watched(shop: Workshop, clock: ManualClock, until: datetime, every: timedelta = MINUTE) -> list[datetime]:
    """Look every so often until then; what fired, with everything that was started drained."""
    while clock.now() < until:
        clock.advance(seconds=every.total_seconds())
        await shop.fire()
        await shop.drain()
    return await instants(shop)


# --- what fires when ---


async def test_a_schedule_fires_at_its_instants_and_not_before(shop: Workshop, clock: ManualClock) -> None:
    await schedule(shop, input={"brand": "나이키"}, priority=8)
    clock.advance(minutes=59)
    assert await shop.fire() == 0
    clock.advance(minutes=1)
    assert await shop.fire() == 1
    assert await shop.fire() == 0

    assert await fires(shop) == [(at("2026-01-27 13:00"), "START")]
    (task,) = (await shop.claimed()).tasks
    assert (task.input, task.entry.priority) == ({"brand": "나이키"}, 8)
    assert await next_run(shop) == at("2026-01-27 14:00")


@pytest.mark.parametrize(
    ("zone", "day", "cron", "expected"),
    [
        # 2026-03-29: Berlin's clock goes from 02:00 to 03:00; what falls into the gap fires once, right after it.
        ("Europe/Berlin", "2026-03-29", "30 2 * * *", ["2026-03-29 01:00"]),
        ("Europe/Berlin", "2026-03-29", "0 */6 * * *", ["2026-03-29 04:00", "2026-03-29 10:00", "2026-03-29 16:00"]),
        # 2026-10-25: 03:00 becomes 02:00 again; what is shown twice fires once, the first time.
        ("Europe/Berlin", "2026-10-25", "30 2 * * *", ["2026-10-25 00:30"]),
        # 2026-03-08 and 2026-11-01: New York.
        ("America/New_York", "2026-03-08", "15 2 * * *", ["2026-03-08 07:00"]),
        ("America/New_York", "2026-11-01", "15 1 * * *", ["2026-11-01 05:15"]),
        # No daylight saving: nothing special.
        ("Asia/Seoul", "2026-03-29", "0 3 * * *", ["2026-03-29 18:00"]),
    ],
)
async def test_on_the_days_the_clock_moves_each_wall_time_fires_once(
    shop: Workshop, clock: ManualClock, zone: str, day: str, cron: str, expected: list[str]
) -> None:
    clock.set(at(day))
    await schedule(shop, cron, timezone=zone)

    found = await watched(shop, clock, at(day) + timedelta(hours=20), timedelta(minutes=15))

    assert found == [at(instant) for instant in expected]


async def test_an_hourly_rhythm_stays_even_through_the_change(shop: Workshop, clock: ManualClock) -> None:
    clock.set(at("2026-10-24 22:30"))
    await schedule(shop, "0 * * * *", timezone="Europe/Berlin")

    found = await watched(shop, clock, at("2026-10-25 04:30"), timedelta(minutes=30))

    assert found == [at("2026-10-24 23:00"), *(at(f"2026-10-25 0{hour}:00") for hour in range(5))]


async def test_a_manual_schedule_fires_by_hand_only(shop: Workshop, clock: ManualClock) -> None:
    await schedule(shop, None, type=ScheduleType.MANUAL)
    clock.advance(days=400)

    assert await shop.fire() == 0
    assert await next_run(shop) is None


async def test_running_now_does_not_move_what_is_planned(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop)
    clock.advance(minutes=10)
    job = await shop.engine.do(schedules.run_now, nightly)

    assert job is not None
    assert await next_run(shop) == at("2026-01-27 13:00")
    assert await fires(shop) == [(clock.now(), "START")]
    await shop.drain()
    clock.advance(minutes=50)
    assert await shop.fire() == 1


async def test_running_now_obeys_the_overlap(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop, overlap=Overlap.SKIP)
    assert await shop.engine.do(schedules.run_now, nightly) is not None
    clock.advance(seconds=1)

    assert await shop.engine.do(schedules.run_now, nightly) is None


async def test_a_jittered_schedule_starts_its_job_a_little_later(shop: Workshop, clock: ManualClock) -> None:
    await schedule(shop, jitter=timedelta(minutes=10))
    clock.advance(hours=1)
    await shop.fire()

    planned = utc(await shop.value("select scheduled_at from crawling_jobs"))
    assert clock.now() < planned < clock.now() + timedelta(minutes=10)
    assert await shop.claim() is None
    clock.set(planned)
    assert await shop.start() == 1
    assert await shop.claim() is not None


# --- what was missed ---

SLEPT = {
    Misfire.SKIP: [],
    Misfire.ONCE: ["16:00"],
    Misfire.ALL: ["13:00", "14:00", "15:00", "16:00"],
}


@pytest.mark.parametrize("policy", Misfire)
async def test_what_passed_while_nobody_looked_is_judged_by_the_misfire(
    shop: Workshop, clock: ManualClock, policy: Misfire
) -> None:
    await schedule(shop, misfire=policy, overlap=Overlap.ALLOW)
    clock.advance(hours=4, minutes=30)
    await shop.fire()

    assert await instants(shop) == [at(f"2026-01-27 {time}") for time in SLEPT[policy]]
    assert await next_run(shop) == at("2026-01-27 17:00")


@pytest.mark.parametrize("policy", Misfire)
async def test_a_fire_that_is_a_little_late_is_no_misfire(shop: Workshop, clock: ManualClock, policy: Misfire) -> None:
    await schedule(shop, misfire=policy)
    clock.advance(hours=1, seconds=30)

    assert await shop.fire() == 1
    assert await instants(shop) == [at("2026-01-27 13:00")]


async def test_making_up_is_bounded_by_window_and_cap(shop: Workshop, clock: ManualClock) -> None:
    said = {"misfire": Misfire.ALL, "overlap": Overlap.ALLOW}
    await schedule(shop, misfire_window=timedelta(hours=3), **said)
    await schedule(shop, name="capped", misfire_cap=2, **said)
    clock.advance(days=2, minutes=30)
    await shop.fire()

    rows = await shop.rows("select schedule_id, count(*) as times from schedule_fires group by schedule_id")
    assert [row["times"] for row in sorted(rows, key=lambda row: row["schedule_id"])] == [3, 2]


# --- what overlaps ---


async def overlapping(shop: Workshop, clock: ManualClock, policy: Overlap) -> list[str]:
    """Three fires while nothing is worked on; the statuses of the jobs."""
    await schedule(shop, overlap=policy)
    for _ in range(3):
        clock.advance(hours=1)
        await shop.fire()
        await shop.start()
        await shop.sweep()
    rows = await shop.rows("select status from crawling_jobs order by id")
    return [row["status"] for row in rows]


OVERLAPS = {
    Overlap.SKIP: (["RUNNING"], ["START", "SKIP", "SKIP"]),
    Overlap.BUFFER_ONE: (["RUNNING", "PENDING"], ["START", "BUFFER", "SKIP"]),
    Overlap.ALLOW: (["RUNNING", "RUNNING", "RUNNING"], ["START", "START", "START"]),
    Overlap.CANCEL_OTHER: (
        ["CANCELLED", "CANCELLED", "RUNNING"],
        ["START", "CANCEL_THEN_START", "CANCEL_THEN_START"],
    ),
}


@pytest.mark.parametrize("policy", Overlap)
async def test_a_run_that_is_still_there_is_judged_by_the_overlap(
    shop: Workshop, clock: ManualClock, policy: Overlap
) -> None:
    found = await overlapping(shop, clock, policy)

    expected, decisions = OVERLAPS[policy]
    assert found == expected
    assert [decision for _, decision in await fires(shop)] == decisions


async def test_a_buffered_run_starts_when_the_first_is_over(shop: Workshop, clock: ManualClock) -> None:
    await overlapping(shop, clock, Overlap.BUFFER_ONE)
    await shop.drain()
    assert await shop.start() == 1
    await shop.drain()

    assert await shop.rows("select status from crawling_jobs") == [{"status": "SUCCESS"}] * 2


# --- changing ---


async def test_a_change_counts_from_the_next_fire(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop, "0 * * * *")
    await change(shop, nightly, cron="30 * * * *")
    assert await next_run(shop) == at("2026-01-27 13:00")

    found = await watched(shop, clock, at("2026-01-27 15:00"), timedelta(minutes=10))

    assert found == [at(f"2026-01-27 {time}") for time in ("13:00", "13:30", "14:30")]


async def test_a_change_of_type_counts_at_once(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop, "0 * * * *")
    await change(shop, nightly, cron=None, type=ScheduleType.MANUAL)
    assert await next_run(shop) is None
    clock.advance(minutes=20)
    await change(shop, nightly, cron="30 * * * *")

    assert await next_run(shop) == at("2026-01-27 12:30")


async def test_what_a_paused_schedule_misses_is_not_made_up_for(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop, misfire=Misfire.ALL)
    await shop.do(lambda tx: schedules.pause(tx, nightly))
    clock.advance(hours=5, minutes=30)
    assert await shop.fire() == 0

    await shop.do(lambda tx: schedules.resume(tx, nightly))
    assert await next_run(shop) == at("2026-01-27 18:00")
    with pytest.raises(Conflict, match="not paused"):
        await shop.do(lambda tx: schedules.resume(tx, nightly))


async def test_a_deleted_schedule_is_gone_and_its_name_is_free(shop: Workshop, clock: ManualClock) -> None:
    nightly = await schedule(shop)
    await shop.do(lambda tx: schedules.delete(tx, nightly))
    clock.advance(hours=2)
    assert await shop.fire() == 0
    with pytest.raises(Missing):
        await shop.engine.do(schedules.run_now, nightly)

    await schedule(shop)
    with pytest.raises(Conflict, match="already"):
        await schedule(shop)


# --- learning ---


async def dynamic(shop: Workshop, **said: Any) -> int:
    return await schedule(
        shop,
        None,
        type=ScheduleType.DYNAMIC,
        interval=timedelta(hours=1),
        min_interval=timedelta(minutes=10),
        max_interval=timedelta(hours=4),
        **said,
    )


@pytest.mark.parametrize(
    ("observed", "longer"), [({"seen": 1000, "changed": 0}, True), ({"seen": 1000, "changed": 1000}, False)]
)
async def test_a_dynamic_schedule_learns_from_what_had_changed(
    shop: Workshop, clock: ManualClock, observed: dict[str, int], longer: bool
) -> None:
    await dynamic(shop)
    for _ in range(8):
        planned = await next_run(shop)
        assert planned is not None
        clock.set(planned)
        assert await shop.fire() == 1
        await shop.drain(Done(context={"observed": observed}))

    interval = await shop.value("select interval_s from crawling_schedules")
    assert interval == (4 * 3600 if longer else 600)


@pytest.mark.parametrize("observed", [{}, {"seen": "many"}, {"seen": 1, "changed": 2}, [1], "x", {"seen": 9}])
async def test_what_a_job_observed_oddly_is_ignored(shop: Workshop, clock: ManualClock, observed: object) -> None:
    await dynamic(shop)
    clock.advance(hours=1)
    await shop.fire()
    await shop.drain(Done(context={"observed": observed}))

    assert await shop.value("select status from crawling_jobs") == "SUCCESS"
    assert await shop.value("select interval_s from crawling_schedules") == 3600


# --- two schedulers, and clocks that jump ---


async def test_two_schedulers_fire_each_instant_once(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    for number in range(5):
        await schedule(shop, "*/5 * * * *", name=f"every five {number}", workflow_id=workflow, overlap=Overlap.ALLOW)
    for _ in range(12):
        clock.advance(minutes=5)
        await asyncio.gather(*(who.fire() for who in (shop, other, shop, other)))

    assert await job_count(shop) == 60
    rows = await shop.rows("select count(*) as times from schedule_fires group by schedule_id")
    assert [row["times"] for row in rows] == [12] * 5


async def test_a_clock_that_jumps_back_fires_nothing_twice(shop: Workshop, clock: ManualClock) -> None:
    await schedule(shop, overlap=Overlap.ALLOW)
    clock.advance(hours=1)
    await shop.fire()
    clock.advance(hours=-2)
    await shop.fire()
    found = await watched(shop, clock, at("2026-01-27 15:30"), timedelta(minutes=10))

    assert found == [at(f"2026-01-27 {hour}:00") for hour in (13, 14, 15)]
    assert await job_count(shop) == 3


async def test_a_clock_that_jumps_forward_and_back_fires_each_instant_once(shop: Workshop, clock: ManualClock) -> None:
    await schedule(shop, misfire=Misfire.ALL, overlap=Overlap.ALLOW)
    clock.advance(hours=3)
    await shop.fire()
    clock.advance(hours=-3)
    found = await watched(shop, clock, at("2026-01-27 17:30"), timedelta(minutes=10))

    assert found == [at(f"2026-01-27 {hour}:00") for hour in range(13, 18)]
    assert await job_count(shop) == 5


async def test_schedulers_whose_clocks_differ_fire_each_instant_once(
    url: str, shop: Workshop, clock: ManualClock
) -> None:
    await schedule(shop, overlap=Overlap.ALLOW)
    fast = type(clock)(clock.now() + timedelta(minutes=7))
    async with Workshop.opened(url, clock=fast) as other:
        for _ in range(24):
            for one in (clock, fast):
                one.advance(minutes=10)
            await asyncio.gather(shop.fire(), other.fire())

    assert await instants(shop) == [at(f"2026-01-27 {hour}:00") for hour in range(13, 17)]


# --- what is refused, and what does not stop the others ---


@pytest.mark.parametrize(
    "said",
    [
        {"cron": "61 * * * *"},
        {"cron": "0 0 30 2 *"},
        {"cron": ""},
        {"cron": None},
        {"timezone": "Mars/Olympus"},
        {"priority": 11},
        {"name": ""},
        {"name": "n" * 101},
        {"misfire_cap": 0},
        {"jitter": timedelta(seconds=-1)},
        {"type": ScheduleType.DYNAMIC, "min_interval": timedelta(days=8)},
        {"type": ScheduleType.DYNAMIC, "min_interval": timedelta()},
    ],
)
async def test_a_schedule_that_makes_no_sense_is_refused(shop: Workshop, said: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        await schedule(shop, **said)


async def test_a_schedule_needs_its_workflow_and_its_target(shop: Workshop) -> None:
    with pytest.raises(Missing, match="workflow"):
        await schedule(shop, workflow_id=987_654)
    with pytest.raises(Missing, match="target"):
        await schedule(shop, target_id=987_654)


async def test_a_workflow_that_is_switched_off_makes_no_jobs(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow()
    await schedule(shop, workflow_id=workflow)
    await shop.do(lambda tx: workflows.set_active(tx, workflow, False))
    clock.advance(hours=1)

    assert await shop.fire() == 0
    assert await fires(shop) == [(at("2026-01-27 13:00"), "SKIP")]


async def test_a_schedule_whose_job_cannot_be_made_does_not_stop_the_others(shop: Workshop, clock: ManualClock) -> None:
    workflow = await shop.workflow(workflow="changed")
    broken = await schedule(shop, name="broken", workflow_id=workflow, priority=10)
    await schedule(shop, name="fine")
    await shop.workflow(step(input={"url": "$.url"}), workflow="changed")
    clock.advance(hours=1)

    assert await shop.fire() == 1
    rows = await shop.rows("select schedule_id, decision from schedule_fires order by decision")
    assert [(row["schedule_id"] == broken, row["decision"]) for row in rows] == [(True, "SKIP"), (False, "START")]
    assert await shop.fire() == 0
