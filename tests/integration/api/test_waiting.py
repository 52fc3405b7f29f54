"""Why a task waits: each place an entry can be in says so in words, on all three databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine.model import ReasonClass, TaskOutcome
from bobusang.engine.outcome import DONE, Halt, Park, Retry, Snooze, Wait
from bobusang.testing.workshop import Workshop
from bobusang.views import jobs, tasks, workflows
from bobusang.views.jobs import JobFilter
from bobusang.views.tasks import TaskFilter

if TYPE_CHECKING:
    from tests.integration.api.door import Door

LATER = datetime(2099, 1, 1, tzinfo=UTC)
STEPS = [
    {"name": "list", "type": "FETCH", "handler": "echo", "mode": "barrier", "pool": "okmall"},
    {"name": "item", "type": "PARSE", "handler": "echo"},
]


@pytest.fixture
def shop(door: Door) -> Workshop:
    """The engine's wheels, turned by hand."""
    return Workshop(door.app.engine)


async def standing(door: Door, job_id: int, **query: Any) -> dict[str, Any]:
    (line,) = (await door.get(f"/jobs/{job_id}/tasks", **query))["items"]
    task = await door.get(f"/tasks/{line['id']}")
    assert (line["place"], line["why"]) == (task["standing"]["place"], task["standing"]["why"])
    found: dict[str, Any] = task["standing"] | {"status": task["status"]}
    return found


async def test_ready_without_a_worker_says_that_nobody_works(door: Door, shop: Workshop) -> None:
    await door.workflow()
    job_id = await door.job(queue="high", priority=9)

    found = await standing(door, job_id)
    shown = {name: found[name] for name in ("place", "why", "status", "queue", "priority", "handler", "pools")}
    assert shown == {
        "place": "READY",
        "why": "ready, but no worker is running",
        "status": "PENDING",
        "queue": "HIGH_PRIORITY",
        "priority": 9,
        "handler": "echo",
        "pools": [],
    }
    await shop.enter()
    assert (await standing(door, job_id))["why"] == "ready: the next free slot takes it in its turn"


async def test_a_blocked_pool_is_named_with_its_reason(door: Door) -> None:
    await door.workflow(steps=STEPS)
    job_id = await door.job()
    blocked = await door.operator.post(
        "/queues/pools/okmall/block", json={"reason": "403 뜸", "until": "2099-01-01T00:00Z"}
    )
    assert blocked.json()["is_blocked"] is True
    assert (await standing(door, job_id))["why"] == "pool okmall is blocked until 2099-01-01 00:00:00Z: 403 뜸"

    await door.operator.post("/queues/pools/okmall/block", json={"reason": "a bot wall"})
    why = "pool okmall is halted until a person resumes it: a bot wall"
    assert (await standing(door, job_id))["why"] == why
    (pool,) = (await door.get("/queues"))["pools"]
    assert (pool["pool"], pool["is_halted"], pool["waits"]) == ("okmall", True, why)
    assert (await door.operator.post("/queues/pools/okmall/resume")).json()["is_blocked"] is False


async def test_a_full_pool_is_named_with_its_numbers(door: Door, shop: Workshop) -> None:
    await door.workflow(steps=STEPS)
    first, second = await door.job(), await door.job()
    await door.admin.put("/queues/pools/okmall", json={"rate": 0.001, "burst": 2, "max_in_flight": 1})
    batch = await shop.claimed(1, handler="echo")
    assert [task.job_id for task in batch.tasks] == [first]

    assert (await standing(door, second))["why"] == "pool okmall has 1 of 1 in flight"

    await shop.finish(batch)
    await shop.claimed(1, handler="echo", worker=await shop.enter())
    third = await door.job()
    assert (await standing(door, third))["why"] == "pool okmall is at its rate of 0.001 a second"


async def test_a_claimed_task_names_its_worker_and_is_running(door: Door, shop: Workshop) -> None:
    await door.workflow()
    job_id = await door.job()
    worker_id = await shop.enter("일꾼 1")
    batch = await shop.claimed(handler="echo", worker=worker_id)

    found = await standing(door, job_id, status="RUNNING")

    since = f"{datetime.fromisoformat(found['since']):%Y-%m-%d %H:%M:%SZ}"
    assert (found["place"], found["status"], found["token"]) == ("CLAIMED", "RUNNING", batch.token)
    assert found["why"] == f"claimed by worker {worker_id} (일꾼 1) since {since}"
    assert (await door.get("/tasks", status="RUNNING", handler="echo"))["items"][0]["job_id"] == job_id
    assert (await door.get("/tasks", status="PENDING"))["items"] == []
    (worker,) = (await door.get("/workers"))["items"]
    assert (worker["name"], worker["is_alive"], worker["batches"], worker["tasks"]) == ("일꾼 1", True, 1, 1)


async def test_delayed_and_held_entries_say_until_when_and_for_what(door: Door, shop: Workshop) -> None:
    await door.workflow()
    snoozed = await door.job(input={"page": 1})
    await shop.finish(await shop.claimed(handler="echo"), Snooze(LATER, "429 Too Many Requests"))
    waiting = await door.job(input={"page": 2})
    await shop.finish(await shop.claimed(handler="echo"), Wait("order 7", LATER))
    dead = await door.job(input={"page": 3})
    await shop.finish(await shop.claimed(handler="echo"), Park(ReasonClass.REJECTED, "no size"))
    paused = await door.job(input={"page": 4})
    await door.operator.post(f"/jobs/{paused}/pause")
    await shop.sweep()

    found = {job: await standing(door, job) for job in (snoozed, waiting, dead, paused)}

    assert {job: (one["place"], one["why"], one["status"]) for job, one in found.items()} == {
        snoozed: ("DELAYED", "delayed until 2099-01-01 00:00:00Z: 429 Too Many Requests", "RETRYING"),
        waiting: ("HELD", "waits for 'order 7', at the latest 2099-01-01 00:00:00Z", "RETRYING"),
        dead: ("DEAD", "dead letter (REJECTED): mend it, then re-drive or discard it", "FAILED"),
        paused: ("HELD", "held because its job is paused", "PENDING"),
    }
    assert found[snoozed]["until"] == "2099-01-01T00:00:00Z"
    board = await door.get("/queues")
    normal = next(queue for queue in board["queues"] if queue["queue"] == "NORMAL")
    counts = ("waiting", "delayed", "held", "running")
    assert [normal[name] for name in counts] == [0, 1, 2, 0]
    (lane,) = board["lanes"]
    assert [lane["handler"], *(lane[name] for name in counts)] == ["echo", 0, 1, 2, 0]
    assert board["is_capped"] is False


async def test_a_barrier_names_the_step_that_waits(door: Door, shop: Workshop) -> None:
    await door.workflow(steps=STEPS)
    job_id = await shop.job((await door.get("/workflows"))["items"][0]["id"], "a", "b")
    await shop.finish(await shop.claimed(1, handler="echo"), DONE)

    found = await standing(door, job_id, step="item")

    assert (found["place"], found["why"]) == (
        "HELD",
        "held by a barrier: step 'item' begins when the steps before it are over",
    )


async def test_attempts_that_failed_are_kept_with_their_reason(door: Door, shop: Workshop) -> None:
    await door.workflow()
    job_id = await door.job()
    batch = await shop.claimed(handler="echo")
    await shop.finish(batch, Retry("503 Service Unavailable", after=timedelta(hours=1)))

    task = await door.get(f"/tasks/{batch.ids[0]}")

    assert (task["status"], task["retry_count"], task["place"]) == ("RETRYING", 1, "DELAYED")
    (attempt,) = task["attempts"]
    assert (attempt["outcome"], attempt["reason_class"], attempt["error"]) == (
        "RETRY",
        "TRANSPORT",
        "503 Service Unavailable",
    )
    assert [one["id"] for one in (await door.get("/tasks", status="RETRYING", job=job_id))["items"]] == batch.ids


async def test_a_delayed_task_runs_when_it_is_told_to(door: Door, shop: Workshop) -> None:
    await door.workflow()
    await door.job()
    batch = await shop.claimed(handler="echo")
    await shop.finish(batch, Retry("503 Service Unavailable", after=timedelta(hours=1)))
    path = f"/tasks/{batch.ids[0]}/run-now"

    hastened = await door.operator.post(path)
    refused = await door.operator.post(path)
    missing = await door.operator.post("/tasks/999999/run-now")

    assert (hastened.json()["place"], hastened.json()["retry_count"]) == ("READY", 1)
    assert [(one.status_code, one.json()["code"]) for one in (refused, missing)] == [
        (409, "conflict"),
        (404, "missing"),
    ]
    again = await shop.claimed(handler="echo")
    assert (again.ids, again.tasks[0].attempt) == (batch.ids, 1)


async def test_a_list_of_jobs_says_why_each_waits(door: Door, shop: Workshop) -> None:
    """As the screen asks, for many at once: the same as each says by itself."""
    await door.workflow(parallel={"jobs": 1})
    first = await door.job()
    await shop.start()
    second = await door.job(after=[{"job_id": first, "type": "FINISH"}], scheduled_at="2099-01-01T00:00:00Z")
    third = await door.job()
    await door.operator.post(f"/jobs/{first}/pause")
    async with door.app.engine.db.read() as tx:
        found = await jobs.reasons(tx, await jobs.listed(tx, JobFilter(target=None), None, 10))
        none = await jobs.listed(tx, JobFilter(target="brand"), None, 10)
        ended = await tasks.listed(tx, TaskFilter(job_id=first, outcome=TaskOutcome.SKIPPED), None, 10, tx.now)
        names = await workflows.names(tx)

    alone = {job: (await door.get(f"/jobs/{job}"))["waits_for"] for job in (first, second, third)}
    assert found == alone
    assert found[second] == [
        "it is scheduled for 2099-01-01 00:00:00Z",
        f"job {first} has not ended: it is RUNNING",
        "its workflow runs 1 jobs of at most 1",
    ]
    assert (none, ended.lines, names) == ([], [], ["shop"])


async def test_a_halt_shows_at_its_pool_and_the_task_waits_unharmed(door: Door, shop: Workshop) -> None:
    await door.workflow(steps=STEPS)
    job_id = await door.job()
    await shop.finish(await shop.claimed(handler="echo"), Halt("403 on every page"))

    found = await standing(door, job_id)

    assert "pool okmall is halted until a person resumes it: 403 on every page" in found["why"]


async def test_waiting_entries_tell_how_long_the_oldest_has_waited(door: Door) -> None:
    await door.workflow()
    await door.job(queue="low", priority=1)
    await door.job(queue="low", priority=10)

    board = await door.get("/queues")

    low = next(queue for queue in board["queues"] if queue["queue"] == "LOW_PRIORITY")
    assert low["waiting"] == 2
    assert 0 <= low["oldest_wait_seconds"] < 60
    assert [lane["waiting"] for lane in board["lanes"]] == [2]
