"""Files that commands send in and save: CSV tables, of which one wrong line refuses all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from bobusang.entry.cli.asked import contents
from bobusang.entry.cli.failure import Exit, Failure

if TYPE_CHECKING:
    from bobusang.entry.cli.session import Session

Given = Annotated[str, typer.Argument(metavar="FILE", help="A CSV file; - is stdin.")]
Saved = Annotated[str | None, typer.Argument(metavar="[FILE]", help="Where to save it; without one it is shown.")]


def sent(session: Session, path: str, file: str, **query: Any) -> Any:
    """Send a file; one that is wrong is a failure, for the command itself was right."""
    try:
        return session.api.call("POST", path, content=("text/csv", contents(file)), query=query)
    except Failure as failure:
        if failure.code in ("invalid", "malformed"):
            failure.exit_code = Exit.FAILED
        raise


def fetched(session: Session, path: str, **query: Any) -> bytes:
    """The bytes of a file that the API hands out."""
    asked = urlencode({name: value for name, value in query.items() if value is not None})
    return session.api.content(f"{path}?{asked}" if asked else path)


def saved(session: Session, content: bytes, file: str | None) -> None:
    """Save a file, or show it."""
    if file is None or file == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        Path(file).write_bytes(content)
    except OSError as error:
        raise Failure("failed", f"{file} cannot be written: {error.strerror}") from error
    lines = max(0, content.count(b"\n") - 1)
    session.screen.done({"file": file, "rows": lines}, "{count} rows are in {file}", count=lines, file=file)


def document(file: str) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        found = json.loads(contents(file))
    except ValueError as error:
        raise Failure("failed", f"{file} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise Failure("failed", f"{file} is no JSON object", 'write it as {"name": value}')
    return found
