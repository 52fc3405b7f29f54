"""The conformance suite of the queue: what claims, releases, delays and waits must do on every database.

`class TestQueue(QueueSuite)` with a fixture `shop` (a `Workshop` on an empty database and a `ManualClock`) and a
fixture `other` (a second process on the same) is all that a new database needs.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.engine import queue, rescuing, waiting
from bobusang.engine.model import NewTask, QueueType
from bobusang.engine.outcome import Done, Retry, Snooze, Wait
from bobusang.testing.workshop import tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.engine.model import Task
    from bobusang.kit.db import Tx
    from bobusang.testing.clock import ManualClock
    from bobusang.testing.workshop import Workshop

ALIKE = ["key", "KEY", "Key", "kéy", "ke\u0301y", "key ", " key", "key\t", "ｋｅｙ", "keÿ", "ss", "ß", "키", "🧥", "🧦"]
"""Ten distinct keys became four under MariaDB's default collation."""


class QueueSuite:
    """Tests that hold for the queue wherever it is kept."""

    # --- order ---

    async def test_what_came_first_goes_first(self, shop: Workshop, clock: ManualClock) -> None:
        workflow = await shop.workflow()
        for key in "abc":
            await shop.job(workflow, key)
            clock.advance(seconds=1)

        assert [(await shop.claimed(1)).keys for _ in "abc"] == [["a"], ["b"], ["c"]]

    async def test_the_urgent_overtake_by_queue_and_priority(self, shop: Workshop) -> None:
        workflow = await shop.workflow()
        said = {
            "low": {"queue": QueueType.LOW_PRIORITY, "priority": 10},
            "normal 1": {"priority": 1},
            "normal 10": {"priority": 10},
            "high 1": {"queue": QueueType.HIGH_PRIORITY, "priority": 1},
            "high 10": {"queue": QueueType.HIGH_PRIORITY, "priority": 10},
        }
        for key, how in said.items():
            await shop.job(workflow, key, **how)

        assert (await shop.claimed()).keys == ["high 10", "high 1", "normal 10", "normal 1", "low"]

    async def test_nothing_starves_because_the_urgent_overtake_only_within_a_span(
        self, shop: Workshop, clock: ManualClock
    ) -> None:
        workflow = await shop.workflow()
        await shop.job(workflow, "patient", queue=QueueType.LOW_PRIORITY, priority=1)
        served: list[str] = []
        for minute in range(15):
            await shop.job(workflow, f"urgent {minute}", queue=QueueType.HIGH_PRIORITY, priority=10)
            served += (await shop.claimed(1)).keys
            clock.advance(minutes=1)

        assert "patient" in served
        assert served[0] == "urgent 0"

    # --- claims ---

    async def test_a_claim_takes_at_most_its_size(self, shop: Workshop) -> None:
        await shop.job(None, *range(5))

        assert [len((await shop.claimed(2)).tasks) for _ in range(3)] == [2, 2, 1]
        assert await shop.claim() is None

    async def test_claimers_at_the_same_time_share_without_overlap(self, shop: Workshop, other: Workshop) -> None:
        await shop.job(None, *range(200))

        async def claimer(who: Workshop) -> list[int]:
            mine: list[int] = []
            worker = await who.enter()
            while (batch := await who.claim(7, worker=worker)) is not None:
                mine += batch.ids
            return mine

        shares = await asyncio.gather(*(claimer(who) for who in (shop, other, shop, other)))

        claimed = [task_id for share in shares for task_id in share]
        assert len(claimed) == len(set(claimed)) == 200

    async def test_a_second_claimer_gets_other_rows_while_the_first_is_not_committed(
        self, shop: Workshop, other: Workshop
    ) -> None:
        if shop.db.dialect == "sqlite":
            return  # there is one writer: the second waits
        await shop.job(None, *range(10))
        (lane,) = await shop.lanes()
        size, deadline = 4, timedelta(minutes=1)
        async with shop.db.begin() as first, other.db.begin() as second:
            one = await queue.claim(first, lane=lane, worker_id=1, size=size, deadline=deadline)
            two = await queue.claim(second, lane=lane, worker_id=2, size=size, deadline=deadline)

        assert one is not None
        assert two is not None
        both = [entry.task_id for claim in (one, two) for entry in claim.entries]
        assert len(set(both)) == 8

    async def test_a_claim_that_is_rolled_back_leaves_its_entries_runnable(self, shop: Workshop) -> None:
        await shop.job(None, *range(3))
        (lane,) = await shop.lanes()
        try:
            async with shop.db.begin() as tx:
                await queue.claim(tx, lane=lane, worker_id=1, size=3, deadline=timedelta(minutes=1))
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass

        assert sorted((await shop.claimed()).keys) == ["0", "1", "2"]

    async def test_tokens_only_grow(self, shop: Workshop) -> None:
        """Also when the table of claims was empty in between, where a row id would be given again."""
        await shop.job(None, *range(5))
        tokens = []
        for _ in range(5):
            batch = await shop.claimed(1)
            tokens.append(batch.token)
            await shop.finish(batch)

        assert tokens == sorted(set(tokens))

    async def test_a_lane_is_claimed_from_by_its_own_handler_only(self, shop: Workshop) -> None:
        await shop.job(None, "a")

        assert await shop.claim(handler="another") is None

    # --- ownership ---

    async def test_a_stale_worker_changes_nothing(self, shop: Workshop, clock: ManualClock) -> None:
        saved: list[str] = []

        async def save(_: Tx, owned: Sequence[tuple[Task, Done]]) -> None:
            saved.extend(task.key for task, _ in owned)

        shop.handler(save=save)
        job = await shop.job(None, "a", "b")
        stale = await shop.claimed()
        clock.advance(minutes=10, seconds=1)
        assert await shop.rescue() == 2
        heir = await shop.claimed(worker=await shop.enter())

        assert await shop.finish(stale, Done({"by": "the stale one"})) == 0
        assert saved == []
        assert heir.token > stale.token
        assert await shop.finish(heir, Done({"by": "the heir"})) == 2
        assert sorted(saved) == ["a", "b"]
        rows = await shop.rows("select output_data from tasks where job_id = :id", id=job)
        assert [row["output_data"] for row in rows] == ['{"by":"the heir"}'] * 2

    async def test_finishing_twice_counts_once(self, shop: Workshop) -> None:
        job = await shop.job(None, "a")
        batch = await shop.claimed()

        assert [await shop.finish(batch), await shop.finish(batch)] == [1, 0]
        await shop.fold()
        assert (await shop.job_row(job))["success_count"] == 1

    async def test_losing_a_part_of_a_claim_spoils_only_that_part(self, shop: Workshop) -> None:
        await shop.job(None, "a", "b", "c")
        batch = await shop.claimed()
        entries = batch.claim.entries

        await shop.do(lambda tx: queue.keep(tx, batch.token, [entries[0], entries[2]]))

        assert await shop.finish(batch) == 2
        rows = await shop.rows("select id from tasks where status = 'SUCCESS'")
        assert {row["id"] for row in rows} == {entries[0].task_id, entries[2].task_id}

    async def test_release_tells_what_was_still_ours(self, shop: Workshop) -> None:
        await shop.job(None, "a", "b")
        batch = await shop.claimed()
        first, second = batch.claim.entries

        await shop.do(lambda tx: queue.keep(tx, batch.token, [second]))
        assert await shop.do(lambda tx: queue.release(tx, batch.token, 2)) == {second.task_id}
        assert await shop.do(lambda tx: queue.release(tx, batch.token, 2)) == set()
        assert first.task_id != second.task_id

    async def test_release_of_all_says_so_cheaply(self, shop: Workshop) -> None:
        await shop.job(None, "a", "b")
        batch = await shop.claimed()

        assert await shop.do(lambda tx: queue.release(tx, batch.token, 2)) is None

    async def test_a_leaving_worker_gives_back_without_paying(self, shop: Workshop) -> None:
        await shop.job(None, "a", "b")
        before = await shop.claimed()

        assert await shop.do(lambda tx: rescuing.give_back(tx, before.worker_id)) == 2

        after = await shop.claimed()
        assert after.claim.entries == before.claim.entries
        assert await shop.rows("select * from task_attempts") == []

    # --- later ---

    async def test_what_is_delayed_runs_when_promoted_and_not_before(self, shop: Workshop, clock: ManualClock) -> None:
        soon = clock.now() + timedelta(seconds=30)
        await shop.job(None, seeds=tasks("a", after=soon))

        assert await shop.claim() is None
        clock.advance(seconds=29)
        assert await shop.promote() == 0
        clock.advance(seconds=1)
        assert await shop.promote() == 1
        assert (await shop.claimed()).keys == ["a"]

    async def test_what_was_delayed_keeps_its_turn(self, shop: Workshop, clock: ManualClock) -> None:
        """It became runnable before what was made afterwards, even if it was promoted later."""
        workflow = await shop.workflow()
        await shop.job(workflow, seeds=tasks("delayed", after=clock.now() + timedelta(seconds=5)))
        clock.advance(seconds=6)
        await shop.job(workflow, "fresh")
        await shop.promote()

        assert (await shop.claimed()).keys == ["delayed", "fresh"]

    async def test_promotion_at_the_same_time_moves_each_once(
        self, shop: Workshop, other: Workshop, clock: ManualClock
    ) -> None:
        await shop.job(None, seeds=tasks(*range(50), after=clock.now() + timedelta(seconds=1)))
        clock.advance(seconds=1)

        moved = await asyncio.gather(*(who.promote() for who in (shop, other, shop, other)))

        assert sum(moved) == 50
        assert set(map(tuple, (await shop.places()).values())) == {("ready",)}

    async def test_a_snooze_uses_no_attempt(self, shop: Workshop, clock: ManualClock) -> None:
        await shop.job(None, "a")
        await shop.finish(await shop.claimed(), Snooze(clock.now() + timedelta(seconds=10), "429"))
        clock.advance(seconds=10)
        await shop.promote()

        (task,) = (await shop.claimed()).tasks
        assert (task.attempt, task.entry.dispatches) == (0, 1)

    async def test_a_retry_uses_an_attempt(self, shop: Workshop, clock: ManualClock) -> None:
        await shop.job(None, "a")
        await shop.finish(await shop.claimed(), Retry("503"))
        assert await shop.claim() is None
        clock.advance(seconds=2)
        await shop.promote()

        (task,) = (await shop.claimed()).tasks
        assert (task.attempt, task.entry.dispatches) == (1, 1)

    async def test_a_retry_waits_at_least_as_long_as_it_was_asked_to(self, shop: Workshop, clock: ManualClock) -> None:
        await shop.job(None, "a")
        await shop.finish(await shop.claimed(), Retry("503", after=timedelta(minutes=5)))
        clock.advance(minutes=5, seconds=-1)
        assert await shop.promote() == 0
        clock.advance(seconds=1)

        assert await shop.promote() == 1

    # --- waiting for the world ---

    async def test_a_wake_up_after_the_wait_ends_it(self, shop: Workshop, clock: ManualClock) -> None:
        await shop.job(None, "a")
        await shop.finish(await shop.claimed(), Wait("order 1", clock.now() + timedelta(hours=1)))
        assert await shop.claim() is None

        assert await shop.do(lambda tx: waiting.wake(tx, "order 1", {"ok": True}))

        (task,) = (await shop.claimed()).tasks
        assert (task.signal, task.attempt) == ({"ok": True}, 0)
        assert await shop.rows("select * from waits") == []

    async def test_a_wake_up_before_the_wait_is_kept(self, shop: Workshop, clock: ManualClock) -> None:
        await shop.job(None, "a")
        batch = await shop.claimed()
        assert not await shop.do(lambda tx: waiting.wake(tx, "order 1", {"ok": True}))

        await shop.finish(batch, Wait("order 1", clock.now() + timedelta(hours=1)))

        assert (await shop.claimed()).tasks[0].signal == {"ok": True}
        assert await shop.rows("select * from waits") == []

    async def test_wait_and_wake_at_the_same_time_find_each_other(
        self, shop: Workshop, other: Workshop, clock: ManualClock
    ) -> None:
        await shop.job(None, *range(20))
        until = clock.now() + timedelta(hours=1)
        batches = [await shop.claimed(1) for _ in range(20)]

        await asyncio.gather(
            *(shop.finish(batch, Wait(batch.keys[0], until)) for batch in batches),
            *(other.do(lambda tx, key=batch.keys[0]: waiting.wake(tx, key, key)) for batch in batches),  # type: ignore[misc]
        )

        woken = (await shop.claimed()).tasks
        assert {task.key: task.signal for task in woken} == {str(key): str(key) for key in range(20)}

    async def test_a_wait_that_nobody_ends_runs_again_without_a_signal(
        self, shop: Workshop, clock: ManualClock
    ) -> None:
        await shop.job(None, "a")
        await shop.finish(await shop.claimed(), Wait("order 1", clock.now() + timedelta(hours=1)))
        clock.advance(hours=1)
        assert await shop.promote() == 1

        (task,) = (await shop.claimed()).tasks
        assert (task.signal, task.attempt) == (None, 0)
        assert not await shop.do(lambda tx: waiting.wake(tx, "order 1", "late"))

    async def test_one_key_awaited_by_two_tasks_harms_neither(self, shop: Workshop, clock: ManualClock) -> None:
        """The later one is woken; the earlier one runs again at its time-out and takes nothing with it."""
        await shop.job(None, "early", "late")
        early, late = await shop.claimed(1), await shop.claimed(1)
        await shop.finish(early, Wait("one", clock.now() + timedelta(minutes=1)))
        await shop.finish(late, Wait("one", clock.now() + timedelta(hours=1)))
        clock.advance(minutes=1)
        await shop.promote()
        assert (await shop.claimed()).ids == early.ids

        assert await shop.do(lambda tx: waiting.wake(tx, "one", "signal"))
        assert [(task.id, task.signal) for task in (await shop.claimed()).tasks] == [(late.ids[0], "signal")]

    # --- keys ---

    async def test_a_task_made_twice_is_made_once(self, shop: Workshop) -> None:
        job = await shop.job(None, "parent 1", "parent 2")
        batch = await shop.claimed()
        spawn = (NewTask("x", key="child", step="work"), NewTask("y", key="child", step="work"))
        await shop.finish(batch, Done(spawn=spawn))
        await shop.fold()

        assert (await shop.claimed()).keys == ["child"]
        assert (await shop.job_row(job))["total_items"] == 3

    async def test_a_task_made_twice_at_the_same_time_is_made_once(self, shop: Workshop, other: Workshop) -> None:
        job = await shop.job(None, "parent 1", "parent 2")
        batches = [await shop.claimed(1), await other.claimed(1, worker=await other.enter())]
        spawn = tuple(NewTask(None, key=f"child {number}", step="work") for number in range(20))
        await asyncio.gather(
            shop.finish(batches[0], Done(spawn=spawn)), other.finish(batches[1], Done(spawn=spawn[::-1]))
        )
        await shop.fold()

        assert len((await shop.claimed()).keys) == 20
        assert (await shop.job_row(job))["total_items"] == 22

    async def test_keys_that_look_alike_are_different(self, shop: Workshop) -> None:
        await shop.job(None, *ALIKE)

        assert sorted((await shop.claimed()).keys) == sorted(ALIKE)

    async def test_a_job_made_twice_is_made_once(self, shop: Workshop) -> None:
        workflow = await shop.workflow()

        assert await shop.job(workflow, key="once") == await shop.job(workflow, key="once")
        assert await shop.job(workflow, key="Once") != await shop.job(workflow, key="once")

    async def test_a_job_made_twice_at_the_same_time_is_made_once(self, shop: Workshop, other: Workshop) -> None:
        workflow = await shop.workflow()

        made = await asyncio.gather(*(who.job(workflow, key="once") for who in (shop, other) * 4))

        assert len(set(made)) == 1
