"""What a page may say of a field besides a value: nothing, or nothing that is certain."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.document import Document


class Lack(Enum):
    """Why there is no value."""

    NOTHING = "nothing"
    """The page has nothing there."""
    UNCLEAR = "unclear"
    """There is something, and it cannot be read with certainty."""


NOTHING: Final = Lack.NOTHING
UNCLEAR: Final = Lack.UNCLEAR

Get = Callable[[Any, "Document"], Any]
"""Takes a record and its page; a value, `NOTHING` or `UNCLEAR`."""

Change = Callable[[Any, "Document"], Any]
"""A filter: takes a value and its page; another value, `NOTHING` or `UNCLEAR`."""


class Flaw(Exception):
    """Something in a shop that does not compile; whoever knows the place catches it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
