"""`bobusang mapping`: which of the market's brands and categories those of the malls are."""

from __future__ import annotations

import csv
import io
from typing import Annotated, Any, Literal

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.files import Given, Saved, fetched, saved, sent
from bobusang.entry.cli.session import Session
from bobusang.kit.formula import plain

app = group("Mappings of brands and categories: list, propose, assign, export, import.")

Mall = Annotated[str, typer.Option("--mall", help="The mall's name.")]
Kind = Literal["brand", "category"]

COLUMNS = "kind key name_ko name_en market_id market_name review"
PROPOSED = "kind id key name_ko name_en market_id may_be"


@command(app, "list")
def list_mappings(
    session: Session,
    mall: Mall,
    unreviewed: Annotated[
        bool, typer.Option("--unreviewed", help="Only what nobody has reviewed, with what it may be.")
    ] = False,
    kind: Annotated[Kind | None, typer.Option("--kind", help="Only brands, or only categories.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List a mall's brands and categories with the market's that they stand for."""
    if unreviewed:
        asked = {"mall": mall, "kind": kind, "limit": limit, "cursor": cursor}
        found = session.api.get("/mappings/unreviewed", **asked)
        told = {"items": [one | {"may_be": _told(one["proposals"])} for one in found["items"]], "next": found["next"]}
        session.screen.page(found if session.options.machine else told, PROPOSED)
        if found["items"] and session.screen.reads_well:
            session.note("{command} takes one over", command=session.line("mapping assign KIND ID MARKET_ID"))
        return
    lines = csv.DictReader(io.StringIO(fetched(session, "/mappings", mall=mall).decode()))
    rows = [{name: plain(cell) for name, cell in line.items()} for line in lines if kind in (None, line["kind"])]
    session.screen.page({"items": rows[:limit], "next": None}, COLUMNS)
    if len(rows) > limit and session.screen.reads_well:
        session.note("{count} more: --limit shows them", count=len(rows) - limit)


def _told(proposals: list[dict[str, Any]]) -> str:
    """`203 NIKE (exact 100 %)`, the best three."""
    return ", ".join(
        f"{one['market_id']} {one['name']} ({one['how']} {one['confidence']:.0%})" for one in proposals[:3]
    )


@command(app, "propose")
def propose(session: Session) -> None:
    """Write beside what nobody has reviewed which of the market's it is, where that is near enough to be sure."""
    done = session.api.post("/mappings/propose")
    session.screen.done(done, "{brands} brands and {categories} categories have a proposal", **done)
    if session.screen.reads_well:
        session.note("{command} shows them", command=session.line("mapping list --unreviewed --mall MALL"))


@command(app, "assign")
def assign(
    session: Session,
    kind: Annotated[Kind, typer.Argument(metavar="brand|category", help="What it is.")],
    id: Annotated[int, typer.Argument(metavar="ID", help="Its id, as `brand list` and `category list` show it.")],
    market_id: Annotated[
        int | None, typer.Argument(metavar="[MARKET_ID]", help="The market's number; none: not known.")
    ] = None,
) -> None:
    """Say which of the market's a brand or category is (a brand's 0: the market lacks it); its review stays."""
    done = session.api.post("/mappings/assign", {"kind": kind, "id": id, "market_id": market_id})
    told = {"kind": kind, "id": id, "market": f"{done['market_id']} {done['market_name']}".strip()}
    text = "{kind} {id} stands for nothing now" if market_id is None else "{kind} {id} is the market's {market}"
    session.screen.done(done, text, **told)
    if session.screen.reads_well:
        session.note("{command} accepts it", command=session.line(f"{kind} accept {id}"))


@command(app, "export")
def export(session: Session, mall: Mall, file: Saved = None) -> None:
    """Save a mall's brands and categories with their reviews as a CSV file."""
    saved(session, fetched(session, "/mappings", mall=mall), file)


@command(app, "import")
def import_mapping(session: Session, file: Given) -> None:
    """Take a reviewed mapping in: all of it, or nothing."""
    done = sent(session, "/mappings", file)
    session.screen.done(done, "{count} rows of {malls} were taken", count=done["lines"], malls=", ".join(done["malls"]))
