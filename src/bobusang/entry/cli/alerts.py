"""`bobusang alerts`: what needs a person now."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("What needs a person now.")


@command(app, "alerts")
def alerts(
    session: Session,
    all: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List open alerts."""
    columns = f"level rule title count opened_at {'resolved_at ' if all else ''}text"
    session.show_list("/alerts", columns, open=None if all else True, limit=limit, cursor=cursor)
