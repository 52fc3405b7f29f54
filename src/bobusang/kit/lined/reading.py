"""YAML or JSON, whichever a text is, within bounds."""

from __future__ import annotations

from bobusang.kit.lined import json_lines, yaml_lines
from bobusang.kit.lined.located import LARGEST, UNSTORABLE, Located, Unreadable, spot


def read(text: str) -> Located:
    """The data of a text with its lines; `Unreadable` if it is too large, broken, or holds what cannot be stored."""
    if len(text) > LARGEST or len(text.encode(errors="surrogatepass")) > LARGEST:
        raise Unreadable(f"at most {LARGEST:,} bytes are allowed", 1)
    if found := UNSTORABLE.search(text):
        raise Unreadable("a NUL or a lone surrogate is not allowed", *spot(text, found.start()))
    text = text.removeprefix("\ufeff")
    return _read_braces(text) if text.lstrip().startswith("{") else yaml_lines.read(text)


def _read_braces(text: str) -> Located:
    try:
        return json_lines.read(text)
    except Unreadable as error:
        # YAML has braces too; but who begins with one most likely meant JSON, so its error is the one to show.
        try:
            return yaml_lines.read(text)
        except Unreadable:
            raise error from None
