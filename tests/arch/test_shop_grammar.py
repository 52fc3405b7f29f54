"""The reference of the shop grammar is what the code says now: every key and word, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from bobusang.catalog.model import Group, SourceType
from bobusang.connectors.sources import declared
from bobusang.connectors.sources.declared import contract, expression, filters, when
from bobusang.connectors.sources.declared.paging import By
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.connectors.sources.declared.stream import Emits
from bobusang.stages.collect.policy import IdentityKind, Reaction

PAGE = (Path(__file__).parents[2] / "docs" / "shop-grammar.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
EXAMPLE = EXAMPLES[0]
SAID = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
MODULES = sorted(Path(declared.__file__).parent.glob("*.py"))
READING = {"text", "choice", "whole", "measured", "flag", "words", "texts", "mapping", "inner", "items", "numbers"}
READING |= {"anything", "required", "_get", "_inner_get", "_hold", "_told", "_header"}


def keys() -> set[str]:
    """The names that are read out of a mapping of a shop, wherever that is done."""
    calls = [node for path in MODULES for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    return {
        argument.value
        for call in calls
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) in READING
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value
    }


def words(text: str) -> set[str]:
    """The single words that stand in backticks, also with what they stand before (`when: …`, `STREAM.after`)."""
    return {word for quoted in re.findall(r"`([^`\n]+)`", text) for word in re.findall(r"\w+", quoted)}


def test_every_key_is_explained_and_shown() -> None:
    found = keys()

    assert len(found) > 80
    assert found - words(SAID) == set()
    assert found - {"put"} - set(re.findall(r"\w+", "".join(EXAMPLES))) == set()


def test_the_example_with_every_key_compiles(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(EXAMPLE, "utf-8")

    found = load_shop(tmp_path)

    assert {name: stream.kind.value for name, stream in found.streams.items()} == {
        "brands": "index",
        "changes": "list",
        "list": "list",
        "feed": "list",
        "detail": "item",
        "options": "part",
        "stock": "part",
    }


@pytest.mark.parametrize("text", EXAMPLES[1:])
def test_examples_of_other_intakes_compile(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop.yaml").write_text(text, "utf-8")

    assert load_shop(tmp_path).streams


@pytest.mark.parametrize(
    "known",
    [Reaction, IdentityKind, Emits, By, Group, SourceType, expression.ENGINES, when.WORDS, contract.TYPES],
    ids=lambda known: getattr(known, "__name__", str(known)[:20]),
)
def test_every_word_of_a_closed_set_is_explained(known: object) -> None:
    assert {str(word) for word in known} - words(SAID) == set()  # type: ignore[attr-defined]


def test_the_filters_are_those_of_the_code() -> None:
    table = (filters.__doc__ or "").partition("\n\n")[2].strip()

    assert table in PAGE
    assert set(re.findall(r"`(\w+)[`{]", "\n".join(row.split("|")[1] for row in table.splitlines()))) == filters.NAMES


def test_tables_name_no_key_that_is_not_read() -> None:
    known = {*keys(), "extends", *map(str, Reaction), *expression.ENGINES, *filters.NAMES}
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert len(rows) > 50
    assert set(rows) - known == set()
