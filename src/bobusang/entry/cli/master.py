"""`bobusang master`: the market's own lists."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.files import Given, sent
from bobusang.entry.cli.session import Session

app = group("The market's lists of brands, categories, colours, sizes: list, import, fetch.")

Shrink = Annotated[bool, typer.Option("--shrink", help="It may have lost more than a fifth of its rows.")]

COLUMNS = "market kind version rows imported_at"
TAKEN = "kind version rows added_count changed_count vanished_count"


@command(app, "list")
def list_masters(session: Session) -> None:
    """List the newest version of each list."""
    session.screen.page(session.api.get("/masters"), COLUMNS)


@command(app, "import")
def import_master(
    session: Session,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="brands, categories, colors, sizes, size_details, …")],
    file: Given,
    shrink: Shrink = False,
) -> None:
    """Import one of the market's CSV files as the next version of a list."""
    try:
        done = sent(session, f"/masters/{quote(kind, safe='')}", file, shrink=shrink)
    except Failure as failure:
        if failure.code == "conflict":
            failure.hint = "see whether the file is whole; if it is, import it with --shrink"
        raise
    text = "{kind} is at version {version} with {rows} rows" if done["changed"] else "{kind} has not changed"
    session.screen.done(done, text, kind=kind, version=done["version"], rows=done["rows"])
    _vanished(session, done)


@command(app, "fetch")
def fetch(session: Session, shrink: Shrink = False) -> None:
    """Fetch all lists from where the settings say (BOBUSANG_MASTERS_URL) and import them."""
    found = session.api.post("/masters/fetch", shrink=shrink)
    session.screen.page(found, TAKEN)
    if session.screen.reads_well:
        session.note("{command} uses them", command=session.line("mapping propose"))


def _vanished(session: Session, done: dict[str, Any]) -> None:
    if done["vanished_count"] and session.screen.reads_well:
        names = ", ".join(done["vanished"][:10])
        session.note("{count} rows are gone: {names}", count=done["vanished_count"], names=names)
