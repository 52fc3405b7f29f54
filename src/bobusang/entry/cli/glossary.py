"""`bobusang glossary`: the malls' Korean words and what we call them in Japanese."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit
from bobusang.entry.cli.files import Given, Saved, fetched, saved, sent
from bobusang.entry.cli.session import Session

app = group("Our words for the malls': list, add, drop, import, export.")

COLUMNS = "term translation kind case_sensitive shipped replaces created_at"


@command(app, "list")
def list_terms(
    session: Session,
    q: Annotated[str | None, typer.Option("--q", help="Part of the word or of its translation.")] = None,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Those that come with the program too, as far as they count.")
    ] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List the terms that you have added, newest first, with the shipped translation that each replaces."""
    session.show_list("/glossary", COLUMNS, q=q, shipped=shipped, limit=limit, cursor=cursor)


@command(app, "add")
def add(
    session: Session,
    term: Annotated[str, typer.Argument(metavar="TERM", help="The word or phrase, as malls write it.")],
    translation: Annotated[str, typer.Argument(metavar="TRANSLATION", help="What it is called in Japanese.")],
    kind: Annotated[str, typer.Option("--kind", help="What kind of word, as colour.")] = "",
    case_sensitive: Annotated[
        bool, typer.Option("--case-sensitive", help="Only as it is written; of words with Latin letters.")
    ] = False,
) -> None:
    """Add a term, or give one another translation."""
    given = {"term": term, "translation": translation, "kind": kind, "case_sensitive": case_sensitive}
    done = session.api.put("/glossary", {"terms": [given]})
    text = "{term} is {translation} from now on" if done["changed"] else "{term} is {translation} already"
    session.screen.done(done, text, term=term, translation=translation)
    _used(session, done["changed"])


@command(app, "drop")
def drop(
    session: Session,
    terms: Annotated[list[str], typer.Argument(metavar="TERM...", help="Terms that were added.")],
) -> None:
    """Take terms away that were added; a shipped one of the same word counts again."""
    done = session.api.post("/glossary/drop", {"terms": terms})
    gone = len(done["terms"])
    session.screen.done(done, "{count} terms were taken away", count=gone)
    if gone < (wanted := len(set(terms))):
        session.note("{count} of those named were never added", count=wanted - gone)
    _used(session, gone)
    if gone < wanted:
        session.end(Exit.PARTIAL if gone else Exit.MISSING)


@command(app, "import")
def import_terms(session: Session, file: Given) -> None:
    """Add the terms of a CSV file (term,translation,kind,case_sensitive): all of them, or none; the others stay."""
    done = sent(session, "/glossary/file", file)
    session.screen.done(done, "{terms} terms were read, {changed} of them new or changed", **done)
    _used(session, done["changed"])


@command(app, "export")
def export(session: Session, file: Saved = None) -> None:
    """Save the terms that were added as a CSV file that the import takes."""
    saved(session, fetched(session, "/glossary/file"), file)


def _used(session: Session, changed: int) -> None:
    """A person is told when it shows; nothing is made anew at once."""
    if changed and session.screen.reads_well:
        session.note("{command} makes products anew by it", command=session.line("run full --mall MALL"))
