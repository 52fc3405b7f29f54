"""The docs are what the code says now: generated pages, links that lead somewhere, commands that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from bobusang import settings
from bobusang.entry.cli.root import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted({*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "README.ko.md", ROOT / "CHANGELOG.md"})

LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"`bobusang ([^`]*)`|^(?:[A-Z_]+=\S+ )*bobusang (.*)$", re.MULTILINE)
WORD = re.compile(r"[a-z][a-z-]*")
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def test_the_settings_page_is_current() -> None:
    assert (DOCS / "settings.md").read_text("utf-8") == settings.reference(), "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text("utf-8"))

    assert [link for link in links if not _leads(page, *link)] == []


def test_every_command_that_is_named_exists() -> None:
    named = {_words(one or two) for page in PAGES for one, two in CODE.findall(page.read_text("utf-8"))}

    assert named
    assert sorted(words for words in named if not _exists(words)) == []


def test_a_word_of_the_glossary_stands_for_one_thing() -> None:
    rows = ROW.findall((DOCS / "glossary.md").read_text("utf-8"))
    words = [word for row in rows if row != "word" for word in row.split(", ")]

    assert sorted({word for word in words if words.count(word) > 1}) == []


def _leads(page: Path, path: str, heading: str) -> bool:
    """Whether there is such a file, and in it such a heading."""
    found = page.parent / path if path else page
    return found.exists() and (not heading or heading in _anchors(found))


def _anchors(page: Path) -> set[str]:
    """Headings as a link names them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _words(text: str) -> tuple[str, ...]:
    """The first two words of a command, as far as they are words."""
    found = []
    for part in text.split()[:2]:
        if not WORD.fullmatch(part):
            break
        found.append(part)
    return tuple(found)


def _exists(words: tuple[str, ...]) -> bool:
    """Whether the command is there; what follows one without commands of its own is its argument."""
    command: Any = get_command(app)
    for word in words:
        commands = getattr(command, "list_commands", None)
        if commands is None:
            return True
        if word not in commands(None):
            return False
        command = command.get_command(None, word)
    return True
