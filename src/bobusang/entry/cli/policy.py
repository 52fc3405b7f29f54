"""`bobusang policy`: how an account prices."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.files import document
from bobusang.entry.cli.session import Session

app = group("Price policies of markets and accounts: show, set.")

Market = Annotated[str, typer.Option("--market", help="On this market.")]
Account = Annotated[
    str | None, typer.Option("--account", help="Of this account; else all that have none of their own.")
]

FACTS = "market account origin decided_by decided_at"


@command(app, "show")
def show(session: Session, market: Market = "buyma", account: Account = None) -> None:
    """Show by which policy is priced: the account's own, else the market's, else the careful default."""
    found = session.api.get("/prices/policy", market=market, account=account)
    session.screen.record(found, only=FACTS)
    if session.screen.reads_well:
        session.screen.title("policy")
        session.screen.record(found["policy"])


@command(app, "set")
def change(
    session: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON as `policy show --json` has it; - is stdin.")],
    market: Market = "buyma",
    account: Account = None,
) -> None:
    """Set the whole policy; what the file does not say is the careful default."""
    given = document(file)
    wanted = given.get("policy", given) if isinstance(given.get("policy", given), dict) else given
    try:
        query = {"market": market, "account": account}
        done = session.api.call("PUT", "/prices/policy", body=wanted, query=query)
    except Failure as failure:
        if failure.code == "invalid":
            failure.exit_code = Exit.FAILED
        raise
    text = "{account} prices by its own policy now" if account else "{market} prices by this policy now"
    session.screen.done(done, text, account=account, market=market)
