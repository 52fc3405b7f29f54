"""`bobusang demo`: a small real workflow on embedded SQLite, and what came of it."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Run a small real workflow.")


@command(app, "demo")
def demo(
    session: Session,
    pages: Annotated[int, typer.Option("--pages", min=1, max=100_000, help="How many pages the demo serves.")] = 500,
) -> None:
    """Run a small real workflow and show what happened.

    It serves pages on this machine; the real engine fetches, parses, counts and stores them, with SQLite in one folder
    (./bobusang-demo unless --home says otherwise). The exit code is 0 when everything ended as designed.
    """
    from bobusang.entry.cli.showing import shown

    shown(session, pages)
