"""`bobusang key`: API keys."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit, Yes
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("API keys.")


@command(app, "list")
def list_keys(session: Session, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List keys by name; none of them can be shown again."""
    columns = "id name role created_at last_used_at revoked_at"
    session.show_list("/api-keys", columns, limit=limit, cursor=cursor)


@command(app, "add")
def add(
    session: Session,
    name: Annotated[str, typer.Argument(help="Who uses it; it stands in the audit.")],
    role: Annotated[str, typer.Option("--role", help="viewer, operator or admin.")] = "viewer",
) -> None:
    """Make a key and show it once."""
    answer = session.api.post("/api-keys", {"name": name, "role": role})
    session.note("keep it: it cannot be shown again")
    session.screen.record(answer, line=answer["key"])


@command(app, "revoke")
def revoke(
    session: Session, key: Annotated[int, typer.Argument(metavar="KEY", help="Id of the key.")], yes: Yes = False
) -> None:
    """Let a key open nothing any more."""
    session.confirm("revoke key {id}?", yes=yes, id=key)
    answer = session.api.delete(f"/api-keys/{key}")
    session.screen.done(answer or {"id": key}, "key {id} was revoked", id=key)
