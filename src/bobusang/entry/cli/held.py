"""`bobusang held`: what a guard stopped, looked at and decided."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Filters, Limit, Yes, each, filters
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Held writes: what a guard stopped until a person decides.")

Several = Annotated[list[int] | None, typer.Argument(metavar="HELD...", help="Ids of held writes.")]
All = Annotated[bool, typer.Option("--all", help="All that are open.")]

COLUMNS = "id source target key guard readings created_at reason"
FACTS = (
    "id source target key record_id guard reason readings state job_id raw_id stream reader scope unknown created_at "
    "decided_at decided_by"
)
FILTERS = ("source", "target", "guard", "key")


@command(app, "list")
def list_held(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None,
    guard: Annotated[str | None, typer.Option("--guard", help="Only of this guard, as price_jump.")] = None,
    target: Annotated[str | None, typer.Option("--target", help="Only of this target, as seller:luxboy.")] = None,
    state: Annotated[str | None, typer.Option("--state", help="HELD, APPROVED, REJECTED or SUPERSEDED.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List held writes, newest first; the open ones unless --state says otherwise."""
    query: dict[str, Any] = {"source": source, "guard": guard, "target": target, "state": state}
    session.show_list("/held", COLUMNS, limit=limit, cursor=cursor, **query)


@command(app, "show")
def show(session: Session, held: Annotated[int, typer.Argument(metavar="HELD", help="Id of the held write.")]) -> None:
    """Show what a held write would change, why it was stopped, and where it comes from."""
    found = session.api.get(f"/held/{held}")
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    session.screen.title("changes")
    session.screen.table(found["diff"], "field before after")
    if found["raw_id"]:
        session.note("{command} shows the page", command=session.line(f"record raw {found['raw_id']}"))


@command(app, "approve")
def approve(
    session: Session,
    held: Several = None,
    filter: Filters = None,
    all: All = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Write what was held: those named, those that match a filter, or all."""
    _decide(session, "approve", held, filter, everything=all, yes=yes, dry_run=dry_run)


@command(app, "reject")
def reject(
    session: Session,
    held: Several = None,
    filter: Filters = None,
    all: All = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Say no: the same readings are neither held nor written again for thirty days."""
    _decide(session, "reject", held, filter, everything=all, yes=yes, dry_run=dry_run)


def _decide(
    session: Session,
    action: str,
    held: list[int] | None,
    pairs: list[str] | None,
    *,
    everything: bool,
    yes: bool,
    dry_run: bool,
) -> None:
    if sum(map(bool, (held, pairs, everything))) != 1:
        hint = f"as `bobusang held {action} 7 8` or --filter guard=price_jump"
        raise Failure("usage", "name held writes by id, choose them with --filter, or say --all", hint)
    if held:
        if dry_run:
            raise Failure("usage", "--dry-run goes with --filter or --all", "`bobusang held show` shows one")
        text = "held write {id} was written" if action == "approve" else "held write {id} was rejected"
        each(session, held, lambda id: session.api.post(f"/held/{id}/{action}"), text=text)
        return
    _many(session, action, {"filter": filters(pairs, FILTERS)}, yes=yes, dry_run=dry_run)


def _many(session: Session, action: str, body: dict[str, Any], *, yes: bool, dry_run: bool) -> None:
    path = f"/held/{action}"
    preview = session.api.post(path, body | {"dry_run": True})
    if dry_run:
        text = "{count} would be written" if action == "approve" else "{count} would be rejected"
        session.screen.done(preview, text, count=preview["matched"])
        return
    question = "write {count} held writes?" if action == "approve" else "reject {count} held writes?"
    session.confirm(question, yes=yes, count=preview["matched"])
    answer = session.api.post(path, body)
    text = "{count} were written" if action == "approve" else "{count} were rejected"
    session.screen.done(answer, text, count=answer["decided"])
    if answer["refused_count"] and session.screen.reads_well:
        for one in answer["refused"]:
            session.screen.warn(f"{one['id']}: {one['reason']}")
        session.note("{count} could not be and stay open", count=answer["refused_count"])
    session.end(Exit.PARTIAL if answer["refused_count"] else Exit.OK)
