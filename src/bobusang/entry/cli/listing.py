"""`bobusang listing`: what is on the market, what was sent, what was held, and what came back."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Listings: list, show, receipt, freshness, close, open; held sends; webhooks.")

Sku = Annotated[str, typer.Argument(metavar="SKU", help="The product, as okmall-4711.")]
Market = Annotated[str | None, typer.Option("--market", help="Only on this market.")]
Account = Annotated[str | None, typer.Option("--account", help="Only of this account.")]
Several = Annotated[list[int], typer.Argument(metavar="HOLD...", help="Ids of held sends.")]

COLUMNS = "id account sku state price market_id available_until confirmed_at closed_at retired refused"
FACTS = (
    "id market account sku product_id state market_id reference price available_until open_call refused refusal_cause "
    "refusal_until drifted drift closed_at closed_by closed_why retired unseen_at confirmed_at created_at updated_at"
)
STEPS = "step at seconds"
FRESH = "market account live other confirmed p95_to_sent p95_to_confirmed oldest_open"
HOLDS = "id account sku guard times created_at reason"
WEBHOOKS = "id account event state times received_at applied_at note"


@command(app, "list")
def list_listings(
    session: Session,
    state: Annotated[str | None, typer.Option("--state", help="LIVE, SENT, SUSPENDED, REJECTED, …")] = None,
    market: Market = None,
    account: Account = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only those that the market last refused.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List listings, newest first, as the market last described them."""
    query: dict[str, Any] = {"state": state, "market": market, "account": account, "refused": refused}
    session.show_list("/listings", COLUMNS, limit=limit, cursor=cursor, **query)


@command(app, "show")
def show(session: Session, sku: Sku) -> None:
    """Show a product's listings, one for each account and those retired, with what the market has confirmed."""
    found = session.api.get("/listings/of", sku=sku)
    if not session.screen.reads_well:
        session.screen.page(found, COLUMNS)
        return
    for one in found["items"]:
        session.screen.title(f"{one['market']}/{one['account']}")
        session.screen.record(one, only=FACTS)
        confirmed = one["confirmed"]
        if confirmed:
            session.screen.title("confirmed")
            session.screen.record({name: value for name, value in confirmed.items() if not isinstance(value, list)})
            session.screen.table([_cell(cell) for cell in confirmed["variants"]], "color size stock count")


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    return {"count": None} | cell


@command(app, "receipt")
def receipt(
    session: Session,
    sku: Sku,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many changes.")] = 1,
) -> None:
    """Show how changes went from the source to the market and back, with the time each step took."""
    found = session.api.get("/listings/receipts", sku=sku, limit=limit)
    if not session.screen.reads_well:
        session.screen.page(found, "call_id kind state complete seconds")
        return
    if not found["items"]:
        session.note("nothing has been sent for {sku} yet", sku=sku)
    for one in found["items"]:
        _shown(session, one)


def _shown(session: Session, one: dict[str, Any]) -> None:
    place = f"{one['market']}/{one['account']}"
    told = {"kind": one["kind"], "call": one["call_id"], "place": place, "state": one["state"]}
    session.screen.title(session.words("{kind} (call {call}) on {place}: {state}", **told))
    session.screen.table(one["steps"], STEPS)
    if one["seconds"] is not None:
        session.note("{seconds} s from the first step to the last", seconds=f"{one['seconds']:,.1f}")
    if one["complete"]:
        session.note("complete: what the market has is what was sent")
    if one["drift"]:
        session.note("what the market has differs: {drift}", drift=one["drift"])
    if one["problems"]:
        session.note("the market refused it ({cause}): {problems}", cause=one["cause"], problems=one["problems"])


@command(app, "close")
def close(
    session: Session,
    sku: Sku,
    why: Annotated[str, typer.Option("--why", help="Why, for whoever wonders.")],
    account: Account = None,
) -> None:
    """Take a product off the market, and keep it off until somebody opens it again."""
    answer = session.api.post("/listings/close", {"sku": sku, "why": why, "account": account})
    if not answer["listings"]:
        session.screen.done(answer, "{sku} was closed already", sku=sku)
        return
    session.screen.done(answer, "{sku} is closed: the market is told within seconds", sku=sku)


@command(app, "open")
def open_again(session: Session, sku: Sku, account: Account = None) -> None:
    """Let a product that was closed be sold again, with the next run."""
    answer = session.api.post("/listings/open", {"sku": sku, "account": account})
    if not answer["listings"]:
        session.screen.done(answer, "{sku} was not closed", sku=sku)
        return
    session.screen.done(answer, "{sku} is open: the next run brings it back", sku=sku)


@command(app, "freshness")
def freshness(session: Session) -> None:
    """Show by account how many listings stand where, and how long changes took over the last day."""
    found = session.api.get("/listings/freshness")
    if not session.screen.reads_well:
        session.screen.page(found, FRESH)
        return
    session.screen.page({"items": [_counted(one) for one in found["items"]], "next": None}, FRESH)


def _counted(one: dict[str, Any]) -> dict[str, Any]:
    live = one["listings"].get("LIVE", 0)
    times = {"p95_to_sent": one["seen_to_sent"], "p95_to_confirmed": one["sent_to_confirmed"]}
    told = {name: found and found["p95"] for name, found in times.items()}
    return one | told | {"live": live, "other": sum(one["listings"].values()) - live}


@command(app, "holds")
def holds(
    session: Session,
    state: Annotated[str | None, typer.Option("--state", help="HELD, APPROVED, REJECTED or SUPERSEDED.")] = None,
    guard: Annotated[str | None, typer.Option("--guard", help="Only of this guard, as step.")] = None,
    sku: Annotated[str | None, typer.Option("--sku", help="Only of this product.")] = None,
    account: Account = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List sends that a guard stopped, newest first; the open ones unless --state says otherwise."""
    query: dict[str, Any] = {"state": state, "guard": guard, "sku": sku, "account": account}
    session.show_list("/market-holds", HOLDS, limit=limit, cursor=cursor, **query)


@command(app, "approve")
def approve(session: Session, holds: Several) -> None:
    """Let held sends out: exactly these may be sent for a day, with the next run."""
    each(session, holds, lambda id: session.api.post(f"/market-holds/{id}/approve"), "hold {id} is approved")


@command(app, "reject")
def reject(session: Session, holds: Several) -> None:
    """Say no: exactly these stay unsent."""
    each(session, holds, lambda id: session.api.post(f"/market-holds/{id}/reject"), "hold {id} is rejected")


@command(app, "webhooks")
def webhooks(
    session: Session,
    unknown: Annotated[bool, typer.Option("--unknown", help="Only those nobody could make sense of.")] = False,
    state: Annotated[str | None, typer.Option("--state", help="RECEIVED, APPLIED, STALE, FORGED, …")] = None,
    account: Account = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List what markets told us, newest first."""
    query: dict[str, Any] = {"unknown": unknown, "state": state, "account": account}
    session.show_list("/webhook-inbox", WEBHOOKS, limit=limit, cursor=cursor, **query)


@command(app, "webhook")
def webhook(session: Session, id: Annotated[int, typer.Argument(metavar="WEBHOOK", help="Id of the webhook.")]) -> None:
    """Show a webhook as it came."""
    session.screen.record(session.api.get(f"/webhook-inbox/{id}"))


@command(app, "replay")
def replay(
    session: Session, webhooks: Annotated[list[int], typer.Argument(metavar="WEBHOOK...", help="Ids of webhooks.")]
) -> None:
    """Apply webhooks again, whatever became of them; never a forged one."""

    def act(id: int) -> Any:
        return session.api.post(f"/webhook-inbox/{id}/replay")

    each(session, webhooks, act, "webhook {id} is applied again")
