"""The command line: a client of the API, over HTTP or in the same process.

Nothing heavy is imported here or by a group's module: `--help` must stay quick, and shells call it for completion.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    from bobusang.entry.cli.shell import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
