"""What each outcome does to the task, its queue entry, the counters and the history: the table of docs/states.md."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.engine import budgets
from bobusang.engine.model import ErrorHandling, ReasonClass
from bobusang.engine.outcome import DONE, Done, Fail, Halt, Outcome, Park, Retry, Skip, Snooze, Wait
from bobusang.engine.redriving import Filter, redrive
from bobusang.testing.clock import NOON
from bobusang.testing.workshop import Workshop, step

if TYPE_CHECKING:
    from bobusang.testing.clock import ManualClock

RETRY, SKIP, FAIL = ErrorHandling
LATER = NOON + timedelta(minutes=1)
USED_UP = {"max_retries": 0}

# outcome, step → status, outcome, error; place; counters that are not zero; what the history calls it
TABLE: dict[str, tuple[Outcome, dict[str, Any], tuple[Any, ...], str, dict[str, int], str | None]] = {
    "done": (DONE, {}, ("SUCCESS", "DONE", None), "", {"succeeded": 1}, None),
    "done with output": (Done({"n": 1}), {}, ("SUCCESS", "DONE", None), "", {"succeeded": 1}, None),
    "skip": (Skip("sold out"), {}, ("SUCCESS", "SKIPPED", "sold out"), "", {"skipped": 1}, "SKIP"),
    "retry": (Retry("503"), {}, ("RETRYING", None, "503"), "delayed", {"retried": 1}, "RETRY"),
    "retry, none left": (
        Retry("503"),
        USED_UP,
        ("FAILED", "PARKED", "503"),
        "dead",
        {"failed": 1},
        "RETRY",
    ),
    "retry, none left, skip": (
        Retry("503"),
        USED_UP | {"on_error": SKIP},
        ("SUCCESS", "SKIPPED", "503"),
        "",
        {"skipped": 1},
        "RETRY",
    ),
    "retry, fail": (Retry("503"), {"on_error": FAIL}, ("FAILED", "FAILED", "503"), "", {"failed": 1}, "RETRY"),
    "snooze": (Snooze(LATER, "429"), {}, ("RETRYING", None, "429"), "delayed", {}, "SNOOZE"),
    "snooze until now": (Snooze(NOON, "429"), {}, ("RETRYING", None, "429"), "ready", {}, "SNOOZE"),
    "snooze in a pool": (Snooze(LATER, "429", "mall"), {}, ("RETRYING", None, "429"), "delayed", {}, "SNOOZE"),
    "wait": (Wait("k", LATER), {}, ("RETRYING", None, None), "held WAIT", {}, "WAIT"),
    "fail": (Fail("no"), {}, ("FAILED", "FAILED", "no"), "", {"failed": 1}, "FAIL"),
    "fail, skip": (Fail("no"), {"on_error": SKIP}, ("SUCCESS", "SKIPPED", "no"), "", {"skipped": 1}, "FAIL"),
    "fail, fail": (Fail("no"), {"on_error": FAIL}, ("FAILED", "FAILED", "no"), "", {"failed": 1}, "FAIL"),
    "park": (
        Park(ReasonClass.REJECTED, "name too long"),
        {},
        ("FAILED", "PARKED", "name too long"),
        "dead",
        {"failed": 1},
        "PARK",
    ),
    "park, skip": (
        Park(ReasonClass.REJECTED, "x"),
        {"on_error": SKIP},
        ("SUCCESS", "SKIPPED", "x"),
        "",
        {"skipped": 1},
        "PARK",
    ),
    "halt without a pool": (Halt("403"), {}, ("RETRYING", None, "403"), "held PAUSED", {}, "HALT"),
    "halt with a pool": (Halt("403"), {"pool": "mall"}, ("RETRYING", None, "403"), "ready", {}, "HALT"),
}


@pytest.mark.parametrize("case", TABLE)
async def test_an_outcome_moves_task_entry_counters_and_history(shop: Workshop, case: str) -> None:
    outcome, said, row, place, counters, history = TABLE[case]
    job = await shop.job(await shop.workflow(step(**said)), "a")
    batch = await shop.claimed()
    (task_id,) = batch.ids

    assert await shop.finish(batch, outcome) == 1
    await shop.fold()

    found = await shop.row("select status, outcome, error_message from tasks")
    assert tuple(found.values()) == row
    assert await shop.places() == ({task_id: [place]} if place else {})
    names = ("created", "succeeded", "failed", "skipped", "cancelled", "retried")
    counted = await shop.row(f"select {', '.join(names)} from job_steps where job_id = :id", id=job)
    assert counted == dict.fromkeys(names, 0) | {"created": 1} | counters
    attempts = await shop.rows("select outcome from task_attempts")
    assert [attempt["outcome"] for attempt in attempts] == ([history] if history else [])


async def test_a_success_leaves_a_plain_row_behind(shop: Workshop, clock: ManualClock) -> None:
    await shop.job(None, "a")
    batch = await shop.claimed()
    begun = clock.now()
    clock.advance(seconds=3)
    await shop.finish(batch, Done({"이름": "울 코트 🧥", "quote": '"\\'}))

    row = await shop.row("select output_data, started_at, completed_at, retry_count from tasks")
    assert row["output_data"] == '{"이름":"울 코트 🧥","quote":"\\"\\\\"}'
    times = [
        await shop.value(f"select count(*) from tasks where {name} = :at", at=at)
        for name, at in (("started_at", begun), ("completed_at", clock.now()))
    ]
    assert times == [1, 1]
    assert row["retry_count"] == 0


async def test_retries_back_off_and_end_among_the_dead_letters(shop: Workshop, clock: ManualClock) -> None:
    job = await shop.job(await shop.workflow(step(max_retries=2)), "a")
    waited = []
    for attempt in range(3):
        batch = await shop.claimed()
        assert batch.tasks[0].attempt == attempt
        await shop.finish(batch, Retry(f"503 number {attempt}"))
        if attempt < 2:
            asked = clock.now()
            while not await shop.promote():
                clock.advance(seconds=0.5)
            waited.append((clock.now() - asked).total_seconds())
    await shop.fold()

    assert 1 <= waited[0] <= 2.5
    assert 2 <= waited[1] <= 4.5
    assert await shop.status(job) == "FAILED"
    letter = await shop.row("select job_id, reason_class, error from dead_letters")
    assert letter == {"job_id": job, "reason_class": "TRANSPORT", "error": "503 number 2"}
    history = await shop.rows("select attempt, outcome, reason_class, error from task_attempts order by id")
    assert [tuple(row.values()) for row in history] == [
        (1, "RETRY", "TRANSPORT", "503 number 0"),
        (2, "RETRY", "TRANSPORT", "503 number 1"),
        (3, "RETRY", "TRANSPORT", "503 number 2"),
    ]
    counts = await shop.job_row(job)
    assert (counts["failed_count"], counts["retry_count"]) == (1, 2)


async def test_a_task_may_find_out_at_work_which_pools_it_needs(shop: Workshop, clock: ManualClock) -> None:
    """It waits in them from then on, also when it is driven again; what was claimed with it stays where it was."""
    job = await shop.job(await shop.workflow(step(max_retries=0)), "asks", "knows")
    asks = Snooze(clock.now() + timedelta(seconds=1), "at its rate", "host,mall")
    await shop.finish(await shop.claimed(), {"asks": asks, "knows": Snooze(asks.until, "the market rests")})
    await shop.do(lambda tx: budgets.block(tx, "mall", LATER, "403"))
    clock.advance(seconds=1)
    await shop.promote()

    assert (await shop.claimed()).keys == ["knows"]
    assert await shop.claim() is None
    clock.set(LATER)
    await shop.finish(await shop.claimed(), asks)
    await shop.finish(await shop.claimed(), Retry("503"))
    await shop.fold()
    assert await shop.do(lambda tx: redrive(tx, shop.books, Filter(job_id=job))) == 1
    await shop.do(lambda tx: budgets.block(tx, "host", LATER + timedelta(minutes=1), "403"))
    assert await shop.claim() is None
    assert await shop.rows("select task_key, pool from tasks order by task_key") == [
        {"task_key": "asks", "pool": "host,mall"},
        {"task_key": "knows", "pool": None},
    ]


async def test_a_batch_may_end_in_as_many_ways_as_it_has_tasks(shop: Workshop) -> None:
    job = await shop.job(None, *range(8))
    outcomes = {
        "0": DONE,
        "1": Done([1]),
        "2": Retry("r"),
        "3": Skip("s"),
        "4": Fail("f"),
        "5": Park(ReasonClass.INVALID, "p"),
        "6": Snooze(LATER),
        "7": Wait("w", LATER),
    }

    assert await shop.finish(await shop.claimed(), outcomes) == 8

    assert await shop.outcomes(job) == {
        "0": "DONE",
        "1": "DONE",
        "2": None,
        "3": "SKIPPED",
        "4": "FAILED",
        "5": "PARKED",
        "6": None,
        "7": None,
    }
    assert sorted(place for (place,) in (await shop.places()).values()) == ["dead", "delayed", "delayed", "held WAIT"]


NASTY = ["a NUL \0 inside", "half a pair \ud800", "따옴표 ' \" \\ %s :now", "x" * 100_000, "\x7f\x01\u2028"]


@pytest.mark.parametrize("error", NASTY, ids=["nul", "surrogate", "quotes", "long", "controls"])
async def test_any_text_of_an_error_can_be_kept(shop: Workshop, error: str) -> None:
    """What a page or a market sends ends up in errors, and one that cannot be stored would stop the worker."""
    await shop.job(None, "retry", "park", "snooze", "skip")

    await shop.finish(
        await shop.claimed(),
        {
            "retry": Retry(error),
            "park": Park(ReasonClass.REJECTED, error),
            "snooze": Snooze(LATER, error),
            "skip": Skip(error),
        },
    )

    rows = {row["task_key"]: row for row in await shop.rows("select task_key, status, error_message from tasks")}
    assert {key: row["status"] for key, row in rows.items()} == {
        "retry": "RETRYING",
        "park": "FAILED",
        "snooze": "RETRYING",
        "skip": "SUCCESS",
    }
    assert len({row["error_message"] for row in rows.values()}) == 1


@pytest.mark.parametrize(
    "outcome",
    [
        Done("a NUL \0 inside"),
        Done({"deep": {"nul": "\0"}}),
        Done(object()),
        Done("x" * (1 << 20)),
        Done(spawn=()),
        Done(context={"nul": "\0"}),
        Done(context={"large": "x" * (64 << 10)}),
        Wait("k" * 201, LATER),
        Wait("nul \0", LATER),
        Snooze(LATER, pool="p" * 101),
    ],
    ids=[
        *("nul", "deep nul", "no json", "large", "fine", "nul in context", "large context", "long key", "nul in key"),
        "long pool",
    ],
)
async def test_what_cannot_be_stored_is_a_dead_letter_of_that_task_alone(shop: Workshop, outcome: Outcome) -> None:
    job = await shop.job(None, "odd", "even")

    assert await shop.finish(await shop.claimed(), {"odd": outcome}) == 2

    fine = outcome == Done(spawn=())
    assert await shop.outcomes(job) == {"odd": "DONE" if fine else "PARKED", "even": "DONE"}
    classes = await shop.rows("select reason_class from dead_letters")
    assert [row["reason_class"] for row in classes] == ([] if fine else ["INVALID"])
