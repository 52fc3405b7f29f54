"""The house rules that no linter knows."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "bobusang"
MODULES = sorted(SOURCE.rglob("*.py"))
LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-dev.lock", ROOT / "tests" / "servers" / "postgres.lock"]
NAMES_WITHOUT_MEANING = {"utils", "util", "helpers", "helper", "common", "manager", "base", "misc"}
MOST_LINES = 450


def test_every_name_means_something() -> None:
    nameless = [path for path in SOURCE.rglob("*") if path.stem in NAMES_WITHOUT_MEANING]

    assert nameless == []


def test_every_module_says_what_lives_in_it() -> None:
    silent = [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text("utf-8")))]

    assert silent == []


def test_every_folder_of_modules_is_a_package() -> None:
    """Without `__init__.py` import-linter does not see a folder, and its arrows go unchecked."""
    unseen = {path.parent for path in MODULES if not path.with_name("__init__.py").exists()}

    assert unseen == set()


def test_no_module_is_too_long_to_read() -> None:
    readable = [path for path in MODULES if path.parent.name != "versions"]  # a revision is written once, by a tool
    long = {path: lines for path in readable if (lines := len(path.read_text("utf-8").splitlines())) > MOST_LINES}

    assert long == {}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_pins_every_requirement_and_names_no_address(lock: Path) -> None:
    text = lock.read_text("utf-8")
    requirements = [line for line in text.splitlines() if re.match(r"[A-Za-z]", line)]

    assert requirements
    assert [line for line in requirements if not re.match(r"[\w.\[\],-]+==[\w.]+", line)] == []
    assert re.search(r"://|^\s*(-i|-f|--index|--extra-index|--find|--trusted|-e)\b", text, re.MULTILINE) is None


def test_the_locks_agree() -> None:
    base, dev = (dict(re.findall(r"^([\w.-]+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE)) for lock in LOCKS[:2])

    assert {name: dev.get(name) for name in base} == base


def test_the_lock_holds_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["postgres"], *extras["mariadb"], *extras["redis"]]
    locked = re.findall(r"^([\w.-]+)==", LOCKS[0].read_text("utf-8"), re.MULTILINE)

    assert {re.split(r"[^\w.-]", one)[0].lower() for one in asked} <= set(locked)


@pytest.mark.parametrize("command", ["demo", "test"])
def test_the_commands_of_the_readme_exist(command: str) -> None:
    assert f"make {command}" in (ROOT / "README.md").read_text("utf-8")
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
