"""`bobusang record`: source records, their past, and what made each value."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Source records: look, compare, and ask why a value is what it is.")

Which = Annotated[str, typer.Argument(metavar="RECORD", help="Our number, or SOURCE/KEY as mustit/1234.")]

COLUMNS = "id source key version name brand price in_stock listed last_changed_at"
FACTS = (
    "id source type key version processing_status last_seen_at last_changed_at normalized market ai hash workflow_id"
)
CHANGES = "field group old new"
EVIDENCE = "version changed_at old new raw_id reader stream"
RAW = "id source endpoint url status media size sha256 fetched_at job_id task_id"


@command(app, "list")
def list_records(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None,
    type: Annotated[str | None, typer.Option("--type", help="Only of this type, as supplier_product.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="With this id at the source (with --source).")] = None,
    changed_since: Annotated[
        str | None, typer.Option("--changed-since", metavar="INSTANT", help="From then on (with --source).")
    ] = None,
    text: Annotated[str | None, typer.Option("--find", metavar="TEXT", help="In name, brand, model or id.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List records, those that changed last first."""
    query: dict[str, Any] = {"source": source, "type": type, "key": key, "changed_since": changed_since, "q": text}
    session.show_list("/records", COLUMNS, limit=limit, cursor=cursor, **query)


@command(app, "show")
def show(session: Session, record: Which) -> None:
    """Show a record as it is now, where it was seen, and where it came from."""
    found = session.api.get(f"/records/{_number(session, record)}")
    session.screen.record(found, only=FACTS)
    if session.screen.reads_well:
        session.screen.title("seen")
        session.screen.table(found["seen"], "scope last_seen_at last_run missed interval_seconds")
        session.screen.title("lineage")
        session.screen.table(found["lineage"], "version_id parent_id transformation raw_id reader created_at")


@command(app, "history")
def history(session: Session, record: Which, limit: Limit = 20, cursor: Cursor = None) -> None:
    """List a record's versions, newest first, with what changed in each."""
    show_versions(session, f"/records/{_number(session, record)}/history", limit, cursor)


def show_versions(session: Session, path: str, limit: int, cursor: str | None) -> None:
    """A page of versions, a line for each field that changed."""
    found = session.api.get(path, limit=limit, cursor=cursor)
    if not session.screen.reads_well:
        session.screen.page(found, "version created_at processing_status changes")
        return
    lines = [
        {"version": one["version"], "created_at": one["created_at"], **change}
        for one in found["items"]
        for change in one["changes"] or [{}]
    ]
    session.screen.page({**found, "items": lines}, "version created_at field old new")


@command(app, "diff")
def diff(
    session: Session,
    record: Which,
    old: Annotated[int | None, typer.Option("--from", min=1, metavar="VERSION", help="The one before --to.")] = None,
    new: Annotated[int | None, typer.Option("--to", min=1, metavar="VERSION", help="The newest.")] = None,
) -> None:
    """Compare two versions of a record, the last two unless said otherwise."""
    found = session.api.get(f"/records/{_number(session, record)}/diff", **{"from": old, "to": new})
    if session.screen.reads_well:
        session.note("version {old} → {new}", old=found["from_version"], new=found["to_version"])
        session.screen.table(found["changes"], CHANGES)
    else:
        session.screen.record(found)


@command(app, "why")
def why(
    session: Session,
    record: Which,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="As price or options.B1.stock.")],
    limit: Limit = 20,
) -> None:
    """Say which archived page and which reader made a value, and how it changed."""
    from urllib.parse import quote

    path = f"/records/{_number(session, record)}/fields/{quote(field)}"
    found = session.api.get(path, limit=limit)
    session.screen.record(found, only="field value version at raw_id reader stream")
    if session.screen.reads_well:
        session.screen.title("changes")
        session.screen.table(found["changes"], EVIDENCE)
        if found["raw_id"]:
            session.note("{command} shows the page", command=session.line(f"record raw {found['raw_id']}"))


@command(app, "raw")
def raw(
    session: Session,
    page: Annotated[int, typer.Argument(metavar="RAW", help="Id of the raw page.")],
    body: Annotated[bool, typer.Option("--body", help="Write its bytes to stdout.")] = False,
) -> None:
    """Show an archived page: how it came, or with --body what it said."""
    if body:
        if sys.stdout.isatty():
            raise Failure("usage", "a raw page may hold anything, also what steers a terminal", "add > FILE")
        sys.stdout.buffer.write(session.api.content(f"/raw/{page}/body"))
        return
    session.screen.record(session.api.get(f"/raw/{page}"), only=RAW)


def _number(session: Session, wanted: str) -> int:
    if wanted.isascii() and wanted.isdecimal():
        return int(wanted)
    source, slash, key = wanted.partition("/")
    if not slash or not source or not key:
        raise Failure("usage", f"'{wanted}' is no record", "write its number, or SOURCE/KEY as mustit/1234")
    found = session.api.get("/records", source=source, key=key, limit=1)["items"]
    if not found:
        raise Failure("missing", f"{source} has no record '{key}'", "`bobusang record list` shows them")
    return int(found[0]["id"])
