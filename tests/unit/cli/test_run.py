"""Batches on the command line: what is asked of the API, what is said, and how the belt looks."""

from __future__ import annotations

import signal
import threading
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from bobusang.entry.cli.belt import compact, drawn, in_sight, lasting
from bobusang.entry.cli.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

STAGES = ("COLLECT", "CONVERT", "IMAGE", "PRICE", "REGISTER")
NIKE = {"mall": "okmall", "brand": "나이키(NIKE)"}
STARTED = {"batch_id": "20260127_01", "created": True, "brands": [NIKE], "busy": []}


def cell(stage: str, status: str = "DONE", done: int = 0, known: int = 0, **more: Any) -> dict[str, Any]:
    found = {"created": known or done, "succeeded": done, "skipped": 0, "failed": 0, "error": None} | more
    waiting = found["created"] - found["succeeded"] - found["skipped"] - found["failed"]
    return {"stage": stage, "status": status, "waiting": waiting} | found


def batch(status: str = "RUNNING", **more: Any) -> dict[str, Any]:
    failed = {"failed": 2, "error": "a price\x1b[2J of nothing"}
    gucci = [
        cell("COLLECT", done=24_000),
        cell("CONVERT", "ERROR", 23_980, 24_000, skipped=18, **failed),
        cell("IMAGE", "RUNNING", 640, 888),
        cell("PRICE", "RUNNING", 600, 640, skipped=14),
        cell("REGISTER", "PENDING"),
    ]
    return {
        "batch_id": "20260127_01",
        "mode": "FULL",
        "status": status,
        "total_brands": 2,
        "success_brands": 1,
        "start_time": "2026-01-26T18:00:00Z",
        "end_time": None,
        "seconds": 3742.1,
        "done": 600,
        "left": 400,
        "rate": 1284.4,
        "eta_seconds": 130.0,
        "brands": [
            NIKE | {"job_id": 1, "stages": [cell(stage, done=240) for stage in STAGES]},
            {"mall": "mustit", "brand": "구찌(GUCCI)", "job_id": 2, "stages": gucci},
        ],
    } | more


def text(found: dict[str, Any], width: int, room: int = 20, lang: Any = "en") -> list[str]:
    console = Console(width=width, record=True, highlight=False, markup=False, emoji=False, file=StringIO())
    console.print(drawn(found, Words(lang), width, room))
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_the_belt_fits_eighty_columns() -> None:
    assert text(batch(), 80) == [
        "20260127_01  FULL  RUNNING  1:02:22  60%  1,284/min  2:10 left  2 failed",
        "                               COLLECT       CONVERT    IMAGE    PRICE  REGISTER",
        "나이키(NIKE) okmall                240           240      240      240       240",
        "구찌(GUCCI) mustit               24.0k  24.0k ~18 !2      640  600 ~14         ·",
        "1/2 brands                       24.2k  24.2k ~18 !2      880  840 ~14       240",
        "done   ~held or skipped   !failed",
        "! mustit 구찌(GUCCI) CONVERT: a price�[2J of nothing",
    ]


def test_a_wide_belt_tells_how_many_are_known() -> None:
    lines = text(batch(), 120, room=1, lang="ko")

    assert lines[0] == "20260127_01  FULL  RUNNING  1:02:22  60%  분당 1,284  2:10 남음  실패 2"
    assert "구찌(GUCCI) mustit" in lines[2]
    assert lines[2].split()[-5:] == ["!2", "640/888", "614/640", "~14", "·"]
    assert lines[4] == "외 브랜드 1개   완료   ~보류·건너뜀   !실패"
    assert {len(line) <= 120 for line in lines} == {True}


def test_what_failed_or_moves_is_seen_before_what_is_done() -> None:
    brands = [
        {"brand": name, "stages": [cell("COLLECT", status)]}
        for name, status in (("a", "DONE"), ("b", "PENDING"), ("c", "RUNNING"), ("d", "ERROR"))
    ]

    assert [one["brand"] for one in in_sight(brands, 2)] == ["c", "d"]
    assert [one["brand"] for one in in_sight(brands, 9)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0"), (9_999, "9999"), (23_980, "24.0k"), (100_000, "100k"), (1_000_000, "1000k")]
)
def test_a_count_takes_little_room(count: int, said: str) -> None:
    assert compact(count) == said


@pytest.mark.parametrize(("seconds", "said"), [(None, "–"), (5, "0:05"), (130, "2:10"), (3742, "1:02:22")])
def test_a_span_reads_as_on_a_watch(seconds: float | None, said: str) -> None:
    assert lasting(seconds) == said


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (["full"], {"mode": "FULL"}),
        (["partial", "--key", "k"], {"mode": "PARTIAL", "key": "k"}),
        (
            ["full", "--mall", "okmall", "--brand", "나이키(NIKE)", "--stages", "price, register", "--limit", "9"],
            {
                "mode": "FULL",
                "malls": ["okmall"],
                "brands": ["나이키(NIKE)"],
                "stages": ["price", "register"],
                "limit": 9,
            },
        ),
    ],
)
def test_a_batch_is_started(line: list[str], body: dict[str, Any], stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /batches", STARTED | {"busy": [{"mall": "mustit", "brand": "구찌"}]})

    found = run("run", *line)

    assert [(asked.method, asked.path, asked.body) for asked in stub.asked] == [("POST", "/batches", body)]
    assert found.out == "batch 20260127_01 was started for 1 brands\n"
    assert found.err == (
        "left out, because another batch has them: mustit 구찌\n"
        f"`bobusang run watch 20260127_01 --url {stub.url}` watches it\n"
    )


PREVIEWED: dict[str, Any] = {
    "items": [
        {
            "sku": "okmall-500000",
            "account": "main",
            "kind": "STOCK",
            "path": "/api/v1/products/variants.json",
            "body": "{}",
            "changes": {"order_quantity": [2, 3]},
            "why": "",
            "doubts": "",
        }
    ],
    "calls": {"stock": 1},
    "kinds": {"STOCK": 1},
    "held": 0,
    "idle": 7,
    "more": 0,
}


@pytest.mark.parametrize(
    ("line", "body"),
    [
        (["full", "--dry-run"], {"mode": "FULL"}),
        (["partial", "--dry-run", "--mall", "okmall"], {"mode": "PARTIAL", "malls": ["okmall"]}),
        (
            ["full", "--dry-run", "--stages", "price,register", "--limit", "5"],
            {"mode": "FULL", "stages": ["price", "register"], "limit": 5},
        ),
    ],
)
def test_a_dry_run_is_of_the_same_mode_and_stages(
    line: list[str], body: dict[str, Any], stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on("POST /previews", PREVIEWED)

    found = run("run", *line)

    assert [(asked.method, asked.path, asked.body) for asked in stub.asked] == [("POST", "/previews", body)]
    assert found.out.splitlines()[1:] == ["okmall-500000\tmain\tSTOCK\torder_quantity 2 → 3"]
    assert found.err == "nothing was sent; calls it would cost: 1 stock; 0 held, 7 as confirmed\n"


def test_a_dry_run_names_the_options_that_are_left_as_they_are(stub: Stub, run: Callable[..., Result]) -> None:
    doubted = PREVIEWED["items"][0] | {"doubts": "code 11 was M and is L"}
    stub.on("POST /previews", PREVIEWED | {"items": [doubted]})

    told = run("run", "partial", "--dry-run").out.splitlines()

    assert told[1:] == ["okmall-500000\tmain\tSTOCK\torder_quantity 2 → 3 (code 11 was M and is L)"]


def test_one_that_was_left_is_gone_on_with(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /batches", STARTED | {"created": False, "brands": []})

    assert run("run", "full", "--lang", "ko").out == "배치 20260127_01이(가) 이미 진행 중이어서 이어서 합니다\n"


@pytest.mark.parametrize(("status", "good", "code"), [("COMPLETED", 2, 0), ("FAILED", 1, 5), ("FAILED", 0, 1)])
def test_waiting_ends_with_what_became_of_it(
    status: str, good: int, code: int, stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on("POST /batches", STARTED)
    ended = batch(status, success_brands=good, end_time="2026-01-26T19:02:22Z", eta_seconds=None)
    stub.on("GET /batches/20260127_01", batch(), ended)
    stub.on("GET /workers", {"items": []})

    found = run("run", "full", "--wait")

    assert found.code == code
    assert (
        found.err.splitlines()[:3]
        == [
            "batch 20260127_01 was started for 1 brands",
            (
                "batch 20260127_01 RUNNING: COLLECT 24.2k, CONVERT 24.2k ~18 !2, IMAGE 880/1128, PRICE 854/880 ~14, "
                "REGISTER 240; 1,284/min, 2:10 left"
            ),
            f"no worker is running: start one with `bobusang up --url {stub.url}`",
        ]
        or found.err
    )
    assert f"status\t{status}\n" in found.out
    assert "mustit\t구찌(GUCCI)\tDONE 24.0k\tERROR 24.0k ~18 !2\tRUNNING 640/888\t" in found.out
    assert ("runs what failed again" in found.err) == (code != 0)


def test_the_newest_is_meant_where_none_is_named(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /batches", {"items": [{"batch_id": "20260127_02"}], "next": None})
    stub.on("GET /batches/20260127_02", batch("FAILED"))

    assert run("run", "show", "--json").document == batch("FAILED")
    stub.on("GET /batches", {"items": [], "next": None})
    nothing = run("run", "watch")
    assert (nothing.code, nothing.err) == (3, "there is no batch yet\n  → `bobusang run full` starts one\n")


def test_lists_are_filtered(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /batches", {"items": [batch()], "next": None})

    found = run("run", "list", "--mode", "full", "--status", "running", "--limit", "5")

    assert stub.asked[0].query == {"mode": ["full"], "status": ["running"], "limit": ["5"]}
    assert found.out.splitlines()[1].startswith("20260127_01\tFULL\tRUNNING\t2\t1\t")


def test_what_failed_runs_again(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /batches/20260127_01/retry", {"batch_id": "20260127_01", "tasks": 7, "brands": [NIKE], "busy": []})

    found = run("run", "retry", "20260127_01")

    assert found.out == "batch 20260127_01: 7 tasks of 1 brands run again\n"


def test_a_batch_runs_again_from_a_stage_on(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /batches/20260127_01/retry", {"batch_id": "20260127_01", "tasks": 1, "brands": [NIKE], "busy": []})

    run("run", "retry", "20260127_01", "--from", "price")

    assert [asked.body for asked in stub.asked] == [{"stage": "price"}]


def test_errors_are_told_by_cause(stub: Stub, run: Callable[..., Result]) -> None:
    same = {"stage": "IMAGE", "dead": 3, "brands": 2, "product": None, "task_id": 7}
    failed = [same | {"count": 413, "error": "HTTP 429 at image host"}]
    stub.on("GET /batches/20260127_01/causes", {"failed": failed, "left_out": []})

    found = run("run", "errors", "20260127_01")

    assert found.out == (
        "\n# failed\nstage\tcount\tdead\tbrands\terror\tproduct\ttask_id\n"
        "IMAGE\t413\t3\t2\tHTTP 429 at image host\t\t7\n"
    )


def test_a_batch_is_compared_with_the_one_before(stub: Stub, run: Callable[..., Result]) -> None:
    stages = [{"stage": "PRICE", "items": 9, "items_before": 7, "failed": 0, "failed_before": 1}]
    both = {"batch": {"batch_id": "20260127_02"}, "before": {"batch_id": "20260127_01"}}
    answer = both | {"seconds": 61.2, "seconds_before": 70.0, "stages": stages, "new": [], "gone": []}
    stub.on("GET /batches/20260127_02/comparison", answer)

    found = run("run", "compare", "20260127_02")

    assert found.err == "20260127_02 took 61 s, 20260127_01 took 70 s\n"
    assert found.out == "stage\titems\titems_before\tfailed\tfailed_before\nPRICE\t9\t7\t0\t1\n"


def test_cancelling_is_asked_about_and_gives_its_reason(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /batches/20260127_01/cancel", {"batch_id": "20260127_01", "cancelled": 3})

    unsure = run("run", "cancel", "20260127_01")
    found = run("run", "cancel", "20260127_01", "--why", "the wrong day", "--yes")

    assert (unsure.code, unsure.err.splitlines()[0]) == (2, "cancel batch 20260127_01?")
    assert [asked.body for asked in stub.asked] == [{"why": "the wrong day"}]
    assert found.out == "batch 20260127_01 was cancelled: 3 brands had not ended\n"


def test_a_batch_is_paused_goes_on_and_is_started_again_alike(stub: Stub, run: Callable[..., Result]) -> None:
    brand = {"mall": "okmall", "brand": "나이키(NIKE)"}
    made = {"batch_id": "20260127_02", "created": True, "brands": [brand], "busy": []}
    stub.on("POST /batches/20260127_01/pause", {"batch_id": "20260127_01", "brands": 3})
    stub.on("POST /batches/20260127_01/resume", {"batch_id": "20260127_01", "brands": 3})
    stub.on("POST /batches/20260127_01/clone", made)

    said = [run("run", what, "20260127_01").out for what in ("pause", "resume", "clone")]

    assert said == [
        "batch 20260127_01 is paused: 3 brands wait\n",
        "batch 20260127_01 goes on with 3 brands\n",
        "batch 20260127_02 was started for 1 brands\n",
    ]


def test_ctrl_c_only_stops_watching(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /batches/20260127_01", batch())
    stub.on("GET /workers", {"items": [{"is_alive": True}]})

    def interrupt() -> None:
        while len(stub.asked) < 3:
            pass
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    found = run("run", "watch", "20260127_01")
    thread.join()

    assert found.code == 130
    again = f"`bobusang run watch 20260127_01 --url {stub.url}`"
    assert found.err.endswith(f"not watching any more; the batch goes on. {again} watches it again\n")
