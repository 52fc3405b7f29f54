"""The page of sources keeps its word: every shipped source has a page, and every quirk a test that is there."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.extending import FILE, SHIPPED
from tests.arch.test_incidents import NAMED, ROOT, _tests

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "docs" / "sources"
PAGE = (FOLDER / "README.md").read_text("utf-8")
QUIRK = re.compile(r"^\| (\d\.\d) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w./-]+\.md)\)")


def test_every_shipped_source_has_a_page_and_fixtures() -> None:
    shipped = sorted(path.parent.name for path in SHIPPED.glob(f"*/{FILE}"))
    told = {name: row for row in PAGE.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)`", row)}

    assert [name for name in shipped if name not in told] == []
    assert [name for name in shipped if not any((SHIPPED / name / "fixtures").iterdir())] == []
    assert [link for link in LINK.findall(PAGE) if not (FOLDER / link).exists()] == []


def test_every_quirk_has_a_test_that_is_there() -> None:
    rows = QUIRK.findall(PAGE)
    named = {(path, name) for *_, last in rows for path, name in NAMED.findall(last)}

    assert len(rows) == len(re.findall(r"^\| \d", PAGE, re.MULTILINE)) >= 43
    assert [number for number, _, last in rows if not NAMED.search(last)] == []
    assert sorted(f"{path}::{name}" for path, name in named if name not in _tests(ROOT / path)) == []
    assert sorted(f"{path}::{name}" for path, name in named if name in _skipped(ROOT / path)) == []


def _skipped(path: Path) -> set[str]:
    """The tests of a file that are skipped where something is not at hand: they hold nothing there."""
    tree = ast.parse(path.read_text("utf-8"))
    whole = any("skipif" in ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign))
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {node.name for node in tests if whole or any("skipif" in ast.unparse(one) for one in node.decorator_list)}
