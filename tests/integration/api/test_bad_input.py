"""Bad input gets a clear answer that names the field, and leaves nothing half-written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import httpx

    from tests.integration.api.door import Door

YAML = {"content-type": "application/yaml"}
JSON = {"content-type": "application/json"}
STEPS = "steps: [{name: work, type: FETCH, handler: echo}]"
BIG = "x" * 600_000
FIXED = {"name": "s", "workflow": "shop"}


def said(answer: httpx.Response) -> tuple[int, str, str | None]:
    """Status, code and field of a problem document."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["type"] == f"urn:bobusang:problem:{problem['code']}"
    assert problem["detail"]
    assert problem["title"]
    return answer.status_code, problem["code"], problem.get("field")


DEFINITIONS: dict[str, tuple[bytes, dict[str, str], tuple[int, str, str | None], str]] = {
    "broken YAML": (b"workflow: [a\nsteps: {", YAML, (422, "invalid", None), "body:2"),
    "broken JSON": (b'{"workflow": ', JSON, (400, "malformed", None), "not JSON"),
    "not UTF-8": (b"workflow: \xff\xfe", YAML, (400, "malformed", None), "not UTF-8"),
    "another kind": (b"<a/>", {"content-type": "text/xml"}, (415, "unsupported", None), "text/xml"),
    "no kind": (b"workflow: a", {}, (415, "unsupported", None), "''"),
    "empty": (b"", YAML, (422, "invalid", None), "names with values"),
    "a list": (b"- 1", YAML, (422, "invalid", None), "names with values"),
    "no steps": (b"workflow: a", YAML, (422, "invalid", "steps"), "steps"),
    "unknown key": (f"workflow: a\ncolour: red\n{STEPS}".encode(), YAML, (422, "invalid", "colour"), "body:2"),
    "unknown handler": (
        b"workflow: a\nsteps:\n  - {name: w, type: FETCH, handler: ecco}",
        YAML,
        (422, "invalid", "steps[0].handler"),
        "body:3: steps[0].handler: unknown handler 'ecco'",
    ),
    "unknown step type": (
        b"workflow: a\nsteps:\n  - name: w\n    type: FETSH\n    handler: echo",
        YAML,
        (422, "invalid", "steps[0].type"),
        "body:4: steps[0].type",
    ),
    "input that the handler does not know": (
        b"workflow: a\nsteps:\n  - {name: w, type: FETCH, handler: strict, input: {uri: $.url}}",
        YAML,
        (422, "invalid", "steps[0].input"),
        "strict",
    ),
    "bad mapping": (
        b"workflow: a\nsteps:\n  - {name: w, type: FETCH, handler: echo, input: {url: '$.['}}",
        YAML,
        (422, "invalid", "steps[0].input.url"),
        "body:3",
    ),
    "NUL": (b'{"workflow": "a\\u0000b", "steps": []}', JSON, (422, "invalid", None), "NUL"),
    "a name too long": (f"workflow: {'가' * 101}\n{STEPS}".encode(), YAML, (422, "invalid", "workflow"), "100"),
}


@pytest.mark.parametrize("case", list(DEFINITIONS))
@pytest.mark.parametrize("path", ["/workflows", "/workflows/check"])
async def test_a_bad_definition_is_refused_with_line_and_key(small: Door, path: str, case: str) -> None:
    body, headers, expected, words = DEFINITIONS[case]

    answer = await small.admin.post(path, content=body, headers=headers)

    assert (said(answer), words in answer.text) == (expected, True), answer.text
    assert (await small.get("/workflows"))["items"] == []
    assert (await small.get("/audit"))["items"] == []


async def test_all_problems_of_a_definition_are_told_at_once(small: Door) -> None:
    text = (
        "workflow: a\nsteps:\n  - {name: w, type: FETSH, handler: nobody}\n  - {name: w, type: STORE, max_retries: -1}"
    )

    problem = (await small.admin.post("/workflows?origin=shop.yaml", content=text, headers=YAML)).json()

    found = {(error["field"], error["line"]) for error in problem["errors"]}
    assert {("steps[0].type", 3), ("steps[1].max_retries", 4), ("steps[0].handler", 3)} <= found
    assert "shop.yaml:3: steps[0].type" in problem["detail"]


JOBS: dict[str, tuple[dict[str, Any], tuple[int, str, str | None]]] = {
    "no workflow": ({}, (422, "invalid", "workflow")),
    "unknown workflow": ({"workflow": "nobody"}, (404, "missing", "workflow")),
    "unknown workflow id": ({"workflow": 999}, (404, "missing", "workflow")),
    "workflow of a wrong type": ({"workflow": {"id": 1}}, (422, "invalid", "workflow")),
    "unknown field": ({"workflow": "shop", "prio": 3}, (422, "invalid", "prio")),
    "priority too high": ({"workflow": "shop", "priority": 11}, (422, "invalid", "priority")),
    "priority as text": ({"workflow": "shop", "priority": "5"}, (422, "invalid", "priority")),
    "priority as truth": ({"workflow": "shop", "priority": True}, (422, "invalid", "priority")),
    "priority as a share": ({"workflow": "shop", "priority": 1.5}, (422, "invalid", "priority")),
    "input that is a list": ({"workflow": "shop", "input": [1]}, (422, "invalid", "input")),
    "input that is null": ({"workflow": "shop", "input": None}, (422, "invalid", "input")),
    "input too large": ({"workflow": "shop", "input": {"a": BIG, "b": BIG}}, (422, "invalid", "input")),
    "NUL in a value": ({"workflow": "shop", "input": {"a": [{"b": "x\0y"}]}}, (422, "invalid", "input")),
    "NUL in a name": ({"workflow": "shop", "input": {"a\0": 1}}, (422, "invalid", "input")),
    "NUL in the key": ({"workflow": "shop", "key": "\0"}, (422, "invalid", "key")),
    "half a character": ({"workflow": "shop", "input": {"a": "\ud83e"}}, (422, "invalid", "input")),
    "a key too long": ({"workflow": "shop", "key": "k" * 201}, (422, "invalid", "key")),
    "unknown queue": ({"workflow": "shop", "queue": "FAST"}, (422, "invalid", "queue")),
    "unknown job type": ({"workflow": "shop", "job_type": "HALF"}, (422, "invalid", "job_type")),
    "time without a zone": (
        {"workflow": "shop", "scheduled_at": "2030-01-01T00:00:00"},
        (422, "invalid", "scheduled_at"),
    ),
    "time out of time": (
        {"workflow": "shop", "scheduled_at": "9999-12-31T23:59:59-14:00"},
        (422, "invalid", "scheduled_at"),
    ),
    "time before time": (
        {"workflow": "shop", "scheduled_at": "0001-01-01T00:00:00+14:00"},
        (422, "invalid", "scheduled_at"),
    ),
    "unknown target": ({"workflow": "shop", "target_id": 999}, (404, "missing", "target_id")),
    "a target of nobody": ({"target_id": 999}, (404, "missing", "target_id")),
    "an id beyond numbers": ({"workflow": "shop", "target_id": 2**63}, (422, "invalid", "target_id")),
    "after nobody": ({"workflow": "shop", "after": [{"job_id": 999}]}, (404, "missing", "after")),
    "after something wrong": (
        {"workflow": "shop", "after": [{"job_id": 1}, {"job_id": "x"}]},
        (422, "invalid", "after[1].job_id"),
    ),
}


@pytest.mark.parametrize("case", list(JOBS))
async def test_a_bad_job_is_refused_and_names_its_field(small: Door, case: str) -> None:
    await small.workflow()
    body, expected = JOBS[case]

    answer = await small.operator.post("/jobs", content=json.dumps(body), headers=JSON)

    assert said(answer) == expected, answer.text
    assert (await small.get("/jobs"))["items"] == []


async def test_what_databases_differ_in_is_refused_alike(door: Door) -> None:
    await door.workflow()
    cases = ("NUL in a value", "half a character", "an id beyond numbers", "time out of time", "input too large")
    for case in cases:
        body, expected = JOBS[case]
        answer = await door.operator.post("/jobs", content=json.dumps(body), headers=JSON)
        assert said(answer) == expected, case
    assert (await door.get("/jobs"))["items"] == []
    assert said(await door.viewer.get("/jobs/9223372036854775808")) == (422, "invalid", "job_id")
    assert said(await door.viewer.get("/jobs/9223372036854775807")) == (404, "missing", "job_id")
    assert said(await door.viewer.get("/workflows?q=%00")) == (422, "invalid", "q")


SCHEDULES: dict[str, tuple[dict[str, Any], str]] = {
    "a cron that never fires": (FIXED | {"cron": "0 0 30 2 *"}, "cron"),
    "a cron of four fields": (FIXED | {"cron": "0 0 * *"}, "cron"),
    "a cron of nonsense": (FIXED | {"cron": "every day"}, "cron"),
    "no cron": (FIXED, "cron"),
    "an unknown zone": (FIXED | {"cron": "0 0 * * *", "timezone": "Asia/Seul"}, "timezone"),
    "an unknown overlap": (FIXED | {"cron": "0 0 * * *", "overlap": "twice"}, "overlap"),
    "an unknown type": (FIXED | {"schedule_type": "SOMETIMES"}, "schedule_type"),
    "a name too long": (FIXED | {"name": "n" * 101, "cron": "0 0 * * *"}, "name"),
    "intervals upside down": (
        FIXED | {"schedule_type": "DYNAMIC", "min_interval_seconds": 100, "max_interval_seconds": 10},
        "min_interval_seconds",
    ),
    "an input too large": (FIXED | {"cron": "0 0 * * *", "input": {"a": BIG * 2}}, "input"),
}


@pytest.mark.parametrize("case", list(SCHEDULES))
async def test_a_bad_schedule_is_refused_and_names_its_field(small: Door, case: str) -> None:
    await small.workflow()
    body, field = SCHEDULES[case]

    answer = await small.operator.post("/schedules", json=body)

    assert said(answer) == (422, "invalid", field), answer.text
    assert (await small.get("/schedules"))["items"] == []


OTHERS: dict[str, tuple[str, str, Any, tuple[int, str, str | None]]] = {
    "a rate of nothing": ("PUT", "/queues/pools/p", {"rate": 0}, (422, "invalid", "rate")),
    "a rate as text": ("PUT", "/queues/pools/p", {"rate": "5"}, (422, "invalid", "rate")),
    "a pool of a job": ("PUT", "/queues/pools/job:1:fetch", {"rate": 1}, (409, "conflict", None)),
    "a pool with a comma": ("PUT", "/queues/pools/a,b", {"rate": 1}, (422, "invalid", "pool")),
    "a block in the past": (
        "POST",
        "/queues/pools/p/block",
        {"reason": "x", "until": "2020-01-01T00:00Z"},
        (422, "invalid", "until"),
    ),
    "a block without reason": ("POST", "/queues/pools/p/block", {}, (422, "invalid", "reason")),
    "resuming nothing": ("POST", "/queues/pools/p/resume", None, (404, "missing", "pool")),
    "a bad condition": (
        "PUT",
        "/target-mappings",
        {"target_type": "t", "workflow_id": 1, "condition": "__import__('os')"},
        (422, "invalid", "condition"),
    ),
    "a mapping to nobody": (
        "PUT",
        "/target-mappings",
        {"target_type": "t", "workflow_id": 9},
        (404, "missing", "workflow_id"),
    ),
    "redrive of everything": ("POST", "/dead-letters/redrive", {}, (422, "invalid", "body")),
    "redrive twice said": ("POST", "/dead-letters/redrive", {"ids": [1], "filter": {}}, (422, "invalid", "body")),
    "bulk of everything": ("POST", "/jobs/bulk", {"action": "cancel", "filter": {}}, (422, "invalid", "body")),
    "bulk of an unknown action": ("POST", "/jobs/bulk", {"action": "explode", "ids": [1]}, (422, "invalid", "action")),
    "editing nobody": ("PATCH", "/dead-letters/5", {"input": {}}, (404, "missing", "task_id")),
    "a subscriber without a host": (
        "POST",
        "/subscriptions",
        {"name": "s", "topics": "*", "url": "http://[::1"},
        (422, "invalid", "url"),
    ),
    "a subscriber inside": (
        "POST",
        "/subscriptions",
        {"name": "s", "topics": "*", "url": "inprocess:x"},
        (422, "invalid", "url"),
    ),
    "a subscriber with a password": (
        "POST",
        "/subscriptions",
        {"name": "s", "topics": "*", "url": "https://u:p@host/"},
        (422, "invalid", "url"),
    ),
    "no limit at all": ("PUT", "/workflows/1/limits", {"max_parallel_jobs": 0}, (422, "invalid", "max_parallel_jobs")),
    "limits of nobody": ("PUT", "/workflows/99/limits", {}, (404, "missing", "workflow_id")),
    "a key of an unknown role": ("POST", "/api-keys", {"name": "n", "role": "king"}, (422, "invalid", "role")),
    "a list for an object": ("POST", "/jobs", [1], (422, "invalid", "body")),
    "no body": ("POST", "/jobs", None, (422, "invalid", "body")),
}


@pytest.mark.parametrize("case", list(OTHERS))
async def test_anything_else_that_is_wrong_names_its_field(small: Door, case: str) -> None:
    await small.workflow()
    method, path, body, expected = OTHERS[case]

    answer = await small.admin.request(method, path, **({} if body is None else {"json": body}))

    assert said(answer) == expected, answer.text
    assert [act["action"] for act in (await small.get("/audit"))["items"]] == ["workflow.store"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("status=HALF", "status[0]"),
        ("stauts=FAILED", "stauts"),
        ("since=yesterday", "since"),
        ("schedule=-1", "schedule"),
        ("workflow=", "workflow"),
    ],
)
async def test_a_bad_query_names_its_field(small: Door, query: str, field: str) -> None:
    assert said(await small.viewer.get(f"/jobs?{query}")) == (422, "invalid", field)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"workflow": "shop"', (400, "malformed")),
        (b"\xff\xfe\x00", (400, "malformed")),
        (b"[" * 200_000, (400, "malformed")),
        (b'{"workflow": "shop", "input": {"a": NaN}}', (422, "invalid")),
        (b'{"workflow": "shop", "input": {"a": 1e999}}', (422, "invalid")),
        (b"nonsense", (400, "malformed")),
    ],
)
async def test_a_body_that_is_no_json_is_malformed(small: Door, body: bytes, expected: tuple[int, str]) -> None:
    await small.workflow()

    assert said(await small.operator.post("/jobs", content=body, headers=JSON))[:2] == expected


async def test_a_body_of_another_kind_is_not_read(small: Door) -> None:
    answer = await small.operator.post("/jobs", content=b"workflow=shop", headers={"content-type": "text/plain"})

    assert said(answer) == (415, "unsupported", None)


async def test_unknown_paths_and_methods_are_problems_too(small: Door) -> None:
    assert said(await small.admin.get("/nothing")) == (404, "missing", None)
    assert said(await small.admin.get("/jobs/")) == (404, "missing", None)
    assert said(await small.admin.patch("/jobs")) == (405, "not_allowed", None)
    assert said(await small.admin.get("/jobs%00/")) == (422, "invalid", "path")


async def test_two_keys_that_differ_are_refused(small: Door) -> None:
    await small.workflow()

    answer = await small.operator.post("/jobs", json={"workflow": "shop", "key": "a"}, headers={"idempotency-key": "b"})

    assert said(answer) == (422, "invalid", "key")


async def test_a_failure_of_ours_is_told_without_its_secrets(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("bobusang.views.jobs.one", broken)

    answer = await small.viewer.get("/jobs/1", headers={"x-request-id": "mine-1"})

    assert said(answer) == (500, "error", None)
    assert "hunter2" not in answer.text
    assert answer.json()["request_id"] == answer.headers["x-request-id"] == "mine-1"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_emoji_and_hangul_come_back_as_they_went(door: Door) -> None:
    words = {
        "이름": "보부상 🧺",
        "zwj": "👨‍👩‍👧‍👦",
        "quote": "'\"`\\;--%s%%",
        "empty": "",
        "number": 2**62,
        "none": None,
    }
    target = {"type": "브랜드 🏷", "key": "키🗝", "source": "몰", "name": "이름 🧵", "data": words}
    answer = await door.operator.post("/targets", json=target)
    assert {name: answer.json()[name] for name in target} == target
    await door.workflow("일 🧹", description="설명 📜")
    job_id = await door.job("일 🧹", input=words, key="키 🔑", target_id=answer.json()["id"])

    job = await door.get(f"/jobs/{job_id}")

    assert (job["input"], job["key"], job["workflow"], job["target"]) == (words, "키 🔑", "일 🧹", "키🗝")
    assert (await door.get("/jobs", workflow="일 🧹"))["items"][0]["id"] == job_id
