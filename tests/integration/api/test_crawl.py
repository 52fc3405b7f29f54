"""Crawls through the API over a sandbox: started once for a key, their tasks and their progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.api.shopfront import Shopfront, trading

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.api.door import Door


@pytest.fixture
async def front(url: str, tmp_path: Path) -> AsyncIterator[Shopfront]:
    async with trading(url, tmp_path, size=120) as found:
        yield found


async def seller(front: Shopfront) -> str:
    """A small seller that is known to us."""
    sellers: dict[str, int] = (await front.sandbox.world())["sellers"]
    found = min((count, name) for name, count in sellers.items() if count >= 3)[1]
    assert (await front.door.operator.post("/sellers", json={"seller_id": found})).status_code == 201
    return found


async def walked(door: Door, path: str, **query: Any) -> list[dict[str, Any]]:
    """All of a list, three at a time."""
    found, cursor = [], None
    while True:
        page = await door.get(path, limit=3, **query, **({"cursor": cursor} if cursor else {}))
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


async def test_a_crawl_is_started_once_for_a_key_and_its_tasks_are_shown(front: Shopfront) -> None:
    door, name = front.door, await seller(front)
    body = {"seller_id": name}
    first = await door.operator.post("/crawl/start", json=body, headers={"Idempotency-Key": "cron-1"})
    again = await door.operator.post("/crawl/start", json={**body, "key": "cron-1"})
    assert (first.status_code, first.json()["created"]) == (201, True)
    assert (again.status_code, again.json()) == (200, {"job_id": first.json()["job_id"], "created": False})
    both = await door.operator.post("/crawl/start", json={**body, "key": "a"}, headers={"Idempotency-Key": "b"})
    assert (both.status_code, both.json()["field"]) == (422, "key")
    acts = (await door.get("/audit", action="crawl.start"))["items"]
    assert [act["after"] for act in acts] == [{"job_id": first.json()["job_id"], "mode": "FULL", "key": "cron-1"}]

    async with door.working():
        assert (await door.ended(first.json()["job_id"]))["status"] == "SUCCESS"
    tasks = await walked(door, "/crawl/tasks", seller=name)
    assert {(task["seller"], task["mall"], task["status"], task["retries"]) for task in tasks} == {
        (name, "mustit", "SUCCESS", 0)
    }
    assert [task["id"] for task in tasks] == sorted((task["id"] for task in tasks), reverse=True)
    lists = await walked(door, "/crawl/tasks", seller=name, endpoint="list")
    assert [(task["page"], task["item"]) for task in lists] == [(len(lists) - at, None) for at in range(len(lists))]
    items = {task["item"] for task in await walked(door, "/crawl/tasks", seller=name, endpoint="detail")}
    assert len(tasks) == len(lists) + 2 * len(items)
    assert await walked(door, "/crawl/tasks", seller=name, status="FAILED") == []
    (run,) = (await door.get("/crawl/progress", seller=name))["items"]
    assert {one: run[one] for one in ("job_id", "mode", "status", "tasks", "states", "ratios")} == {
        "job_id": first.json()["job_id"],
        "mode": "FULL",
        "status": "SUCCESS",
        "tasks": len(tasks),
        "states": {"SUCCESS": len(tasks)},
        "ratios": {"SUCCESS": 1.0},
    }
    (known,) = (await door.get("/sellers"))["items"]
    assert (known["quality"], known["last_run_at"]) == (100.0, run["started_at"])


async def test_waiting_tasks_and_the_next_run_come_first(front: Shopfront) -> None:
    door, name = front.door, await seller(front)
    async with door.working():
        first = (await door.operator.post("/crawl/start", json={"seller_id": name})).json()["job_id"]
        await door.ended(first)
        second = (await door.operator.post("/crawl/start", json={"seller_id": name, "mode": "partial"})).json()[
            "job_id"
        ]
        await door.ended(second)
    runs = (await door.get("/crawl/progress", limit=1))["items"]
    more = (await door.get("/crawl/progress", limit=1, cursor=(await door.get("/crawl/progress", limit=1))["next"]))[
        "items"
    ]
    assert [(run["job_id"], run["mode"]) for run in [*runs, *more]] == [(second, "PARTIAL"), (first, "FULL")]
    jobs = [task["job_id"] for task in await walked(door, "/crawl/tasks")]
    assert jobs == sorted(jobs, reverse=True)
    assert set(jobs) == {first, second}


async def test_what_must_not_be_crawled_is_refused_with_what_to_do(front: Shopfront) -> None:
    door, name = front.door, await seller(front)
    unknown = await door.operator.post("/crawl/start", json={"seller_id": "nobody"})
    assert (unknown.status_code, unknown.json()["hint"]) == (404, "`bobusang seller add nobody --mall mustit` adds it")
    (known,) = (await door.get("/sellers"))["items"]
    await door.operator.post(f"/sellers/{known['id']}/pause", json={"reason": "휴가"})
    paused = await door.operator.post("/crawl/start", json={"seller_id": name})
    assert (paused.status_code, paused.json()["detail"], paused.json()["hint"]) == (
        409,
        f"seller mustit/{name} is paused: 휴가",
        f"`bobusang seller resume {known['id']}` lets it be crawled again",
    )
    await door.operator.post(f"/sellers/{known['id']}/resume")
    await door.admin.post("/sources/mustit/disable", json={"why": "they asked us to stop"})
    off = await door.operator.post("/crawl/start", json={"seller_id": name})
    assert (off.status_code, off.json()["detail"]) == (409, "the source mustit is off")
    assert (await door.viewer.get("/crawl/tasks", params={"seller": "nobody"})).status_code == 404
