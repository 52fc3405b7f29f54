"""Stopping in the middle of work: Ctrl-C finishes what is running, kill -9 loses nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import LIVELY, Running, until, up
from tests.e2e.site import Site, serving, started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.program import Up

pytestmark = pytest.mark.xdist_group("e2e-stopping")

PAGES = 120
"""More than the two batches of fifty that the demo's fetch handler holds at once."""


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site(PAGES)) as found:
        yield found


def test_ctrl_c_finishes_what_is_running_and_the_next_start_does_the_rest(tmp_path: Path, site: Site) -> None:
    with up(tmp_path) as program:
        job = started(program, site)
        until(lambda: site.asked, "the first request for a page")
        program.interrupt()
        until(lambda: "stopping" in program.said(), "the word that it is stopping")
        assert program.get("/health/live")["status"] == "ok"

        site.open.set()

        assert program.ended() == 0
    begun = site.asked
    with up(tmp_path) as program:
        assert program.finished(job)["status"] == "SUCCESS"

    assert sum(begun.values()) < PAGES
    assert site.asked == {f"/pages/{number}": 1 for number in range(1, PAGES + 1)}


def test_ctrl_c_twice_leaves_at_once_and_gives_back_what_it_held(tmp_path: Path, site: Site) -> None:
    with up(tmp_path) as program:
        started(program, site)
        until(lambda: site.asked, "the first request for a page")
        program.interrupt()
        until(lambda: "stopping" in program.said(), "the word that it is stopping")
        program.interrupt()

        assert program.ended() == 130
    with closing(sqlite3.connect(tmp_path / "bobusang-data" / "bobusang.db")) as database:
        held = database.execute("select count(*) from queue_claims").fetchone()
        ready = database.execute("select count(*) from queue_ready").fetchone()

    assert (held, ready) == ((0,), (PAGES,))


def test_after_kill_9_the_next_start_finishes_the_job(tmp_path: Path, site: Site) -> None:
    with up(tmp_path, **LIVELY) as program:
        job = started(program, site)
        until(lambda: site.asked, "the first request for a page")
        _watch_and_leave(program, job)
        program.kill()
    site.open.set()
    with up(tmp_path, **LIVELY) as program:
        ended = program.finished(job)

    assert ended["status"] == "SUCCESS"
    assert [step["succeeded"] for step in ended["steps"]] == [PAGES + 1, PAGES, PAGES, PAGES, 1]


def _watch_and_leave(program: Up, job: int) -> None:
    """Ctrl-C of who only watches stops the watching, and says how to go on with it."""
    line = ("job", "watch", str(job), "--url", program.url)
    watcher = Running(*line, cwd=program.folder, BOBUSANG_TOKEN=program.token)
    try:
        until(lambda: f"job {job} RUNNING" in watcher.said(), "the first line of progress")
        watcher.interrupt()
        assert watcher.ended() == 130
        assert f"`bobusang job watch {job} --url {program.url}` watches it again" in watcher.said()
    finally:
        watcher.close()
