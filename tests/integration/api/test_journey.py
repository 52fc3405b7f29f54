"""The ways people take through the engine, by HTTP, on all three databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.engine.model import ReasonClass
from bobusang.engine.outcome import DONE, Park
from bobusang.testing.workshop import Workshop

if TYPE_CHECKING:
    from tests.integration.api.door import Door

BUG = ReasonClass.BUG
WORDS = {"brand": "스톤아일랜드", "note": "🧥 & ß — “quotes” \\ %s :id"}


async def test_a_workflow_is_stored_a_job_runs_and_its_task_tells_all(door: Door) -> None:
    workflow_id = await door.workflow("보부상 🧺")
    made = await door.operator.post(
        "/jobs", json={"workflow": "보부상 🧺", "input": WORDS, "priority": 7, "key": "열쇠 1"}
    )
    assert (made.status_code, made.json()["created"]) == (201, True)
    job_id = made.json()["id"]

    async with door.working():
        job = await door.ended(job_id)

    shown = ("workflow_id", "workflow", "status", "priority", "queue", "key", "input", "total_items", "success_count")
    assert {name: job[name] for name in shown} == {
        "workflow_id": workflow_id,
        "workflow": "보부상 🧺",
        "status": "SUCCESS",
        "priority": 7,
        "queue": "NORMAL",
        "key": "열쇠 1",
        "input": WORDS,
        "total_items": 1,
        "success_count": 1,
    }
    assert [(step["name"], step["state"], step["succeeded"]) for step in job["steps"]] == [("work", "DONE", 1)]
    assert (job["execution"]["status"], job["errors"], job["waits_for"]) == ("COMPLETED", [], [])
    assert job["created_at"].endswith("Z")
    (line,) = (await door.get(f"/jobs/{job_id}/tasks"))["items"]
    task = await door.get(f"/tasks/{line['id']}")
    seen = ("job_id", "workflow", "step", "handler", "status", "outcome", "input", "output", "attempts", "place")
    assert {name: task[name] for name in seen} == {
        "job_id": job_id,
        "workflow": "보부상 🧺",
        "step": "work",
        "handler": "echo",
        "status": "SUCCESS",
        "outcome": "DONE",
        "input": WORDS,
        "output": {"seen": WORDS},
        "attempts": [],
        "place": "NONE",
    }
    acts = [(act["actor"], act["action"], act["subject_id"]) for act in (await door.get("/audit"))["items"]]
    assert acts == [("the operator", "job.create", str(job_id)), ("the admin", "workflow.store", str(workflow_id))]


async def test_a_dead_letter_is_mended_and_driven_again(door: Door) -> None:
    await door.workflow()
    jobs = [await door.job(input={"do": "park", "page": page}) for page in range(3)]
    async with door.working():
        failed = await door.ended(jobs[0])
        for job_id in jobs[1:]:
            await door.ended(job_id)
        assert failed["status"] == "FAILED"
        (cause,) = (await door.get("/dead-letters/groups"))["items"]
        assert (cause["reason_class"], cause["count"]) == ("INVALID", 3)
        letters = (await door.get("/dead-letters", fingerprint=cause["fingerprint"]))["items"]
        assert [letter["job_id"] for letter in letters] == jobs
        task_id = letters[0]["task_id"]

        letter = await door.get(f"/dead-letters/{task_id}")
        assert [attempt["reason_class"] for attempt in letter["attempts"]] == ["INVALID"]
        assert (await door.get(f"/tasks/{task_id}"))["standing"]["place"] == "DEAD"

        mended = await door.operator.patch(f"/dead-letters/{task_id}", json={"input": {"do": "done"}})
        assert (mended.status_code, mended.json()["input"]) == (200, {"do": "done"})
        tried = await door.operator.post("/dead-letters/redrive", json={"ids": [task_id], "dry_run": True})
        assert tried.json() == {"matched": 1, "redriven": 0, "dry_run": True}
        driven = await door.operator.post("/dead-letters/redrive", json={"ids": [task_id]})
        assert driven.json() == {"matched": 1, "redriven": 1, "dry_run": False}
        assert (await door.ended(jobs[0]))["status"] == "SUCCESS"

    thrown = await door.operator.post("/dead-letters/discard", json={"filter": {"reason": "invalid"}, "limit": 1})
    assert thrown.json() == {"matched": 2, "discarded": 1, "dry_run": False}
    assert [letter["job_id"] for letter in (await door.get("/dead-letters"))["items"]] == [jobs[2]]


async def test_dead_letters_of_a_cancelled_job_do_not_stand_before_the_others(door: Door) -> None:
    shop = Workshop(door.app.engine)
    workflow_id = await door.workflow()
    cancelled = await shop.job(workflow_id, *range(3))
    alive = await shop.job(workflow_id, *range(2))
    await shop.finish(await shop.claimed(handler="echo"), lambda task: DONE if task.key == "2" else Park(BUG, "broken"))
    await door.operator.post(f"/jobs/{cancelled}/cancel")

    wanted = {"filter": {"workflow": "shop"}, "limit": 2}
    driven = await door.operator.post("/dead-letters/redrive", json=wanted)
    assert driven.json() == {"matched": 4, "redriven": 2, "dry_run": False}
    assert {letter["job_id"] for letter in (await door.get("/dead-letters"))["items"]} == {cancelled}
    refused = await door.operator.post("/dead-letters/redrive", json=wanted)
    assert (refused.status_code, refused.json()["detail"]) == (409, f"job {cancelled} was cancelled")
    assert (await door.get(f"/jobs/{alive}"))["errors"] == []


async def test_a_failed_task_is_tried_again_whether_it_is_a_dead_letter_or_not(door: Door) -> None:
    await door.workflow()
    job_id = await door.job(input={"do": "fail"})
    async with door.working():
        job = await door.ended(job_id)
        (task,) = (await door.get(f"/jobs/{job_id}/tasks", status="failed"))["items"]
        assert (job["status"], task["error_message"]) == ("FAILED", "no such page")

        again = await door.operator.post(f"/tasks/{task['id']}/retry")
        assert again.status_code == 200
        await door.ended(job_id)
    refused = await door.operator.post(f"/tasks/{task['id'] + 1_000_000}/retry")
    assert refused.status_code == 404

    retried = await door.operator.post(f"/jobs/{job_id}/retry")
    assert retried.json() == {"id": job_id, "tasks": 1}
    waiting = await door.operator.post(f"/tasks/{task['id']}/retry")
    assert (waiting.status_code, waiting.json()["code"]) == (409, "conflict")


async def test_a_schedule_is_made_paused_resumed_run_and_deleted(door: Door) -> None:
    await door.workflow()
    body = {"name": "매일 새벽", "workflow": "shop", "cron": "0 3 * * *", "timezone": "Asia/Seoul", "overlap": "skip"}
    made = await door.operator.post("/schedules", json=body)
    assert made.status_code == 201, made.text
    schedule = made.json()
    path = f"/schedules/{schedule['id']}"
    assert schedule["words"] == {"ko": "매일 03:00", "en": "every day at 03:00"}
    assert len(schedule["next_fires"]) == 5
    assert schedule["next_fires"][0] == schedule["next_run_at"]
    assert all(fire.endswith("T18:00:00Z") for fire in schedule["next_fires"])

    paused = (await door.operator.post(f"{path}/pause")).json()
    assert (paused["is_active"], paused["next_fires"]) == (False, [])
    again = await door.operator.post(f"{path}/resume")
    assert again.json()["is_active"] is True
    twice = await door.operator.post(f"{path}/resume")
    assert (twice.status_code, twice.json()["code"]) == (409, "conflict")

    ran = (await door.operator.post(f"{path}/run")).json()
    assert ran["started"] is True
    skipped = (await door.operator.post(f"{path}/run")).json()
    assert skipped == {"job_id": None, "started": False}
    fires = (await door.get(path))["fires"]
    assert [(fire["decision"], fire["job_id"], fire["job_status"]) for fire in fires] == [
        ("SKIP", None, None),
        ("START", ran["job_id"], "RUNNING"),
    ]
    assert [job["id"] for job in (await door.get("/jobs", schedule=schedule["id"]))["items"]] == [ran["job_id"]]

    changed = await door.operator.put(path, json=body | {"cron": "*/30 * * * *"})
    assert changed.json()["words"]["en"] == "every 30 minutes"
    other = await door.operator.post("/schedules", json=body | {"name": "다른"})
    clash = await door.operator.put(f"/schedules/{other.json()['id']}", json=body)
    assert (clash.status_code, clash.json()["code"], clash.json()["field"]) == (409, "conflict", "name")

    assert (await door.operator.delete(path)).status_code == 204
    assert (await door.viewer.get(path)).status_code == 404
    assert [one["name"] for one in (await door.get("/schedules"))["items"]] == ["다른"]


async def test_jobs_are_paused_resumed_and_cancelled_one_by_one_and_many_at_once(door: Door) -> None:
    await door.workflow()
    first, second, third = [await door.job(input={"page": page}) for page in range(3)]
    paused = await door.operator.post(f"/jobs/{first}/pause")
    assert paused.json() == {"id": first, "status": "RUNNING", "is_paused": True}
    assert (await door.get(f"/jobs/{first}"))["waits_for"] == ["it is paused"]
    assert (await door.operator.post(f"/jobs/{first}/resume")).json()["is_paused"] is False
    not_paused = await door.operator.post(f"/jobs/{first}/resume")
    assert (not_paused.status_code, not_paused.json()["detail"]) == (409, f"job {first} is not paused")
    assert (await door.operator.post(f"/jobs/{third}/cancel")).json()["status"] == "CANCELLED"

    wanted: dict[str, Any] = {"action": "cancel", "filter": {"workflow": "shop", "status": "running"}}
    dry = (await door.operator.post("/jobs/bulk", json=wanted | {"dry_run": True})).json()
    assert [item["id"] for item in dry["items"]] == [first, second]
    assert (await door.get(f"/jobs/{first}"))["status"] == "RUNNING"

    done = (await door.operator.post("/jobs/bulk", json={"action": "cancel", "ids": [first, third, 999_999]})).json()
    assert (done["matched"], done["succeeded"], done["failed"]) == (3, 1, 2)
    assert [(item["id"], item["ok"], (item["error"] or {}).get("code")) for item in done["items"]] == [
        (first, True, None),
        (third, False, "conflict"),
        (999_999, False, "missing"),
    ]


async def test_a_key_makes_one_job_however_often_it_is_sent(door: Door) -> None:
    await door.workflow()
    body = {"workflow": "shop", "input": {"page": 1}}
    first = await door.operator.post("/jobs", json=body, headers={"idempotency-key": "order-1"})
    second = await door.operator.post("/jobs", json=body, headers={"idempotency-key": "order-1"})
    third = await door.operator.post("/jobs", json=body | {"key": "order-1"})

    assert [answer.status_code for answer in (first, second, third)] == [201, 200, 200]
    assert [answer.json()["created"] for answer in (first, second, third)] == [True, False, False]
    assert len({answer.json()["id"] for answer in (first, second, third)}) == 1
    assert [act["action"] for act in (await door.get("/audit", subject_type="job"))["items"]] == ["job.create"]


async def test_a_job_waits_for_others_for_its_time_and_for_its_workflows_limit(door: Door) -> None:
    workflow_id = await door.workflow()
    first = await door.job()
    after = await door.job(after=[{"job_id": first, "type": "SUCCESS"}])
    later = await door.job(scheduled_at="2099-01-01T09:00:00+09:00")
    limits = {"max_parallel_jobs": 1, "max_parallel_tasks": 2, "resource_pool": None}
    assert (await door.admin.put(f"/workflows/{workflow_id}/limits", json=limits)).json() == limits
    behind = await door.job()

    full = "its workflow runs 1 jobs of at most 1"
    waits = {job: (await door.get(f"/jobs/{job}"))["waits_for"] for job in (first, after, later, behind)}
    assert waits == {
        first: [],
        after: [f"job {first} has not ended: it is RUNNING", full],
        later: ["it is scheduled for 2099-01-01 00:00:00Z", full],
        behind: [full],
    }
    assert (await door.get(f"/jobs/{after}"))["depends_on"] == [
        {"job_id": first, "type": "SUCCESS", "status": "RUNNING"}
    ]
    (line,) = (await door.get("/workflows"))["items"]
    assert (line["limits"], line["running_jobs"], line["pending_jobs"]) == (limits, 1, 3)
    assert (await door.admin.delete(f"/workflows/{workflow_id}/limits")).status_code == 204
    assert (await door.get(f"/workflows/{workflow_id}"))["limits"] is None


async def test_a_target_chooses_its_workflow(door: Door) -> None:
    cheap, dear = await door.workflow("cheap"), await door.workflow("dear")
    for workflow_id, condition, priority in ((cheap, None, 0), (dear, "grade == 'A'", 5)):
        body = {"target_type": "brand", "workflow_id": workflow_id, "condition": condition, "priority": priority}
        assert (await door.admin.put("/target-mappings", json=body)).status_code == 200
    target = {"type": "brand", "key": "스톤", "source": "okmall", "name": "스톤아일랜드", "data": {"grade": "A"}}
    made = await door.operator.post("/targets", json=target)
    assert {name: made.json()[name] for name in target} == target
    again = await door.operator.post("/targets", json=target | {"name": "Stone"})
    assert again.json()["id"] == made.json()["id"]

    answer = await door.operator.post("/jobs", json={"target_id": made.json()["id"]})

    job = await door.get(f"/jobs/{answer.json()['id']}")
    assert (job["workflow"], job["target"]) == ("dear", "스톤")
    assert [mapping["workflow"] for mapping in (await door.get("/target-mappings"))["items"]] == ["dear", "cheap"]
    assert [one["key"] for one in (await door.get("/targets", q="스", type="brand", source="okmall"))["items"]] == [
        "스톤"
    ]
    assert (await door.get("/targets", q="%"))["items"] == []


async def test_versions_of_a_workflow_are_kept_and_the_same_is_not_stored_twice(door: Door) -> None:
    steps = "steps: [{name: work, type: FETCH, handler: echo}]"
    yaml = {"content-type": "application/yaml"}
    first = await door.admin.post("/workflows", content=f"workflow: a_b\n{steps}", headers=yaml)
    same = await door.admin.post("/workflows", content=f"{steps}\nworkflow: a_b", headers=yaml)
    changed = await door.admin.post("/workflows", content=f"workflow: a_b\ntolerance: 0.5\n{steps}", headers=yaml)
    await door.workflow("aXb")

    assert [(one.status_code, one.json()["version"], one.json()["changed"]) for one in (first, same, changed)] == [
        (201, 1, True),
        (200, 1, False),
        (201, 2, True),
    ]
    workflow_id = first.json()["id"]
    versions = (await door.get(f"/workflows/{workflow_id}/versions"))["items"]
    assert [(one["version"], one["definition"]["tolerance"]) for one in versions] == [(2, 0.5), (1, 0.0)]
    assert [one["name"] for one in (await door.get("/workflows", q="A_B"))["items"]] == ["a_b"]
    off = await door.admin.post(f"/workflows/{workflow_id}/deactivate")
    assert off.json()["is_active"] is False
    refused = await door.operator.post("/jobs", json={"workflow": workflow_id})
    assert (refused.status_code, refused.json()["detail"]) == (409, "workflow 'a_b' is switched off")
    assert [one["name"] for one in (await door.get("/workflows", active=False))["items"]] == ["a_b"]
    assert (await door.admin.post(f"/workflows/{workflow_id}/activate")).json()["is_active"] is True
