"""`bobusang sheet`: suppliers' spreadsheets, looked through before anything is written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from bobusang.entry.cli.asked import Cursor, Limit, contents
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Suppliers' spreadsheets: preview, import, list, show, discard.")

File = Annotated[str, typer.Argument(metavar="FILE", help="An XLSX, XLS, CSV or TSV file.")]
Which = Annotated[int, typer.Argument(metavar="ID", help="Number of the file.")]
Supplier = Annotated[str, typer.Option("--supplier", help="Whose file it is.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="FIELD=HEADING", help="Which column is what; repeatable.")
]
HeaderRow = Annotated[
    int | None, typer.Option("--header-row", metavar="ROW", help="Which row names the columns; 0 finds it.")
]
SheetName = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Which sheet.")]
Part = Annotated[
    bool | None, typer.Option("--part/--whole", help="The file holds only some of the supplier's products, or all.")
]

COLUMNS = "id supplier name state rows accepted refused job_id created_by created_at"
FACTS = "id supplier name state sheet size rows accepted refused job_id created_by created_at updated_at"
PROBLEMS = "row column field value problem"
KINDS = "field problem count"


@command(app, "preview")
def preview(
    session: Session,
    file: File,
    supplier: Supplier,
    column: Columns = None,
    header_row: HeaderRow = None,
    sheet: SheetName = None,
    part: Part = None,
) -> None:
    """Look a file through: which column is what, what it holds, what is wrong with which cell. Nothing is imported."""
    found = _previewed(session, _sent(session, file, supplier), column, header_row, sheet, part)
    _tell(session, found)
    if not session.options.machine and not found["report"].get("lacking"):
        session.note("{command} imports it", command=session.line(f"sheet import {file} --supplier {supplier}"))


@command(app, "import")
def import_(
    session: Session,
    file: File,
    supplier: Supplier,
    column: Columns = None,
    header_row: HeaderRow = None,
    sheet: SheetName = None,
    part: Part = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until all rows are stored.")] = True,
) -> None:
    """Import a file: it is looked through first, and the columns are kept for the supplier's next file."""
    sent = _sent(session, file, supplier)
    if sent["state"] not in ("IMPORTING", "DONE"):
        found = _previewed(session, sent, column, header_row, sheet, part)
        if not session.options.machine:
            _told(session, found["report"])
        sent = session.api.post(f"/supplier-files/{sent['id']}/import")
    if sent["state"] == "DONE":
        session.screen.done(sent, "file {id} was imported already", id=sent["id"])
        return
    if not wait:
        session.screen.done(sent, "job {job} imports file {id}", job=sent["job_id"], id=sent["id"])
        return
    from bobusang.entry.cli.watching import followed

    followed(session, sent["job_id"])
    _ended(session, session.api.get(f"/supplier-files/{sent['id']}"))


@command(app, "list")
def list_files(
    session: Session,
    supplier: Annotated[str | None, typer.Option("--supplier", help="Only of this one.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List files, the newest first."""
    session.show_list("/supplier-files", COLUMNS, supplier=supplier, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, file: Which) -> None:
    """Show a file: its columns, its problems cell by cell, and how its import ended."""
    found = session.api.get(f"/supplier-files/{file}")
    session.screen.record(found, only=FACTS)
    if session.screen.reads_well:
        _tell(session, found)


@command(app, "discard")
def discard(session: Session, file: Which) -> None:
    """Throw a file away that was not imported."""
    answer = session.api.post(f"/supplier-files/{file}/discard")
    session.screen.done(answer, "file {id} was thrown away", id=file)


def _sent(session: Session, file: str, supplier: str) -> dict[str, Any]:
    name = "stdin.csv" if file == "-" else Path(file).name
    path = f"/suppliers/{quote(supplier, safe='')}/files"
    content = ("application/octet-stream", contents(file))
    found: dict[str, Any] = session.api.call("POST", path, content=content, query={"name": name})
    return found


def _previewed(
    session: Session,
    sent: dict[str, Any],
    column: list[str] | None,
    header_row: int | None,
    sheet: str | None,
    part: bool | None,
) -> dict[str, Any]:
    if sent["state"] in ("IMPORTING", "DONE"):
        return sent
    wish: dict[str, Any] = {"header_row": header_row, "sheet": sheet}
    wish["complete"] = None if part is None else not part
    if column:
        known = session.api.post(f"/supplier-files/{sent['id']}/preview", _without_none(wish))["report"]
        wish["columns"] = {**known.get("columns", {}), **dict(_pair(one) for one in column)}
        wish["columns"] = {name: heading for name, heading in wish["columns"].items() if heading and "." not in name}
    try:
        found: dict[str, Any] = session.api.post(f"/supplier-files/{sent['id']}/preview", _without_none(wish))
    except Failure as failure:
        if failure.code == "unreadable_file":
            failure.exit_code = Exit.FAILED
        raise
    return found


def _without_none(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _pair(text: str) -> tuple[str, str]:
    field, between, heading = text.partition("=")
    if not between or not field:
        raise Failure("usage", f"--column {text} is not FIELD=HEADING", "as in --column price=공급가")
    return field.strip(), heading.strip()


def _tell(session: Session, found: dict[str, Any]) -> None:
    """A file for whoever asked."""
    if session.options.machine:
        session.screen.document(found)
        return
    report = found["report"]
    if "error" in report:
        session.note("it could not be read: {why}", why=report["error"])
        return
    _told(session, report)
    if report.get("problems"):
        session.screen.title("problems")
        session.screen.table(report["problems"], PROBLEMS)
    if "import" in report:
        _ended(session, found)


def _told(session: Session, report: dict[str, Any]) -> None:
    """What was found, in few lines."""
    if not report.get("headings"):
        return
    rows = [{"field": name, "column": heading} for name, heading in report["columns"].items()]
    session.screen.title("columns")
    session.screen.table(rows, "field column")
    unread = [one for one in report["headings"] if one not in report["columns"].values()]
    if unread:
        session.note("columns that are not read: {names}", names=", ".join(unread))
    if report["lacking"]:
        session.screen.warn(session.screen.words("no column was found for {names}", names=", ".join(report["lacking"])))
        return
    text = "{products} products in {rows} rows; {refused} rows without a code, {problems} problems"
    told = {name: report[name] for name in ("products", "rows", "refused")}
    session.note(text, **told, problems=report["problem_count"])


def _ended(session: Session, found: dict[str, Any]) -> None:
    if found["state"] != "DONE":
        why = found["report"].get("error", found["state"])
        raise Failure("failed", f"file {found['id']} was not imported: {why}")
    told = found["report"]["import"]
    text = "{listed} products: {new} new, {changed} changed, {held} held, {missed} missed, {absent} gone"
    facts = {name: told[name] for name in ("listed", "new", "changed", "held", "missed", "absent")}
    session.screen.done(found, text, **facts)
    if told["state"] != "PROVED":
        session.note("what the file lacks is not missed: {why}", why=told["reason"])
