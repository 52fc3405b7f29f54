"""JSON that stands in the scripts of a page: in one with an id, or given to a variable, also as JSON inside a text."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.kit import json
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SCRIPTS = 1000

_OPENING = re.compile(r"<!--|<script\b([^>]{0,1000})>", re.IGNORECASE)
_CLOSING = re.compile(r"</script", re.IGNORECASE)
_TEXT = re.compile(r"'((?:[^'\\\r\n]|\\.)*+)'|\"((?:[^\"\\\r\n]|\\.)*+)\"", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_AFTER = re.compile(r"[ \t]{0,100}(?:;|,|\r|\n|\Z|<|//)")


def scripts(text: str) -> Iterator[tuple[str, str]]:
    """The scripts of a page, comments skipped: attributes and content."""
    at = 0
    for _ in range(MOST_SCRIPTS):
        found = _OPENING.search(text, at)
        if found is None:
            return
        if found[1] is None:
            at = text.find("-->", found.end())
            if at < 0:
                return
            continue
        closing = _CLOSING.search(text, found.end())
        if closing is None:
            return
        yield found[1], text[found.end() : closing.start()]
        at = closing.end()


def said(found: list[tuple[str, str]], name: str) -> Any:
    """What the script of that id holds, or what is given to the variable of that name.

    `NOTHING` where there is neither, `UNCLEAR` where it is no JSON, is computed, or is given twice and not alike.
    """
    marked = re.compile(rf"""\bid\s{{0,5}}=\s{{0,5}}["']?{re.escape(name)}["'\s/]""")
    for attributes, content in found:
        if marked.search(f"{attributes} "):
            return _parsed(content)
    given = re.compile(rf"(?<![\w$.-])(?:window\.|self\.)?{re.escape(name)}\s{{0,20}}=(?!=)\s{{0,20}}")
    values = [_value(content, one.end()) for _, content in found for one in given.finditer(content)]
    if not values:
        return NOTHING
    return values[0] if all(each == values[0] for each in values) else UNCLEAR


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (Invalid, msgspec.MsgspecError):
        return UNCLEAR


def _value(text: str, at: int) -> Any:
    """The value that begins here: JSON, or a text; one with JSON in it is that JSON."""
    if literal := _TEXT.match(text, at):
        value, end = _unescaped(literal[1] if literal[1] is not None else literal[2]), literal.end()
        if value.lstrip()[:1] in ("{", "["):
            value = _parsed(value)
    else:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return UNCLEAR
    return value if _AFTER.match(text, end) else UNCLEAR


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(
        lambda one: chr(int(one[1] or one[2], 16)) if one[3] is None else _SIGNS.get(one[3], one[3]), text
    )


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = JSONDecoder(parse_constant=_refuse)
