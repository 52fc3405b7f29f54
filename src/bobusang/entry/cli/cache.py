"""`bobusang cache`: the kept answers of searches."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Kept search answers: statistics, forget.")


@command(app, "stats")
def stats(session: Session) -> None:
    """Show how many answers are kept, and how often one was served from there."""
    session.screen.record(session.api.get("/cache/stats"))


@command(app, "forget")
def forget(
    session: Session,
    keyword: Annotated[str, typer.Argument(metavar="KEYWORD", help="Of this keyword; `all`: all answers.")],
) -> None:
    """Forget kept answers; they are made anew when asked for."""
    done = session.api.delete(f"/cache/{quote(keyword, safe='')}")
    session.screen.done(done, "{forgotten} answers were forgotten", **done)
