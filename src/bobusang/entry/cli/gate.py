"""`bobusang gate`: which sources and endpoints are not called now, until when and why."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import Group, command, group
from bobusang.entry.cli.session import Session

COLUMNS = "source endpoint cause until tasks reason"
JOURNAL = "at source endpoint answer until reason"

Source = Annotated[str | None, typer.Option("--source", help="Only of this source.")]


class Showing(Group):
    """Shows what waits when nothing else is asked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "-h")):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = group("The gate: what waits, until when and why.", Showing)


@command(app, "show")
def show(
    session: Session,
    source: Source = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what does not wait.")] = False,
) -> None:
    """Show what waits; `bobusang gate` alone does the same."""
    found = session.api.get("/gate", source=source, all=everything)
    session.screen.page(found, "source endpoint answer cause until tasks reason" if everything else COLUMNS)


@command(app, "log")
def log(session: Session, source: Source = None, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List what the gate decided, newest first."""
    session.show_list("/gate/decisions", JOURNAL, source=source, limit=limit, cursor=cursor)
