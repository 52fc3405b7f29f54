"""Secrets by reference: the database names where a secret is (`env:NAME`, `file:PATH`), never what it is."""

from __future__ import annotations

import os
from pathlib import Path

from bobusang.kit.errors import Missing

LONGEST = 64 << 10
HINT = "write env:NAME for a variable of the environment, or file:PATH for a file that holds only the secret"


def secret(ref: str) -> str:
    """The secret that a reference names; what is refused names the reference, never a value."""
    kind, _, name = ref.partition(":")
    match kind:
        case "env" if name:
            found = os.environ.get(name, "")
            hint = f"set the variable {name} where the program runs"
        case "file" if name:
            found, hint = _content(name), f"put the secret into the file {name}, readable to the program"
        case _:
            raise Missing(f"'{_shown(ref)}' does not say where a secret is", hint=HINT, field="secret")
    if not found.strip():
        raise Missing(f"the secret {ref} is not there", hint=hint, field="secret")
    return found.strip()


def _content(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return file.read(LONGEST).decode()
    except (OSError, ValueError):  # not there, not ours to read, or not text
        return ""


def _shown(ref: str) -> str:
    """Whoever wrote a secret where a reference belongs does not see it again in a log."""
    return f"{ref[:2]}…" if ref else ""
