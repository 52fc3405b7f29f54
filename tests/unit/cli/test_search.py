"""`bobusang search rebuild`: asked for once, watched to its end, whichever process is at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.entry.cli.options import Options
from bobusang.entry.cli.rebuilt import followed
from bobusang.entry.cli.screen import Screen
from bobusang.entry.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

WAITING = {"number": 3, "under_way": True, "phase": "waiting", "done": 0, "total": 0, "error": None}
READING = WAITING | {"phase": "reading", "done": 5_000, "total": 12_000}
DONE = READING | {"phase": "done", "done": 12_000, "under_way": False}


def standing(*progress: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"products": 1, "rebuild": one} for one in progress]


def test_a_rebuild_is_watched_to_its_end(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /search/rebuild", WAITING, status=202)
    stub.on("GET /search/status", *standing(WAITING, READING, DONE))

    found = run("search", "rebuild")

    assert (found.code, found.out) == (0, "the index was made anew: 12,000 products\n")
    assert found.err == "waiting 0 / 0\nreading 5,000 / 12,000\n"
    assert [(one.method, one.path, one.query) for one in stub.asked] == [
        ("POST", "/search/rebuild", {}),
        *[("GET", "/search/status", {"wait": ["5"]})] * 3,
    ]


def test_a_rebuild_that_failed_says_why(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /search/rebuild", WAITING, status=202)
    stub.on("GET /search/status", *standing(READING | {"under_way": False, "error": "the disk is full"}))

    found = run("search", "rebuild", "--quiet")

    assert (found.code, found.out) == (1, "")
    assert found.err.splitlines()[0] == "the disk is full"


class Terminal(Screen):
    """A screen on which progress moves."""

    live = True


def test_on_a_terminal_a_bar_moves(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.on("GET /search/status", *standing(READING, DONE))

    with Session(Options(url=stub.url)) as session:
        session._screen = Terminal(session.options, session.words)
        found = followed(session, WAITING)

    assert found == DONE
    assert "12000/12000" in capsys.readouterr().err
