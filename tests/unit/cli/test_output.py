"""Output: data on stdout and nothing else, in the shape that was asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.entry.cli.cells import local, plain, shown
from bobusang.entry.cli.options import hoisted
from bobusang.entry.cli.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

EN = Words("en")


def jobs(*ids: int) -> list[dict[str, Any]]:
    return [{"id": one, "workflow": "demo", "status": "SUCCESS", "input": {"page": one}} for one in ids]


def test_a_list_in_a_pipe_is_whole_and_separated_by_tabs(stub: Stub, run: Callable[..., Result]) -> None:
    error = "스톤 아일랜드\tis gone\n" + "x" * 300
    stub.on("GET /dead-letters", {"items": [{"task_id": 7, "error": error}], "next": None})

    found = run("dlq", "list", "--fields", "task_id,error")

    assert found.out == f"task_id\terror\n7\t스톤 아일랜드 is gone {'x' * 300}\n"
    assert found.err == ""


def test_json_is_one_document_and_jsonl_one_line_each(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", {"items": jobs(8, 7), "next": None})

    assert run("job", "list", "--json").document == {"items": jobs(8, 7), "next": None}
    assert [json.loads(line) for line in run("job", "list", "--jsonl").out.splitlines()] == jobs(8, 7)


def test_fields_are_chosen_in_order_and_reach_inside(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", {"items": jobs(7), "next": None})

    found = run("job", "list", "--json", "--fields", "status,input.page")

    assert list(found.document["items"][0].items()) == [("status", "SUCCESS"), ("input.page", 7)]


def test_a_field_that_is_not_there_is_a_mistake(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", {"items": jobs(7), "next": None})

    found = run("job", "list", "--fields", "id,statsu")

    assert found.code == 2
    assert found.err == "there is no field 'statsu'\n  → the fields are id, workflow, status, input\n"


def test_a_further_page_is_told_on_stderr_unless_quiet(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", {"items": jobs(7), "next": "abc"})

    assert run("job", "list", "--limit", "1").err == "more: --cursor abc\n"
    assert run("job", "list", "--limit", "1", "--quiet").err == ""
    assert run("job", "list", "--limit", "1", "--json").err == ""


def test_a_short_answer_is_completed_up_to_the_limit(stub: Stub, run: Callable[..., Result]) -> None:
    pages = [{"items": [], "next": "a"}, {"items": jobs(9), "next": "b"}, {"items": jobs(7, 5), "next": "c"}]
    stub.on("GET /tasks", *pages)

    found = run("task", "list", "--limit", "3", "--json", "--fields", "id")

    assert found.document == {"items": [{"id": 9}, {"id": 7}, {"id": 5}], "next": "c"}
    assert [asked.query for asked in stub.asked] == [
        {"limit": ["3"]},
        {"limit": ["3"], "cursor": ["a"]},
        {"limit": ["2"], "cursor": ["b"]},
    ]


def test_korean_headers_but_english_json(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /jobs/7/cancel", {"id": 7, "status": "CANCELLED", "is_paused": False})

    assert run("job", "cancel", "7", "--lang", "ko").out == "작업 7을(를) 취소했습니다\n"
    assert run("job", "cancel", "7", "--lang", "ko", "--json").document["status"] == "CANCELLED"


def test_language_comes_from_the_environment(
    stub: Stub, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("POST /jobs/7/pause", {"id": 7})
    monkeypatch.setenv("LANG", "ko_KR.UTF-8")
    assert run("job", "pause", "7").out == "작업 7을(를) 일시정지했습니다\n"

    monkeypatch.setenv("BOBUSANG_LANG", "en")
    assert run("job", "pause", "7").out == "job 7 is paused\n"


def test_a_record_in_a_pipe_is_names_and_values(bare: Callable[..., Result]) -> None:
    found = bare("version", "--fields", "version")

    assert found.out.startswith("version\t")
    assert bare("version").out.strip() == found.out.split("\t")[1].strip()


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        (["--json", "job", "list"], ["job", "list", "--json"]),
        (["--home", "x", "-q", "job", "list"], ["job", "list", "--home", "x", "-q"]),
        (["--lang=ko", "job", "show", "--", "-1"], ["job", "show", "--lang=ko", "--", "-1"]),
        (["job", "list", "--json"], ["job", "list", "--json"]),
        (["--help"], ["--help"]),
        (["--home"], ["--home"]),
        ([], []),
    ],
)
def test_shared_options_may_stand_before_the_command(line: list[str], moved: list[str]) -> None:
    assert hoisted(line) == moved


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (None, "", "–"),
        ("", "", "–"),
        (True, "", "yes"),
        (1234567, "total_items", "1,234,567"),
        (1234567, "job_id", "1234567"),
        (0.5, "", "0.5"),
        (1800.0, "value", "1800"),
        ({"a": "가"}, "", '{"a": "가"}'),
        ("\x1b[31mred\x07", "", "�[31mred�"),
    ],
)
def test_how_a_value_is_shown(value: object, name: str, text: str) -> None:
    assert shown(value, EN, name) == text


def test_an_instant_is_shown_in_the_zone_of_this_machine() -> None:
    instant = "2026-11-16T02:42:17.590085Z"

    assert shown(instant, EN) == local(instant)
    assert len(local(instant)) == len("2026-11-16 02:42:17")
    assert plain(instant) == instant
