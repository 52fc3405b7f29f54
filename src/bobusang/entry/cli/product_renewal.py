"""Products that became something else under their number: listed anew, or with options that mean what they say now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Yes, each
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.product_changes import product_number
from bobusang.entry.cli.session import Session

Several = Annotated[
    list[str] | None, typer.Argument(metavar="PRODUCT...", help="SKUs, our numbers, or MALL/ID as okmall/4711.")
]
Why = Annotated[str, typer.Option("--why", help="Why, for whoever wonders.")]
Held = Annotated[str | None, typer.Option("--held", help="Those that are held for this, as axes_changed.")]
Most = Annotated[int, typer.Option("--limit", min=1, max=500, help="With --held: at most so many.")]

AGAIN = "product {id} begins anew: what the market has of it is closed, and the next FULL lists it"
RELABELED = "the options of product {id} are what its mall calls them now"


def renew(
    session: Session,
    why: Why,
    products: Several = None,
    held: Held = None,
    limit: Most = 100,
    yes: Yes = False,
) -> None:
    """Have products listed anew: what the market has of them is closed for good, the next FULL lists another."""
    question = "close for good what the market has of {count} products held as {why}, and list them anew?"
    _each(session, _chosen(session, products, held, limit, question, yes=yes), "renew", why, AGAIN)


def relabel(
    session: Session,
    why: Why,
    products: Several = None,
    held: Held = None,
    limit: Most = 100,
    yes: Yes = False,
) -> None:
    """Say that products' options are what their mall calls them now: listings stay, stock follows the names."""
    question = "are the options of {count} products held as {why} what their malls call them now?"
    _each(session, _chosen(session, products, held, limit, question, yes=yes), "relabel", why, RELABELED)


def _each(session: Session, chosen: list[str], act: str, why: str, text: str) -> None:
    def done(one: str) -> Any:
        return session.api.post(f"/products/{product_number(session, one)}/{act}", {"why": why})

    each(session, chosen, done, text)


def _chosen(
    session: Session, named: list[str] | None, held: str | None, limit: int, question: str, *, yes: bool
) -> list[str]:
    """Those that are named, or all that are held for one reason, once somebody has agreed to so many."""
    if bool(named) == bool(held):
        raise Failure("usage", "which products?", "name them, or give --held axes_changed")
    if named:
        return named
    found = session.api.get("/conversions/held", why=held, limit=limit)["items"]
    if not found:
        raise Failure("missing", f"no product is held as {held}", "`bobusang product held` shows why some are")
    session.confirm(question, yes=yes, count=len(found), why=held)
    return [str(one["product_id"]) for one in found]


COMMANDS: dict[str, Callable[..., None]] = {"renew": renew, "relabel": relabel}
