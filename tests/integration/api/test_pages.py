"""Pages do not shift: what comes or goes while somebody turns them is neither shown twice nor skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.testing.workshop import Workshop
from bobusang.views import audit, tasks

if TYPE_CHECKING:
    from tests.integration.api.door import Door


async def turned(door: Door, path: str, **query: Any) -> list[list[Any]]:
    """All pages of a list."""
    pages, cursor = [], None
    while True:
        found = await door.get(path, **query, **({} if cursor is None else {"cursor": cursor}))
        pages.append(found["items"])
        cursor = found["next"]
        if cursor is None:
            return pages


async def test_jobs_made_while_pages_are_turned_shift_nothing(door: Door) -> None:
    await door.workflow()
    jobs = [await door.job() for _ in range(5)]
    first = await door.get("/jobs", limit=2)
    await door.job()
    second = await door.get("/jobs", limit=2, cursor=first["next"])
    third = await door.get("/jobs", limit=2, cursor=second["next"])

    shown = [job["id"] for page in (first, second, third) for job in page["items"]]
    assert shown == list(reversed(jobs))
    assert third["next"] is None


async def test_a_page_that_is_exactly_full_is_the_last(door: Door) -> None:
    await door.workflow()
    jobs = [await door.job() for _ in range(4)]

    pages = await turned(door, "/jobs", limit=2)

    assert [[job["id"] for job in page] for page in pages] == [jobs[:1:-1], jobs[1::-1]]


async def test_filters_hold_on_every_page(door: Door) -> None:
    await door.workflow("one")
    await door.workflow("two")
    jobs = [await door.job(name) for name in ("one", "two") * 3]
    await door.operator.post(f"/jobs/{jobs[0]}/cancel")

    pages = await turned(door, "/jobs", limit=1, workflow="one", status=["running", "pending"])
    assert [[job["id"] for job in page] for page in pages] == [[jobs[4]], [jobs[2]]]
    by_id = await door.get("/jobs", workflow=(await door.get(f"/jobs/{jobs[1]}"))["workflow_id"])
    assert [job["id"] for job in by_id["items"]] == jobs[5:0:-2]
    assert (await door.get("/jobs", since="2099-01-01T00:00:00Z"))["items"] == []
    assert len((await door.get("/jobs", since="2020-01-01T00:00:00+09:00"))["items"]) == 6


@pytest.mark.parametrize("query", [{}, {"status": "PENDING"}, {"handler": "echo"}, {"step": "work"}])
async def test_tasks_are_found_window_by_window(
    door: Door, monkeypatch: pytest.MonkeyPatch, query: dict[str, str]
) -> None:
    monkeypatch.setattr(tasks, "WINDOW", 3)
    await door.workflow()
    for _ in range(8):
        await door.job()
    other = await door.workflow("rare", handler="strict", steps=[{"name": "s", "type": "FETCH", "handler": "strict"}])
    rare = await door.job(other)

    pages = await turned(door, "/tasks", limit=2, **query)

    seen = [task["id"] for page in pages for task in page]
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == (8 if "handler" in query or "step" in query else 9)
    found = await turned(door, "/tasks", limit=2, handler="strict")
    assert [task["job_id"] for page in found for task in page] == [rare]


async def test_acts_are_found_window_by_window(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "WINDOW", 3)
    await door.workflow()
    jobs = [await door.job() for _ in range(7)]
    await door.workflow("another")

    pages = await turned(door, "/audit", limit=2, action="job.create")
    assert [act["subject_id"] for page in pages for act in page] == [str(job) for job in reversed(jobs)]
    stored = await turned(door, "/audit", limit=2, actor="the admin")
    assert [act["action"] for page in stored for act in page] == ["workflow.store"] * 2
    one = await turned(door, "/audit", limit=2, subject_type="job", subject_id=str(jobs[3]))
    assert [len(page) for page in one] == [1]


async def test_tasks_that_are_claimed_meanwhile_do_not_end_a_list_of_pending_ones(door: Door) -> None:
    shop = Workshop(door.app.engine)
    await door.workflow()
    job_id = await shop.job((await door.get("/workflows"))["items"][0]["id"], *range(6))
    claimed = await shop.claimed(2, handler="echo")

    pages = await turned(door, f"/jobs/{job_id}/tasks", limit=2, status="PENDING")

    assert sum(map(len, pages)) == 4
    assert not {task["id"] for page in pages for task in page} & set(claimed.ids)


async def test_dead_letters_are_turned_oldest_first(door: Door) -> None:
    await door.workflow()
    jobs = [await door.job(input={"do": "park"}) for _ in range(3)]
    async with door.working():
        for job_id in jobs:
            await door.ended(job_id)

    pages = await turned(door, "/dead-letters", limit=2, workflow="shop", reason="INVALID")

    assert [len(page) for page in pages] == [2, 1]
    ids = [letter["task_id"] for page in pages for letter in page]
    assert ids == sorted(ids)


@pytest.mark.parametrize(
    "path",
    [
        *("/workflows", "/schedules", "/targets", "/audit", "/jobs/archive", "/alerts"),
        *("/brands", "/identities", "/gate/decisions", "/collect/runs"),
    ],
)
async def test_a_cursor_of_another_list_is_refused(small: Door, path: str) -> None:
    await small.workflow()
    await small.job()
    await small.job()
    cursor = (await small.get("/jobs", limit=1))["next"]

    answer = await small.viewer.get(path, params={"cursor": cursor})

    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["field"]) == ("invalid", "cursor")


@pytest.mark.parametrize(
    "cursor", ["x", "!!!!", "W10", "eyJ9", "한글", "AAAA" * 40, "WyJqb2JzIix0cnVlXQ", "WyJqb2JzIiwtMV0"]
)
async def test_a_cursor_that_is_none_is_refused(small: Door, cursor: str) -> None:
    answer = await small.viewer.get("/jobs", params={"cursor": cursor})

    assert (answer.status_code, answer.json()["field"]) == (422, "cursor")
