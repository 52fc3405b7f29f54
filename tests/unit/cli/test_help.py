"""Help is quick because it loads nothing; every command has it, and the shared options."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from bobusang.entry.cli.root import PLACES, Root
from bobusang.entry.cli.root import app as root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.unit.cli.conftest import Result

HEAVY = (
    *("sqlalchemy", "alembic", "fastapi", "pydantic", "uvicorn", "httpx", "rich", "structlog", "msgspec", "asyncio"),
    *("openai", "anthropic"),
    *("bobusang.engine", "bobusang.settings", "bobusang.wiring", "bobusang.entry.api", "bobusang.platform"),
)
SHARED = ("--json", "--jsonl", "--fields", "--quiet", "--no-color", "--lang", "--home", "--url", "--token")


def lines() -> Iterator[tuple[str, ...]]:
    for name, place in PLACES.items():
        found = get_command(import_module(f"bobusang.entry.cli.{place.module}").app)
        if place.alone or not isinstance(found, TyperGroup):
            yield (name,)
        else:
            yield from ((name, inner) for inner in found.commands)


@pytest.mark.parametrize("line", ["--help", "job --help", "dlq --help", "job start --help", "up --help"])
def test_help_loads_nothing_heavy(line: str) -> None:
    program = (
        "import sys; from bobusang.entry.cli import main; code = main(sys.argv[1:]); "
        f"sys.stderr.write(' '.join(name for name in sys.modules if name.startswith({HEAVY!r}))); sys.exit(code)"
    )

    found = subprocess.run(
        [sys.executable, "-c", program, *line.split()], capture_output=True, text=True, timeout=60, check=False
    )

    assert (found.returncode, found.stderr) == (0, "")
    assert "Usage: bobusang" in found.stdout


def test_bobusang_alone_lists_the_groups(bare: Callable[..., Result]) -> None:
    assert bare() == bare("--help")
    assert all(f"  {name} " in bare().out for name in PLACES)


def test_a_group_alone_is_a_usage_error_with_its_help(bare: Callable[..., Result]) -> None:
    found = bare("job")

    assert (found.code, found.out) == (2, "")
    assert "Usage: bobusang job COMMAND" in found.err


@pytest.mark.parametrize("line", list(lines()), ids=" ".join)
def test_every_command_has_help_and_the_shared_options(line: tuple[str, ...], bare: Callable[..., Result]) -> None:
    found = bare(*line, "--help")

    assert found.code == 0
    assert [option for option in SHARED if option not in found.out] == []


def test_the_list_and_the_modules_agree() -> None:
    found = get_command(root)

    assert isinstance(found, Root)
    assert [name for name in PLACES if found.get_command(None, name) is None] == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["jbo", "list"], "there is no command 'jbo'; did you mean 'job'?"),
        (["job", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["job", "list", "--limt", "5"], "No such option: --limt"),
        (["job", "show"], "Missing argument 'JOB'."),
        (["job", "show", "seven"], "Invalid value for"),
        (["job", "list", "--lang", "fr"], "Invalid value for --lang: 'fr' is neither ko nor en"),
    ],
)
def test_a_wrong_line_is_a_usage_error_that_says_why(
    line: list[str], message: str, bare: Callable[..., Result]
) -> None:
    found = bare(*line)

    assert (found.code, found.out) == (2, "")
    assert message in found.err
    assert "--help` shows how" in found.err


def test_a_wrong_line_with_json_is_a_document(bare: Callable[..., Result]) -> None:
    found = bare("--json", "jbo")

    assert (found.code, found.err) == (2, "")
    assert found.document["error"]["code"] == "usage"
