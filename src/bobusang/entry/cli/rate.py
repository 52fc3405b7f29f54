"""`bobusang rate`: fees, freight, duty and tax by date."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.files import Given, Saved, fetched, saved, sent
from bobusang.entry.cli.session import Session

app = group("Fees, freight, duty and tax by date: list, import, export.")

Sheet = Annotated[str, typer.Argument(metavar="SHEET", help="fees, freight, duty or tax.")]

COLUMNS = "sheet rows"


@command(app, "list")
def list_rates(
    session: Session,
    sheet: Annotated[str | None, typer.Argument(metavar="[SHEET]", help="fees, freight, duty or tax.")] = None,
) -> None:
    """List the rows of a sheet, or the sheets."""
    if sheet is None:
        session.screen.page(session.api.get("/rates"), COLUMNS)
        return
    found = session.api.get(_path(sheet))
    if not session.screen.reads_well or not found["items"]:
        session.screen.page(found, "source")
        return
    rows = [row | {"cited": row["source"]} for row in found["items"]]
    session.screen.table(rows, " ".join(name for name in rows[0] if name != "source"))


@command(app, "import")
def import_rates(session: Session, sheet: Sheet, file: Given) -> None:
    """Add rows of a CSV file; one with the key of a row that is there takes its place, the others stay."""
    done = sent(session, _path(sheet), file)
    session.screen.done(done, "{rows} rows of {sheet} were read, {changed} of them new or changed", **done)


@command(app, "export")
def export(session: Session, sheet: Sheet, file: Saved = None) -> None:
    """Save a sheet as a CSV file that the import takes."""
    saved(session, fetched(session, f"{_path(sheet)}/file"), file)


def _path(sheet: str) -> str:
    return f"/rates/{quote(sheet, safe='')}"
