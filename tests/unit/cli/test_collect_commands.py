"""Sources, gate, identities, brands and runs on the command line: what is asked of the API, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

ROBOTS = {"standing": "disallowed", "line": "line 2: Disallow: /", "error": None, "crawl_delay": 5.0, "url": "u"}
WAIT = {
    "source": "okmall",
    "endpoint": None,
    "cause": "halted",
    "until": None,
    "tasks": 7,
    "reason": "a bot wall",
    "answer": "wait",
}
ENDED = {
    "id": 7,
    "status": "SUCCESS",
    "failed_count": 0,
    "steps": [{"name": "list", "created": 2, "succeeded": 2, "failed": 0, "skipped": 0, "cancelled": 0}],
}
RUN = {
    "job_id": 7,
    "source": "okmall",
    "target": "brand:a",
    "state": "PROVED",
    "listed": 9,
    "held_open": 1,
    "started_at": "2026-11-16T05:00:00Z",
    "endpoints": [{"endpoint": "list", "success": 2, "items": 9}],
}


def sent(stub: Stub) -> list[tuple[str, str, Any]]:
    return [(asked.method, asked.path, asked.body) for asked in stub.asked]


def test_enabling_says_what_robots_txt_says(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /sources/okmall/enable", {"name": "okmall", "robots": ROBOTS})

    found = run("source", "enable", "okmall", "--why", "an agreement")

    assert sent(stub) == [("POST", "/sources/okmall/enable", {"why": "an agreement"})]
    assert found.out == "okmall may be collected\n"
    assert found.err == "robots.txt: disallowed (line 2: Disallow: /), crawl-delay 5 s\n"


def test_a_robots_txt_that_could_not_be_had_is_told(stub: Stub, run: Callable[..., Result]) -> None:
    failed = ROBOTS | {"standing": "unknown", "error": "no answer within 10 s"}
    stub.on("POST /sources/okmall/enable", {"name": "okmall", "robots": failed})

    found = run("source", "enable", "okmall", "--why", "x", "--lang", "ko")

    assert found.out == "okmall을(를) 수집할 수 있습니다\n"
    assert found.err == "robots.txt: unknown: no answer within 10 s\n"


def test_enabling_without_a_reason_is_a_usage_error(stub: Stub, run: Callable[..., Result]) -> None:
    found = run("source", "enable", "okmall")

    assert (found.code, stub.asked) == (2, [])
    assert "--why" in found.err


def test_a_key_comes_from_a_file_and_is_not_shown(stub: Stub, run: Callable[..., Result], tmp_path: Path) -> None:
    stub.on("POST /sources/a%20b/key", "")
    (tmp_path / "key").write_text("open sesame\n", "utf-8")

    found = run("source", "key", "a b", "--file", "key", "--json")

    assert sent(stub) == [("POST", "/sources/a%20b/key", {"key": "open sesame"})]
    assert found.document == {"source": "a b", "key": "***"}


@pytest.mark.parametrize("content", [None, " \n"])
def test_a_key_that_is_none_is_a_usage_error(
    content: str | None, stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(content or "", "utf-8")

    found = run("source", "key", "acme", *([] if content is None else ["--file", "key"]))

    assert (found.code, stub.asked) == (2, [])
    assert found.err == ("nobody can be asked here: give --file\n" if content is None else "the key is empty\n")


def test_a_source_that_cannot_be_read_is_told_below_the_list(stub: Stub, run: Callable[..., Result]) -> None:
    said = {"enabled": False, "health": "broken", "robots": None, "gate": "broken"}
    line = {"name": "acme", "problem": "acme/shop.yaml:3: unknown key", **said}
    stub.on("GET /sources", {"items": [line], "next": None})

    found = run("source", "list", "--disabled")

    assert stub.asked[0].query == {"enabled": ["false"]}
    assert "acme\t\tfalse\tbroken\t\tbroken" in found.out
    assert found.err == "acme cannot be used: acme/shop.yaml:3: unknown key\n"


def test_the_list_ends_with_how_many_are_healthy(stub: Stub, run: Callable[..., Result]) -> None:
    lines = [
        {"name": name, "problem": None, "robots": None, "gate": "open", "enabled": on, "health": health, "origin": of}
        for name, on, health, of in (
            ("a", True, "healthy", "shipped"),
            ("b", True, "failing", "folder"),
            ("c", False, "off", "folder"),
            ("plain", True, "untried", "undescribed"),
        )
    ]
    stub.on("GET /sources", {"items": lines, "next": None})

    assert run("source", "list").err == "1 of 2 enabled sources are healthy\n"


@pytest.mark.parametrize(
    ("line", "path", "query"),
    [
        ([], "/gate", {"all": ["false"]}),
        (["--source", "okmall"], "/gate", {"all": ["false"], "source": ["okmall"]}),
        (["show", "--all"], "/gate", {"all": ["true"]}),
        (["log", "--limit", "5"], "/gate/decisions", {"limit": ["5"]}),
    ],
)
def test_the_gate_alone_shows_what_waits(
    line: list[str], path: str, query: dict[str, list[str]], stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on(f"GET {path}", {"items": [WAIT], "next": None})

    found = run("gate", *line, "--json")

    assert (found.code, found.document["items"]) == (0, [WAIT])
    assert stub.asked[0].query == query


def test_identities_are_recovered_one_by_one(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /identities/1/recover", {"id": 1})
    stub.problem("POST /identities/2/recover", 409, "conflict", "identity 2 is IDLE")

    found = run("identity", "recover", "1", "2")

    assert (found.code, found.out, found.err) == (5, "identity 1 may be used again\n", "2: identity 2 is IDLE\n")


def test_many_brands_are_accepted_after_a_question(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /brands/bulk", {"matched": 3, "changed": 0}, {"matched": 3, "changed": 3})

    asked = run("brand", "accept", "--mall", "okmall", "--q", "NIKE")
    done = run("brand", "accept", "--mall", "okmall", "--q", "NIKE", "--yes")

    body = {"action": "accept", "filter": {"mall": "okmall", "q": "NIKE"}}
    assert (asked.code, asked.err) == (2, "accept 3 brands?\n  → nobody can be asked here: add --yes\n")
    assert done.out == "3 brands were changed\n"
    assert [one.body for one in stub.asked] == [body | {"dry_run": True}] * 2 + [body]


@pytest.mark.parametrize("line", [[], ["7", "--mall", "okmall"]])
def test_brands_are_named_or_chosen(line: list[str], stub: Stub, run: Callable[..., Result]) -> None:
    found = run("brand", "block", *line)

    assert (found.code, stub.asked) == (2, [])
    assert "name brands by id, or choose them" in found.err


def test_collecting_a_malls_brands_ends_with_how_many_there_are(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /brands/collect", {"job_id": 7, "target": "index:all", "created": True})
    stub.on("GET /jobs/7", ENDED)
    stub.on("GET /collect/runs/7", RUN)
    old, new = "2026-11-15T00:00:00Z", "2026-11-16T05:00:01Z"
    brands = [{"last_seen_at": new, "created_at": made} for made in (old, new)] + [
        {"last_seen_at": old, "created_at": old}
    ]
    stub.on("GET /brands", {"items": brands[:2], "next": "x"}, {"items": brands[2:], "next": None})

    found = run("brand", "collect", "okmall", "--wait")

    assert (found.code, found.out) == (0, "2 brands of okmall were seen, 1 of them new\n")


def test_targets_of_several_kinds_are_asked_for_by_kind(stub: Stub, run: Callable[..., Result]) -> None:
    items = [{"job_id": 7, "target": "brand:a", "created": True}, {"job_id": 8, "target": "brand:b", "created": False}]
    stub.on("POST /collect", {"created": 1, "items": items}, {"created": 0, "items": []})

    line = ("collect", "partial", "mustit", "--brand", "a", "--brand", "b", "--target", "item:9", "--key", "k")
    found = run(*line)

    shared = {"source": "mustit", "mode": "PARTIAL", "key": "k"}
    assert [one.body for one in stub.asked] == [
        shared | {"kind": "brand", "keys": ["a", "b"]},
        shared | {"kind": "item", "keys": ["9"]},
    ]
    assert found.out == "job 7 collects brand:a\njob 8 collects brand:b already\n"


@pytest.mark.parametrize(
    ("kinds", "asked"),
    [(["brand", "index"], {"accepted": True}), (["item", "list"], {"kind": "list"})],
)
def test_all_means_accepted_brands_or_the_lists(
    kinds: list[str], asked: dict[str, Any], stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on("GET /sources/shop", {"kinds": kinds})
    stub.on("POST /collect", {"created": 1, "items": [{"job_id": 7, "target": "t", "created": True}]})

    found = run("collect", "full", "shop", "--all", "--json")

    assert stub.asked[-1].body == {"source": "shop", "mode": "FULL"} | asked
    assert found.document["items"] == [{"job_id": 7, "target": "t", "created": True}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], "say what: --brand, --seller or --target, or --all"),
        (["--all", "--brand", "a"], "say what: --brand, --seller or --target, or --all"),
        (["--target", "list"], "--target list: a kind and a key are expected"),
    ],
)
def test_what_to_collect_must_be_said(line: list[str], message: str, stub: Stub, run: Callable[..., Result]) -> None:
    found = run("collect", "full", "okmall", *line)

    assert (found.code, stub.asked) == (2, [])
    assert message in found.err


def test_a_source_that_is_off_ends_with_a_conflict_and_what_to_do(stub: Stub, run: Callable[..., Result]) -> None:
    stub.problem("POST /collect", 409, "conflict", "okmall is off", hint="`bobusang source enable okmall`")

    found = run("collect", "full", "okmall", "--brand", "a", "--wait")

    assert (found.code, found.err) == (4, "okmall is off\n  → `bobusang source enable okmall`\n")


def test_waiting_says_what_holds_a_run_up_and_ends_with_its_summary(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /collect", {"created": 1, "items": [{"job_id": 7, "target": "brand:a", "created": True}]})
    stub.on("GET /jobs/7", ENDED | {"status": "RUNNING"}, ENDED)
    stub.on("GET /workers", {"items": [{"is_alive": True}], "next": None})
    stub.on("GET /gate", {"items": [WAIT, WAIT | {"cause": "rate", "reason": "at its rate"}], "next": None})
    stub.on("GET /collect/runs/7", RUN)

    found = run("collect", "full", "okmall", "--brand", "a", "--wait")

    assert found.code == 0
    assert "it waits: a bot wall\n" in found.err
    assert "at its rate" not in found.err
    assert found.out.startswith("job_id\t7\nsource\tokmall\ntarget\tbrand:a\n")
    assert "# fetches\nendpoint\tsuccess" in found.out
    assert "held list --source okmall" in found.err


def test_of_several_runs_one_that_failed_ends_with_partly(stub: Stub, run: Callable[..., Result]) -> None:
    items = [{"job_id": job, "target": f"brand:{job}", "created": True} for job in (7, 8)]
    stub.on("POST /collect", {"created": 2, "items": items})
    stub.on("GET /jobs/7", ENDED)
    stub.on("GET /jobs/8", ENDED | {"id": 8, "status": "FAILED"})
    stub.on("GET /collect/runs/7", RUN)

    found = run("collect", "full", "okmall", "--brand", "7", "--brand", "8", "--wait", "--json")

    assert (found.code, found.document["items"]) == (5, [RUN])


def test_a_source_is_followed_and_its_marks_are_shown(stub: Stub, run: Callable[..., Result]) -> None:
    items = [{"job_id": 7, "target": "window:changed", "created": True}]
    stub.on("POST /collect/sync", {"created": 1, "items": items})
    mark = {"source": "ownerclan", "stream": "changed", "target": "", "until": "2026-11-16T05:00:00Z"}
    stub.on("GET /collect/marks", {"items": [mark | {"updated_at": "2026-11-16T05:01:00Z"}]})

    started = run("collect", "sync", "ownerclan", "--key", "k")
    shown = run("collect", "marks", "--source", "ownerclan", "--json")

    assert started.out == "job 7 collects window:changed\n"
    assert sent(stub)[0] == ("POST", "/collect/sync", {"source": "ownerclan", "key": "k"})
    assert shown.document["items"][0]["stream"] == "changed"
