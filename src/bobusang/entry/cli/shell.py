"""Runs one command line: finds the command, and says in the end what went wrong, for a person or for a program."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import typer
from typer.main import get_command

from bobusang.entry.cli.failure import Exit, Failure, failed
from bobusang.entry.cli.options import hoisted, wants_json
from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "bobusang"


def run(arguments: Sequence[str]) -> int:
    """Run it; the exit code."""
    line = hoisted(list(arguments)) or ["--help"]
    try:
        code = _dispatched(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read us has seen enough. Python would complain once more when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    except Failure as failure:
        return _tell(failure, line)
    return code


def _dispatched(line: list[str]) -> int:
    from bobusang.entry.cli.root import app

    try:
        code = get_command(app).main(args=line, prog_name=PROGRAM, standalone_mode=False)
    except BobusangError as error:
        raise failed(error) from error
    except (KeyboardInterrupt, typer.Abort):
        raise Failure("interrupted", "interrupted") from None
    except (Failure, BrokenPipeError):
        raise
    except Exception as error:
        raise _unexpected(error) from error
    return code if isinstance(code, int) else Exit.OK


def _unexpected(error: Exception) -> Failure:
    """A usage error of Typer (known by its methods: which library defines it differs by version), or our own bug."""
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else PROGRAM
        if type(error).__name__ == "NoArgsIsHelpError":
            return Failure("usage", error.format_message())
        return Failure("usage", error.format_message(), f"`{path} --help` shows how")
    if os.environ.get("BOBUSANG_LOG_LEVEL") == "DEBUG":
        raise error
    told = f"{type(error).__name__}: {error}"
    return Failure("internal", f"this is a bug: {told}", "BOBUSANG_LOG_LEVEL=DEBUG shows where")


def _tell(failure: Failure, line: list[str]) -> int:
    if wants_json(line):
        import json

        sys.stdout.write(json.dumps(failure.document(), ensure_ascii=False) + "\n")
        sys.stdout.flush()
    else:
        hint = f"\n  → {failure.hint}" if failure.hint else ""
        sys.stderr.write(f"{failure.message}{hint}\n")
    return failure.exit_code
