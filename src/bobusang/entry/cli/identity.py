"""`bobusang identity`: who we are when we call a mall."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Identities: list, analyse, disable, recover.")

Several = Annotated[list[int], typer.Argument(metavar="IDENTITY...", help="Ids of identities.")]
Source = Annotated[str | None, typer.Option("--source", help="Only of this source.")]

COLUMNS = "id source state health has_session session_expires_at rest_until calls success_rate throttle_rate"
POOLS = "source size calls successes throttles failures success_rate throttle_rate"
RATES = "source id state health calls successes throttles failures success_rate throttle_rate"


@command(app, "list")
def list_identities(
    session: Session,
    source: Source = None,
    state: Annotated[str | None, typer.Option("--state", help="IDLE, ACTIVE, RATE_LIMITED, DISABLED, …")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List identities with their states as of now; tokens are never shown."""
    session.show_list("/identities", COLUMNS, source=source, state=state, limit=limit, cursor=cursor)


@command(app, "analytics")
def analytics(session: Session, source: Source = None) -> None:
    """Show success and 429 rates by source and identity, the least successful first."""
    found = session.api.get("/identities/analytics", source=source)
    session.screen.page(found, POOLS)
    if not session.screen.reads_well or not found["items"]:
        return
    session.screen.title("identities")
    rows = [one | {"source": pool["source"]} for pool in found["items"] for one in pool["identities"] if one["calls"]]
    session.screen.table(rows, RATES)


@command(app, "disable")
def disable(
    session: Session,
    identities: Several,
    why: Annotated[str, typer.Option("--why", help="Why, for whoever wonders.")] = "disabled by hand",
) -> None:
    """Take identities out of use until they are let recover."""

    def act(identity: int) -> Any:
        return session.api.post(f"/identities/{identity}/disable", {"why": why})

    each(session, identities, act, "identity {id} is used no more")


@command(app, "recover")
def recover(session: Session, identities: Several) -> None:
    """Let identities be used again that rest after a 429 or were disabled."""

    def act(identity: int) -> Any:
        return session.api.post(f"/identities/{identity}/recover")

    each(session, identities, act, "identity {id} may be used again")
