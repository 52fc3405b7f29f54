"""Every note has its Korean, with the same blanks, and every table's header too."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bobusang.entry.cli
from bobusang.entry.cli.korean import NOTES
from bobusang.entry.cli.korean_headers import HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = sorted(Path(bobusang.entry.cli.__file__).parent.glob("*.py"))
SPOKEN = {"note": 0, "words": 0, "title": 0, "confirm": 0, "done": 1, "_line": 1, "each": 3, "Check": 0}
NAMED = {"text", "advice", "hint"}


def spoken() -> Iterator[str]:
    """The texts in the code that are said by `Words`."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                at = SPOKEN.get(name, len(node.args))
                yield from (text for each in node.args[at : at + 1] for text in constants(each))
                yield from (text for each in node.args[3:4] if name == "Check" for text in constants(each))
                yield from (text for each in node.keywords if each.arg == "text" for text in constants(each.value))


def constants(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text) if text.strip():
            yield text
        case ast.IfExp():
            yield from constants(node.body)
            yield from constants(node.orelse)


def test_every_note_has_its_korean() -> None:
    found = set(spoken())

    assert len(found) > 60
    assert found - NOTES.keys() == set()


@pytest.mark.parametrize(("english", "korean"), NOTES.items())
def test_the_korean_fills_the_same_blanks(english: str, korean: str) -> None:
    assert sorted(re.findall(r"{\w+}", korean)) == sorted(re.findall(r"{\w+}", english))


def test_every_column_has_its_korean() -> None:
    columns = {
        name
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Assign)
        and getattr(node.targets[0], "id", "") in ("COLUMNS", "STEPS", "FACTS", "CAUSES", "COUNTS", "only", "columns")
        for text in constants(node.value)
        for name in text.split()
    }

    assert len(columns) > 60
    assert {name.rpartition(".")[2].replace("_", " ") for name in columns} - HEADERS.keys() == set()
