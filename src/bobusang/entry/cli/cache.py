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
    _whose(session)


@command(app, "forget")
def forget(
    session: Session,
    keyword: Annotated[str, typer.Argument(metavar="KEYWORD", help="Of this keyword; `all`: all answers.")],
) -> None:
    """Forget kept answers; they are made anew when asked for."""
    done = session.api.delete(f"/cache/{quote(keyword, safe='')}")
    session.screen.done(done, "{forgotten} answers were forgotten", **done)
    _whose(session)


def _whose(session: Session) -> None:
    """Answers that are kept in a process are known to it alone."""
    if session.api.local and not session.settings().cache_url:
        session.note("these are the answers of this command alone: --url asks a running program")
