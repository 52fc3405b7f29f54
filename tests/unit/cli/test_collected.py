"""Sellers, crawls, records and held writes on the command line: what is sent, and what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

NONE: dict[str, Any] = {"items": [], "next": None}


def sent(stub: Stub) -> list[tuple[str, str, Any]]:
    return [(asked.method, asked.path, asked.body) for asked in stub.asked if asked.method != "GET"]


def test_a_seller_is_added_with_what_was_given_and_no_more(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /sellers", {"id": 3, "cadence": "6h"}, status=201)

    found = run("seller", "add", "luxboy", "--every", "6h", "--adaptive", "--company", "㈜럭스")

    assert (found.code, found.out) == (0, "seller luxboy was added (id 3), crawled every 6h\n")
    assert found.err == f"`bobusang crawl start luxboy --url {stub.url}` crawls it now\n"
    body = {"seller_id": "luxboy", "mall": "mustit", "cadence": "6h", "adaptive": True, "company": "㈜럭스"}
    assert sent(stub) == [("POST", "/sellers", body)]


def test_a_seller_goes_by_the_malls_name_or_by_our_number(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /sellers", {"items": [{"id": 3}], "next": None}, NONE, NONE, {"items": [{"id": 3}, {"id": 4}]})
    stub.on("POST /sellers/3/pause", {"id": 3})
    stub.on("POST /sellers/7/resume", {"id": 7})

    assert run("seller", "pause", "luxboy", "--reason", "휴가").out == "seller 3 is paused\n"
    assert run("seller", "resume", "7").out == "seller 7 is crawled again\n"
    assert sent(stub) == [("POST", "/sellers/3/pause", {"reason": "휴가"}), ("POST", "/sellers/7/resume", None)]
    unknown, several = run("seller", "disable", "nobody"), run("seller", "disable", "twice")
    assert (unknown.code, unknown.err) == (3, "there is no seller 'nobody'\n  → `bobusang seller list` shows them\n")
    assert (several.code, several.err) == (2, "several malls have a seller 'twice'\n  → say which with --mall\n")


def test_an_empty_text_takes_it_away_and_the_planned_fire_is_told(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /sellers", NONE)
    stub.on("PATCH /sellers/3", {"id": 3, "next_run_at": "2026-01-28T00:00:00Z"})

    found = run("seller", "set", "3", "--every", "2d", "--contact", "", "--steady")

    assert (found.out, found.err) == ("seller 3 was changed\n", "the next fire stays at 2026-01-28T00:00:00Z\n")
    assert sent(stub) == [("PATCH", "/sellers/3", {"cadence": "2d", "contact": None, "adaptive": False})]
    assert run("seller", "set", "3").code == 2


def test_a_crawl_is_started_by_key(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /crawl/start", {"job_id": 7, "created": True}, {"job_id": 7, "created": False})

    assert run("crawl", "start", "luxboy", "--partial", "--key", "k").out == "job 7 was started\n"
    assert run("crawl", "start", "luxboy", "--key", "k", "-q").out == "job 7 has this key already\n"
    assert [body["mode"] for _, _, body in sent(stub)] == ["PARTIAL", "FULL"]


def test_progress_has_a_column_for_each_state_there_is(stub: Stub, run: Callable[..., Result]) -> None:
    runs = [
        {"job_id": 2, "seller": "a", "mode": "FULL", "status": "RUNNING", "tasks": 3, "started_at": "now",
         "states": {"RETRY": 1, "SUCCESS": 2}},
        {"job_id": 1, "seller": "a", "mode": "FULL", "status": "FAILED", "tasks": 1, "started_at": "then",
         "states": {"FAILED": 1}},
    ]  # fmt: skip
    stub.on("GET /crawl/progress", {"items": runs, "next": None})

    lines = run("crawl", "progress", "--seller", "a").out.splitlines()

    assert lines[0].split("\t")[5:8] == ["states.SUCCESS", "states.FAILED", "states.RETRY"]
    assert [line.split("\t")[5:8] for line in lines[1:]] == [["2", "", "1"], ["", "1", ""]]


def test_a_record_goes_by_number_or_by_source_and_key(stub: Stub, run: Callable[..., Result]) -> None:
    story = {"field": "options.B/1.stock", "value": 0, "version": 3, "at": "x", "raw_id": 5, "reader": "r",
             "stream": "list", "changes": []}  # fmt: skip
    stub.on("GET /records", {"items": [{"id": 9}], "next": None}, NONE)
    stub.on("GET /records/9/fields/options.B/1.stock", story)

    found = run("record", "why", "mustit/A/1", "options.B/1.stock")

    assert found.code == 0
    assert stub.asked[0].query == {"source": ["mustit"], "key": ["A/1"], "limit": ["1"]}
    assert f"`bobusang record raw 5 --url {stub.url}` shows the page" in found.err
    assert (run("record", "show", "mustit/none").code, run("record", "show", "none").code) == (3, 2)


def test_a_raw_page_comes_as_it_was(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /raw/5/body", "<script>코트</script>")

    assert run("record", "raw", "5", "--body").out == "<script>코트</script>"
    assert run("record", "raw", "6", "--body").code == 3


def test_held_writes_are_decided_after_a_look(stub: Stub, run: Callable[..., Result]) -> None:
    told = {"matched": 3, "decided": 2, "refused_count": 1, "refused": [{"id": 8, "reason": "moved on"}]}
    stub.on("POST /held/approve", {**told, "dry_run": True}, told)

    found = run("held", "approve", "--filter", "guard=price_jump", "--yes")

    assert (found.code, found.out) == (5, "2 were written\n")
    assert found.err == "8: moved on\n1 could not be and stay open\n"
    wanted = {"filter": {"guard": "price_jump"}}
    assert [body for _, _, body in sent(stub)] == [wanted | {"dry_run": True}, wanted]
    asked = run("held", "reject", "--all")
    assert asked.code == 3  # the stub knows no rejecting
    stub.on("POST /held/reject", {**told, "dry_run": True})
    assert run("held", "reject", "--all").err == "reject 3 held writes?\n  → nobody can be asked here: add --yes\n"
    assert run("held", "reject", "--all", "--dry-run").out == "3 would be rejected\n"


@pytest.mark.parametrize("line", ["held approve", "held approve 7 --all", "held reject 7 --dry-run"])
def test_either_ids_or_a_filter_or_all(line: str, stub: Stub, run: Callable[..., Result]) -> None:
    assert run(*line.split()).code == 2
    assert stub.asked == []
