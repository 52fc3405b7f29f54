"""`bobusang price`: a price explained, and those before it."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Prices: explain, history.")

Sku = Annotated[str, typer.Argument(metavar="SKU", help="The product, as okmall-4711.")]
Market = Annotated[str | None, typer.Option("--market", help="On this market.")]
Account = Annotated[str | None, typer.Option("--account", help="For this account.")]

COLUMNS = "decided_at market account decision reason price floor ceiling confirmed detail"
FACTS = "sku market account decision reason detail price floor ceiling confirmed currency below_floor decided_at"
STEPS = "step amount local basis cited dated"


@command(app, "explain")
def explain(session: Session, sku: Sku, market: Market = None, account: Account = None) -> None:
    """Show how a price came about: every step with its amount, basis, source and date."""
    found = session.api.get("/prices/explain", sku=sku, market=market, account=account)
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    session.screen.title("steps")
    session.screen.table([step | {"cited": step["source"]} for step in found["steps"]], STEPS, whole=True)
    rival = found["rival"]
    session.screen.title("lowest comparable offer")
    session.screen.record({name: rival[name] for name in ("search", "total", "seller", "comparable", "found_at")})


@command(app, "history")
def history(
    session: Session,
    sku: Sku,
    market: Market = None,
    account: Account = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")] = 20,
) -> None:
    """List the decisions on a price that differ from the one before, newest first."""
    found = session.api.get("/prices/history", sku=sku, market=market, account=account, limit=limit)
    session.screen.page(found, COLUMNS)
