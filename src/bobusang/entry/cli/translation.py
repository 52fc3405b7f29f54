"""`bobusang translation`: what texts are translated as, and a person's own word for one."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("What texts are translated as: list, correct, drop.")

COLUMNS = "text translation origin model cost_micros created_at"


@command(app, "list")
def list_translations(
    session: Session,
    q: Annotated[str | None, typer.Option("--q", help="Part of the text or of its translation.")] = None,
    origin: Annotated[
        Literal["model", "person"] | None, typer.Option("--origin", help="Only what a model, or a person, has said.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List what models were paid for and people have corrected, newest first; the glossary's is made anew each time."""
    session.show_list("/translations", COLUMNS, q=q, origin=origin, limit=limit, cursor=cursor)


@command(app, "correct")
def correct(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The mall's text, as the list or the error shows it.")],
    translation: Annotated[str, typer.Argument(metavar="TRANSLATION", help="What it is to be called.")],
) -> None:
    """Say yourself what a text is called: it counts more than glossary and model."""
    done = session.api.put("/translations", {"text": text, "translation": translation})
    session.screen.done(done, "{term} is {translation} from now on", term=done["text"], translation=done["translation"])
    if session.screen.reads_well:
        session.note("{command} makes products anew by it", command=session.line("run full --mall MALL"))
        session.note("{command} goes on with one that a model declined", command=session.line("dlq retry TASK"))


@command(app, "drop")
def drop(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The mall's text, as the list shows it.")],
) -> None:
    """Take a correction back: glossary and model count again."""
    done = session.api.post("/translations/drop", {"text": text})
    session.screen.done(
        done, "{term} is not {translation} any more", term=done["text"], translation=done["translation"]
    )
    if session.screen.reads_well:
        session.note("{command} makes products anew by it", command=session.line("run full --mall MALL"))
