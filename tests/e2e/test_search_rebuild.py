"""A rebuild beside a running program: whoever is asked, the one that leads does it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bobusang import migrations
from tests.e2e.program import LIVELY, bobusang, until, up
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.program import Up


def rebuilt(found: Up) -> dict[str, Any]:
    progress: dict[str, Any] = found.get("/search/status")["rebuild"]
    return progress


def test_a_command_beside_a_program_watches_the_rebuild_of_that(tmp_path: Path) -> None:
    with up(tmp_path) as found:
        until(lambda: found.get("/search/status")["products"] == 0, "the first index")
        found.post("/products", {"mall": "okmall", "product_id": "1", "name": "나이키 패딩"})
        until(lambda: found.get("/search/status")["products"] == 1, "finding it")

        done = bobusang("search", "rebuild", "--json", cwd=tmp_path)

        assert (done.code, done.document) == (0, rebuilt(found))
        assert done.document == {
            "number": 2,
            "under_way": False,
            "phase": "done",
            "done": 1,
            "total": 1,
            "error": None,
        }


def test_of_two_programs_the_one_that_stays_does_what_the_killed_one_was_asked(
    tmp_path: Path, fresh_postgres: str
) -> None:
    wait_for(migrations.upgrade(fresh_postgres))
    with ExitStack() as stack:
        chosen = {"BOBUSANG_DATABASE_URL": fresh_postgres, **LIVELY}
        first, second = (stack.enter_context(up(tmp_path, **chosen)) for _ in range(2))
        until(lambda: second.get("/search/status")["products"] == 0, "the first index")
        before = rebuilt(second)["number"]
        second.post("/products", {"mall": "okmall", "product_id": "1", "name": "나이키 패딩"})

        asked = {one.post("/search/rebuild", {})["number"] for one in (first, second)}
        first.kill()
        until(lambda: not rebuilt(second)["under_way"], "the end of the rebuild")

        assert asked <= {before + 1, before + 2}  # the first may have ended before the second was asked for
        assert rebuilt(second) == {
            "number": max(asked),
            "under_way": False,
            "phase": "done",
            "done": 1,
            "total": 1,
            "error": None,
        }
        until(lambda: second.get("/search?keyword=%ED%8C%A8%EB%94%A9")["total"] == 1, "finding it")
