"""Exit codes and error documents: what a script can rely on."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (400, "malformed", 2),
        (401, "unauthorised", 6),
        (403, "forbidden", 6),
        (404, "missing", 3),
        (409, "conflict", 4),
        (409, "duplicate", 4),
        (422, "invalid", 2),
        (429, "throttled", 1),
        (500, "error", 1),
        (503, "unavailable", 7),
    ],
)
def test_a_problem_becomes_an_exit_code(
    status: int, code: str, exit_code: int, stub: Stub, run: Callable[..., Result]
) -> None:
    stub.problem("GET /jobs/7", status, code, "it is so", hint="do this")

    said, told = run("job", "show", "7"), run("job", "show", "7", "--json")

    assert (said.code, said.out, said.err) == (exit_code, "", "it is so\n  → do this\n")
    assert (told.code, told.err) == (exit_code, "")
    assert told.document == {"error": {"code": code, "message": "it is so", "hint": "do this"}}


def test_fields_that_are_wrong_are_named(stub: Stub, run: Callable[..., Result]) -> None:
    errors = [{"field": "priority", "message": "is too large"}, {"field": "input", "message": "is required"}]
    stub.problem("POST /jobs", 422, "invalid", "two things are wrong", errors=errors)

    found = run("job", "start", "demo")

    assert found.err == "two things are wrong\n  priority: is too large\n  input: is required\n"


def test_nobody_there_is_unreachable(bare: Callable[..., Result]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = bare("job", "list", "--url", f"http://127.0.0.1:{taken.getsockname()[1]}")

    assert found.code == 7
    assert "cannot be reached" in found.err


def test_an_address_that_is_none_is_a_usage_error(bare: Callable[..., Result]) -> None:
    assert bare("job", "list", "--url", "localhost").code == 2


@pytest.mark.parametrize("status", [200, 404, 502])
def test_somebody_else_there_is_said_so(status: int, stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", "<html>a proxy</html>", status=status)

    found = run("job", "list")

    assert found.code == (3 if status == 404 else 7)
    assert "--url" in found.err


def test_without_a_database_nothing_is_made(bare: Callable[..., Result], tmp_path: Path) -> None:
    found = bare("job", "list")

    assert found.code == 7
    assert found.err == (
        "there is no database at bobusang-data/bobusang.db\n"
        "  → start one with `bobusang up`, or name its folder with --home, or a server with --url\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("BOBUSANG_PORT", "eighty", "BOBUSANG_PORT"),
        ("BOBUSANG_PROT", "80", "did you mean BOBUSANG_PORT?"),
        ("BOBUSANG_CONFIG", "nowhere.toml", "nowhere.toml, which does not exist"),
    ],
)
def test_a_wrong_setting_is_named(
    variable: str, value: str, said: str, bare: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)

    found = bare("job", "list")

    assert found.code == 2
    assert said in found.err


def test_the_key_is_sent_and_comes_from_the_environment_too(
    stub: Stub, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("GET /jobs", {"items": [], "next": None})
    run("job", "list", "--token", "bobu_given")
    monkeypatch.setenv("BOBUSANG_TOKEN", "bobu_set")
    run("job", "list")

    assert [asked.token for asked in stub.asked] == ["Bearer bobu_given", "Bearer bobu_set"]


def test_the_address_comes_from_the_environment_unless_a_folder_is_named(
    stub: Stub, bare: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.on("GET /jobs", {"items": [], "next": None})
    monkeypatch.setenv("BOBUSANG_URL", stub.url)

    assert bare("job", "list").code == 0
    assert bare("job", "list", "--home", "nowhere").code == 7


def test_our_own_bug_is_said_to_be_one(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /jobs", {"unexpected": "shape"})

    found = run("job", "list")

    assert found.code == 1
    assert found.err.startswith("this is a bug: KeyError")
    assert "Traceback" not in found.err
