"""Leadership by lease: one leads, another follows when it stops, and two at once do no harm."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine.leader import LEASE, Leader
from bobusang.engine.schedules import ScheduleSpec, create
from bobusang.engine.upkeep.duty import Duty
from bobusang.engine.upkeep.keeper import Keeper
from bobusang.testing.workshop import PATIENCE, Workshop

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

SECONDS = LEASE.total_seconds()


def office(shop: Workshop) -> Leader:
    return Leader(shop.db, "upkeep")


async def test_the_first_candidate_leads_and_the_second_waits(shop: Workshop, other: Workshop) -> None:
    first, second = office(shop), office(other)

    assert [await first.campaign(), await second.campaign(), await first.campaign()] == [True, False, True]
    assert (first.term, second.term) == (1, None)


async def test_candidates_at_the_same_time_make_one_leader(shop: Workshop, other: Workshop) -> None:
    candidates = [office(who) for who in (shop, other) * 4]

    won = await asyncio.gather(*(candidate.campaign() for candidate in candidates))

    assert won.count(True) == 1


async def test_a_leader_that_renews_stays(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    first, second = office(shop), office(other)
    await first.campaign()
    for _ in range(10):
        clock.advance(seconds=SECONDS * 0.6)
        assert await first.campaign()
        assert not await second.campaign()
    assert first.term == 1


async def test_another_follows_a_leader_that_stopped_renewing(
    shop: Workshop, other: Workshop, clock: ManualClock
) -> None:
    first, second = office(shop), office(other)
    await first.campaign()
    clock.advance(seconds=SECONDS + 1)

    assert not first.leads
    assert await second.campaign()
    assert not await first.campaign()
    assert second.term == 2


async def test_a_leader_that_resigns_is_followed_at_once(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    first, second = office(shop), office(other)
    await first.campaign()
    await first.resign()
    clock.advance(seconds=0.001)

    assert await second.campaign()
    assert (first.leads, second.term) == (False, 2)


async def test_resigning_late_does_not_unseat_the_successor(
    shop: Workshop, other: Workshop, clock: ManualClock
) -> None:
    first, second, third = office(shop), office(other), office(other)
    await first.campaign()
    clock.advance(seconds=SECONDS + 1)
    await second.campaign()
    await first.resign()
    clock.advance(seconds=1)

    assert not await third.campaign()
    assert await second.campaign()


async def test_a_term_is_never_given_twice(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    """Not even to the same holder, which may have been asleep for longer than its lease."""
    first = office(shop)
    terms = []
    for _ in range(3):
        await first.campaign()
        terms.append(first.term)
        clock.advance(seconds=SECONDS * 2)
        await office(other).campaign()
        clock.advance(seconds=SECONDS * 2)

    assert len(set(terms)) == 3


async def test_only_the_leader_does_the_leaders_duties(live: Workshop, url: str) -> None:
    did: list[str] = []

    def duty(who: str, leader: bool) -> Duty:
        async def run() -> int:
            did.append(f"{who} {'leads' if leader else 'works'}")
            return 0

        return Duty("leads" if leader else "works", timedelta(seconds=0.02), run, leader=leader)

    async with Workshop.opened(url) as other:
        lease = timedelta(seconds=1)
        one = Keeper(live.db, [duty("one", True), duty("one", False)], lease=lease)
        running = [asyncio.create_task(one.run())]

        async def has(word: str) -> bool:
            return word in did

        await live.until(lambda: has("one leads"))
        two = Keeper(other.db, [duty("two", True), duty("two", False)], lease=lease)
        running.append(asyncio.create_task(two.run()))
        await live.until(lambda: has("two works"))
        assert "two leads" not in did
        one.stop()
        await running[0]
        await live.until(lambda: has("two leads"))
        two.stop()
        await running[1]


async def test_a_duty_that_fails_is_tried_again_and_the_others_do_not_notice(live: Workshop) -> None:
    failed, fine = 0, 0

    async def fail() -> int:
        nonlocal failed
        failed += 1
        raise ZeroDivisionError

    async def work() -> int:
        nonlocal fine
        fine += 1
        return 0

    duties = [Duty("fail", timedelta(seconds=0.01), fail), Duty("work", timedelta(seconds=0.01), work)]
    keeper = Keeper(live.db, duties, lease=timedelta(seconds=1))
    running = asyncio.create_task(keeper.run())

    async def both() -> bool:
        return failed >= 2 and fine >= 5

    await live.until(both)
    keeper.stop()
    await running


async def test_who_is_told_to_stop_does_not_rest_between_two_passes_first(live: Workshop) -> None:
    did = asyncio.Event()

    async def work() -> int:
        did.set()
        return 1

    keeper = Keeper(live.db, [Duty("work", timedelta(hours=1), work, pause=timedelta(hours=1))])
    running = asyncio.create_task(keeper.run())
    await did.wait()
    keeper.stop()

    async with asyncio.timeout(PATIENCE):
        await running


async def test_two_leaders_at_once_do_everything_once(shop: Workshop, other: Workshop, clock: ManualClock) -> None:
    """The lease is a matter of thrift: every duty is safe with two of them."""
    workflow = await shop.workflow()
    for number in range(3):
        await shop.do(lambda tx, n=number: create(tx, ScheduleSpec(f"s{n}", workflow, cron="* * * * *")))  # type: ignore[misc]
    for _ in range(5):
        clock.advance(minutes=1)
        await asyncio.gather(
            *(duty() for who in (shop, other) for duty in (who.fire, who.start, who.promote, who.rescue, who.sweep))
        )
        batch = await shop.claimed()
        await shop.finish(batch)
        await asyncio.gather(shop.fold(), other.fold())

    counts = await shop.rows("select status, count(*) as jobs from crawling_jobs group by status")
    assert counts == [{"status": "SUCCESS", "jobs": 15}]
