"""The page of accidents keeps its word: every test it names is there, and some things cannot even be tried."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "incidents.md").read_text("utf-8")
NAMED = re.compile(r"`(tests/[\w/.-]+\.py)::(\w+)`")
ROW = re.compile(r"^\| (\d\.\d+(?:\.\d+)?[a-z]?) \|([^|]+)\|([^|]+)\| ([^|]+) \|$", re.MULTILINE)
NOT_OURS = re.compile(r"^(not ours|not yet|no accident)\b")
DECIDERS = ("price", "register")


def test_every_test_that_is_named_exists() -> None:
    named = set(NAMED.findall(PAGE))

    assert len(named) > 100
    assert sorted(f"{path}::{name}" for path, name in named if name not in _tests(ROOT / path)) == []


def test_every_accident_has_a_test_or_says_why_not() -> None:
    rows = ROW.findall(PAGE)

    assert len(rows) == len(re.findall(r"^\| \d", PAGE, re.MULTILINE))
    assert [number for number, *_ in rows] == list(dict.fromkeys(number for number, *_ in rows))
    assert [number for number, *_, last in rows if not NAMED.search(last) and not NOT_OURS.match(last)] == []


def test_no_model_has_a_say_in_prices_and_listings() -> None:
    """A language model that was asked for costs and prices invented them, with great confidence."""
    folders = [ROOT / "src" / "bobusang" / "stages" / name for name in DECIDERS]
    modules = [path for folder in folders for path in folder.rglob("*.py")]

    assert modules
    assert [path for path in modules if "bobusang.platform.model" in path.read_text("utf-8")] == []


def _tests(path: Path) -> set[str]:
    """The names of the functions of a file; none if it is not there."""
    if not path.exists():
        return set()
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
