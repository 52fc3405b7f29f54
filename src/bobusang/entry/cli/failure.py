"""What went wrong with a command, and the exit code that says so to a script."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bobusang.kit.errors import BobusangError


class Exit(IntEnum):
    """The exit codes; every command uses them in the same sense."""

    OK = 0
    FAILED = 1
    USAGE = 2
    MISSING = 3
    CONFLICT = 4
    PARTIAL = 5
    UNAUTHORISED = 6
    UNREACHABLE = 7
    INTERRUPTED = 130


CODES = {
    "usage": Exit.USAGE,
    "invalid": Exit.USAGE,
    "malformed": Exit.USAGE,
    "too_large": Exit.USAGE,
    "missing": Exit.MISSING,
    "conflict": Exit.CONFLICT,
    "duplicate": Exit.CONFLICT,
    "contended": Exit.CONFLICT,
    "unauthorised": Exit.UNAUTHORISED,
    "forbidden": Exit.UNAUTHORISED,
    "unavailable": Exit.UNREACHABLE,
    "interrupted": Exit.INTERRUPTED,
}


class Failure(Exception):
    """A command ends here: `code` as the API names it, `hint` says what to do."""

    def __init__(self, code: str, message: str, hint: str = "", *, exit_code: Exit | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.exit_code = CODES.get(code, Exit.FAILED) if exit_code is None else exit_code

    def document(self) -> dict[str, dict[str, str]]:
        """The same for a machine."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


def failed(error: BobusangError) -> Failure:
    """An error of the program itself, as a command's end."""
    return Failure(error.code, error.message, error.hint)
