"""Text in a table that is saved as CSV: what a spreadsheet would run as a formula is marked as text, and read back."""

from __future__ import annotations

import re

_STEERING = "=+\\-@\t\r\n＝＋－＠"
"""A cell that begins so is run, in the full width of Korean and Japanese keyboards too."""
_RUN = re.compile(f"'*[{_STEERING}]")
_MARKED = re.compile(f"'+[{_STEERING}]")


def defused(text: str) -> str:
    """The text as a cell that is only shown."""
    return f"'{text}" if _RUN.match(text) else text


def plain(cell: str) -> str:
    """What such a cell says: `plain(defused(text))` is the text, whatever it is."""
    return cell[1:] if _MARKED.match(cell) else cell
