"""`bobusang product`: what is held back from the market, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Products on their way to the market: held.")

COLUMNS = "product_id mall key brand why text"
COUNTS = "why products"


@command(app, "held")
def held(
    session: Session,
    why: Annotated[str | None, typer.Option("--why", help="Only for this reason, as brand_unreviewed.")] = None,
    market: Annotated[str, typer.Option("--market", help="From this market.")] = "buyma",
    limit: Limit = 20,
    cursor: Cursor = None,
) -> None:
    """Show products that are held back, how many for which reason, and which."""
    counts = session.api.get("/conversions/reasons", market=market)["items"]
    found = session.api.get("/conversions/held", market=market, why=why, limit=limit, cursor=cursor)
    if not session.screen.reads_well:
        session.screen.page(found | {"reasons": counts}, COLUMNS)
        return
    if cursor is None:
        session.screen.title("reasons")
        session.screen.table(counts, COUNTS)
        session.screen.title("products")
    rows = [
        one
        | {
            "why": ", ".join(reason["why"] for reason in one["reasons"]),
            "text": "; ".join(reason["text"] for reason in one["reasons"]),
        }
        for one in found["items"]
    ]
    session.screen.page({"items": rows, "next": found["next"]}, COLUMNS)
