"""Commands that change something: what they send, what they ask first, and how partial success ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub


def sent(stub: Stub) -> list[tuple[str, str, Any]]:
    return [(asked.method, asked.path, asked.body) for asked in stub.asked]


def test_a_job_is_started_with_typed_inputs(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /jobs", {"id": 7, "created": True}, status=201)

    found = run(
        *("job", "start", "demo", "--input-json", '{"pages": 1, "deep": {"a": [1]}}'),
        *("--input", "pages=5", "--input", "brand=Stone Island", "--input", "fast=true"),
        *("--priority", "9", "--key", "k", "--after", "3"),
    )

    assert found.out == "job 7 was started\n"
    wanted = {
        "workflow": "demo",
        "input": {"pages": 5, "deep": {"a": [1]}, "brand": "Stone Island", "fast": True},
        "priority": 9,
        "key": "k",
        "after": [{"job_id": 3, "type": "SUCCESS"}],
    }
    assert sent(stub) == [("POST", "/jobs", wanted)]


def test_inputs_may_come_from_a_file(stub: Stub, run: Callable[..., Result], tmp_path: Path) -> None:
    stub.on("POST /jobs", {"id": 7, "created": False})
    (tmp_path / "in.json").write_text('{"brand": "보부상"}', "utf-8")

    found = run("job", "start", "3", "--input-json", "@in.json")

    assert found.out == "job 7 has this key already\n"
    assert sent(stub) == [("POST", "/jobs", {"workflow": 3, "input": {"brand": "보부상"}})]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input", "novalue"], "--input novalue: a name and a value are expected"),
        (["--input-json", "{"], "--input-json is not JSON"),
        (["--input-json", "[1]"], "--input-json is no JSON object"),
        (["--input-json", "@nowhere"], "nowhere cannot be read: No such file or directory"),
        (["--priority", "11"], "Invalid value"),
    ],
)
def test_a_wrong_input_is_a_usage_error(
    options: list[str], message: str, stub: Stub, run: Callable[..., Result]
) -> None:
    found = run("job", "start", "demo", *options)

    assert found.code == 2
    assert message in found.err
    assert stub.asked == []


def test_waiting_ends_with_what_came_of_the_job(stub: Stub, run: Callable[..., Result]) -> None:
    job = {
        "id": 7,
        "workflow": "demo",
        "status": "RUNNING",
        "failed_count": 2,
        "steps": [{"name": "fetch", "created": 3, "succeeded": 1, "failed": 2, "skipped": 0, "cancelled": 0}],
    }
    stub.on("POST /jobs", {"id": 7, "created": True})
    stub.on("GET /workers", {"items": [], "next": None})
    stub.on("GET /jobs/7", job, job | {"status": "FAILED"})

    found = run("job", "start", "demo", "--wait")

    assert found.code == 1
    assert found.out == "id\t7\nworkflow\tdemo\nstatus\tFAILED\nfailed_count\t2\n"
    assert found.err.splitlines() == [
        "job 7 was started",
        "job 7 RUNNING: fetch 3/3",
        f"no worker is running: start one with `bobusang up --url {stub.url}`",
        "job 7 FAILED: fetch 3/3",
        f"`bobusang dlq list --job 7 --url {stub.url}` shows what failed",
    ]


def test_some_of_several_is_partial_success(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /jobs/7/cancel", {"id": 7})
    stub.problem("POST /jobs/8/cancel", 409, "conflict", "job 8 is over: SUCCESS")

    said, told = run("job", "cancel", "7", "8", "--yes"), run("job", "cancel", "7", "8", "--yes", "--json")

    assert (said.code, said.out, said.err) == (5, "job 7 was cancelled\n", "8: job 8 is over: SUCCESS\n")
    assert told.code == 5
    assert told.document["items"] == [
        {"id": 7, "ok": True, "error": None},
        {"id": 8, "ok": False, "error": {"code": "conflict", "message": "job 8 is over: SUCCESS"}},
    ]


def test_none_of_several_ends_with_their_common_reason(stub: Stub, run: Callable[..., Result]) -> None:
    assert run("task", "retry", "7", "8").code == 3


def test_by_filter_it_is_looked_at_first(stub: Stub, run: Callable[..., Result]) -> None:
    items = [{"id": 7, "ok": True, "status": None, "error": None}]
    stub.on("POST /jobs/bulk", {"matched": 1, "succeeded": 1, "failed": 0, "dry_run": False, "items": items})

    found = run("job", "pause", "--filter", "workflow=demo", "--filter", "status=RUNNING", "--yes")

    assert (found.code, found.out) == (0, "job 7 is paused\n")
    body = {"action": "pause", "filter": {"workflow": "demo", "status": ["RUNNING"]}}
    assert sent(stub) == [("POST", "/jobs/bulk", body | {"dry_run": True}), ("POST", "/jobs/bulk", body)]


def test_nobody_is_asked_in_a_script(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /dead-letters/discard", {"matched": 4, "discarded": 0, "dry_run": True})

    found = run("dlq", "discard", "--filter", "reason=INVALID")

    assert found.code == 2
    assert found.err == "throw 4 dead letters away?\n  → nobody can be asked here: add --yes\n"
    assert [body["dry_run"] for _, _, body in sent(stub)] == [True]


def test_ten_first_unless_more_is_said(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /dead-letters/redrive", {"matched": 40, "redriven": 10, "dry_run": False})

    found = run("dlq", "retry", "--filter", "reason=TRANSPORT", "--filter", "job=7")

    assert (found.code, found.out, found.err) == (0, "10 run again\n", "30 more match\n")
    assert sent(stub)[0][2] == {"limit": 10, "filter": {"reason": "TRANSPORT", "job": 7}}


def test_named_letters_that_are_none_are_partial_success(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /dead-letters/redrive", {"matched": 1, "redriven": 1, "dry_run": False})

    assert run("dlq", "retry", "7", "8").code == 5


@pytest.mark.parametrize("line", ["job cancel", "job cancel 7 --filter status=RUNNING", "dlq retry", "dlq discard"])
def test_either_ids_or_a_filter(line: str, stub: Stub, run: Callable[..., Result]) -> None:
    assert run(*line.split()).code == 2
    assert stub.asked == []


def test_a_filter_that_is_not_known_is_a_usage_error(stub: Stub, run: Callable[..., Result]) -> None:
    found = run("dlq", "retry", "--filter", "colour=red")

    assert found.code == 2
    assert found.err == "--filter knows no 'colour'\n  → it knows reason, workflow, job, fingerprint\n"


def test_mending_one_value_keeps_the_others(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /dead-letters/7", {"task_id": 7, "input": {"page": 1, "html": "half"}})
    stub.on("PATCH /dead-letters/7", {"task_id": 7})

    assert run("dlq", "edit", "7", "--input", "html=whole").code == 0
    assert sent(stub)[-1] == ("PATCH", "/dead-letters/7", {"input": {"page": 1, "html": "whole"}})


def test_a_definition_that_is_wrong_fails_but_is_no_usage_error(
    stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "shop.yaml").write_text("workflow: shop\n", "utf-8")
    stub.problem("POST /workflows/check", 422, "invalid", "shop.yaml:1: steps: is required")

    found = run("workflow", "check", "shop.yaml")

    assert (found.code, found.err) == (1, "shop.yaml:1: steps: is required\n")
    assert stub.asked[0].query == {"origin": ["shop.yaml"]}
    assert stub.asked[0].body == "workflow: shop\n"


def test_workflows_and_schedules_go_by_name(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /workflows", {"items": [{"id": 1, "name": "demo-old"}, {"id": 2, "name": "demo"}], "next": None})
    stub.on("POST /workflows/2/deactivate", {"id": 2})

    assert run("workflow", "deactivate", "demo").out == "demo is switched off\n"
    assert run("workflow", "deactivate", "dem").code == 3


def test_a_schedule_is_of_the_kind_its_options_say(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /schedules", {"id": 4})
    kinds = [["--cron", "0 3 * * *", "--zone", "Asia/Seoul"], ["--every", "600"], []]
    for options in kinds:
        run("schedule", "add", "nightly", "--workflow", "2", *options)

    assert [asked.body["schedule_type"] for asked in stub.asked] == ["FIXED", "DYNAMIC", "MANUAL"]


def test_editing_a_schedule_keeps_what_is_not_given(stub: Stub, run: Callable[..., Result]) -> None:
    kept = {"name": "nightly", "schedule_type": "FIXED", "timezone": "Asia/Seoul", "input": {"a": 1}}
    shown = {"id": 4, "workflow_id": 2, "workflow": "demo", "next_run_at": "2026-01-01T00:00:00Z"}
    stub.on("GET /schedules/4", kept | shown | {"cron": "0 3 * * *"})
    stub.on("PUT /schedules/4", {"id": 4})

    assert run("schedule", "edit", "4", "--cron", "0 4 * * *").code == 0
    assert sent(stub)[-1][2] == kept | {"workflow": 2, "cron": "0 4 * * *"}


def test_a_pool_is_named_safely_in_a_path(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /queues/pools/host%2Fa/block", {"pool": "host/a"})

    assert run("queue", "block", "host/a", "--reason", "403").out == "host/a is blocked\n"
    assert sent(stub)[-1][2] == {"until": None, "reason": "403"}


def test_a_new_key_is_the_only_thing_on_stdout(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /api-keys", {"id": 2, "name": "ci", "role": "operator", "prefix": "bobu_abc", "key": "bobu_abcdef"})

    found = run("key", "add", "ci", "--role", "operator")

    assert (found.out, found.err) == ("bobu_abcdef\n", "keep it: it cannot be shown again\n")
