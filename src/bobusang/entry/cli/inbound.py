"""`bobusang inbound`: the webhooks that suppliers send, and what became of them."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Webhooks of suppliers: list, show, read again.")

COLUMNS = "id source event state attempts received_at done_at note"
FACTS = "id source event state attempts received_at done_at note sha256 content"


@command(app, "list")
def list_events(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None,
    state: Annotated[str | None, typer.Option("--state", help="RECEIVED, DONE or FAILED.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List webhooks, newest first, with what became of each."""
    session.show_list("/inbound", COLUMNS, source=source, state=state, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, event: Annotated[int, typer.Argument(metavar="ID", help="Our number of it.")]) -> None:
    """Show a webhook with what was sent."""
    session.screen.record(session.api.get(f"/inbound/{event}"), only=FACTS)


@command(app, "retry")
def retry(
    session: Session,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")],
    event: Annotated[int, typer.Option("--id", min=0, help="Only this one, by our number.")] = 0,
) -> None:
    """Read webhooks again that could not be read, once the shop is mended."""
    found = session.api.post("/inbound/retry", {"source": source, "event_id": event})
    session.screen.done(found, "{events} webhooks of {source} are read again", events=found["events"], source=source)
