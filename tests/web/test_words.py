"""Two languages: everything that is said has Korean, keeps its placeholders, and is said by somebody."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from bobusang.entry import web
from bobusang.entry.web.words import WORDS

FOLDER = Path(web.__file__).parent
METHODS = [("**.py", "python"), ("templates/**.html", "jinja2.ext:babel_extract")]
KEYWORDS = {"_": None, "N_": None, "gettext": None, "ngettext": (1, 2), "say": None}
PLACEHOLDERS = re.compile(r"%\(\w+\)s")


def said() -> dict[str, set[str]]:
    """Every text, and the files that say it."""
    found: dict[str, set[str]] = {}
    options = {"templates/**.html": {"extensions": "jinja2.ext.do", "silent": "false"}}
    for file, _, message, _, _ in extract_from_dir(
        str(FOLDER), METHODS, options_map=options, keywords=KEYWORDS, comment_tags=()
    ):
        for text in message[:1] if isinstance(message, tuple) else (message,):
            if text:
                found.setdefault(text, set()).add(file)
    return found


def korean() -> Catalog:
    whole = Catalog(locale="ko")
    for path in sorted((FOLDER / "locale" / "ko").glob("*.po")):
        for message in read_po(BytesIO(path.read_bytes()), locale="ko"):
            if message.id:
                whole[message.id] = message
    return whole


def test_everything_that_is_said_has_korean() -> None:
    catalogue = korean()

    without = {
        text: sorted(files) for text, files in said().items() if not (found := catalogue.get(text)) or not found.string
    }

    assert without == {}


def test_states_have_korean() -> None:
    catalogue = korean()

    assert [word.label for word in WORDS.values() if not catalogue.get(word.label)] == []


def test_nothing_is_translated_that_nobody_says() -> None:
    known = set(said())

    assert [message.id for message in korean() if message.id and _first(message.id) not in known] == []


def test_placeholders_are_kept() -> None:
    for message in korean():
        texts = [message.string] if isinstance(message.string, str) else list(message.string or ())
        for text in texts:
            assert set(PLACEHOLDERS.findall(text)) <= set(PLACEHOLDERS.findall(str(message.id))), message.id


def _first(text: object) -> object:
    return text[0] if isinstance(text, list | tuple) else text
