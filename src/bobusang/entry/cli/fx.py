"""`bobusang fx`: rates of exchange."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.files import Given, sent
from bobusang.entry.cli.session import Session

app = group("Rates of exchange: list, add, import; accept or reject those that are held.")

Several = Annotated[list[int], typer.Argument(metavar="RATE...", help="Ids of held rates.")]

COLUMNS = "id base quote rate spread state source quoted_at reason"


@command(app, "list")
def list_rates(
    session: Session,
    base: Annotated[str | None, typer.Option("--base", help="Only of this currency, as JPY.")] = None,
    quote: Annotated[str | None, typer.Option("--quote", help="Only in this currency, as KRW.")] = None,
    state: Annotated[str | None, typer.Option("--state", help="TRUSTED, HELD or REJECTED.")] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> None:
    """List rates, those that came last first."""
    session.show_list("/fx", COLUMNS, base=base, quote=quote, state=state, limit=limit, cursor=cursor)


@command(app, "add")
def add(
    session: Session,
    base: Annotated[str, typer.Argument(metavar="BASE", help="Of this currency, as JPY …")],
    quote: Annotated[str, typer.Argument(metavar="QUOTE", help="… one unit is so many of this one, as KRW:")],
    rate: Annotated[str, typer.Argument(metavar="RATE", help="a decimal, as 9.41.")],
    source: Annotated[str, typer.Option("--source", help="Who quotes it.")],
    per: Annotated[int, typer.Option("--per", min=1, help="It is the rate of so many units; banks write 100 yen.")] = 1,
    spread: Annotated[str, typer.Option("--spread", help="What the bank takes, as 0.0175 for 1.75 %.")] = "0",
    at: Annotated[str | None, typer.Option("--at", metavar="INSTANT", help="When it was quoted; now.")] = None,
) -> None:
    """Add a rate; one that jumps is held until a person accepts it."""
    body = {"base": base, "quote": quote, "rate": rate, "per": per, "spread": spread, "source": source}
    _told(session, session.api.post("/fx", body | ({"quoted_at": at} if at else {})))


@command(app, "import")
def import_rates(session: Session, file: Given) -> None:
    """Import rates from a CSV file: base, quote, rate, per, spread, source, quoted_at."""
    _told(session, sent(session, "/fx/import", file))


def _told(session: Session, done: dict[str, Any]) -> None:
    session.screen.done(done, "{given} given: {trusted} are new and may be used, {held} are held", **done)
    if done["held"] and session.screen.reads_well:
        session.note("{command} shows what waits for a person", command=session.line("fx list --state HELD"))


@command(app, "accept")
def accept(session: Session, rates: Several) -> None:
    """Believe held rates: prices are made with them."""
    each(session, rates, lambda id: session.api.post(f"/fx/{id}/accept"), "rate {id} is believed")


@command(app, "reject")
def reject(session: Session, rates: Several) -> None:
    """Refuse held rates: they are never used."""
    each(session, rates, lambda id: session.api.post(f"/fx/{id}/reject"), "rate {id} is refused")
