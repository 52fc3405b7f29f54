"""`bobusang picture`: what is shown of products, what must not be, and what somebody should decide."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.product_changes import Which, product_number
from bobusang.entry.cli.session import Session

app = group("Pictures: those of a product, their order and rights; banners that are refused; what waits for a person.")

COLUMNS = "position state reason rights rights_source width height bytes sha256 address"
BLOCKS = "sha256 reason created_by created_at"
DOUBTS = "kind sha256 reason product mall mall_id name raised_at"

Sha256 = Annotated[str, typer.Argument(metavar="SHA256", help="Of a picture, or from the address a market has of it.")]


@command(app, "list")
def list_pictures(session: Session, product: Which) -> None:
    """List a product's pictures: those that are shown in their order, then the others with why."""
    session.screen.page(session.api.get(f"/products/{product_number(session, product)}/pictures"), COLUMNS)


@command(app, "order")
def order(
    session: Session,
    product: Which,
    positions: Annotated[list[int], typer.Argument(metavar="POSITION...", help="The cover first, as `list` shows.")],
) -> None:
    """Say which pictures stand in which order; what is not named is taken out for good."""
    _change(session, product, "order", {"positions": positions}, text="its pictures stand in this order")


@command(app, "declare")
def declare(
    session: Session,
    product: Which,
    rights: Annotated[Literal["own", "supplier", "unknown"], typer.Argument(metavar="RIGHTS", help="By what right.")],
) -> None:
    """Say by what right a product's pictures are shown: own, supplier or unknown."""
    _change(session, product, "rights", {"rights": rights}, text="its pictures are shown by this right")


@command(app, "accept")
def accept(session: Session, product: Which) -> None:
    """Take the picture that the cover's address gives now."""
    _change(session, product, "accept", text="it has the new cover")


@command(app, "refresh")
def refresh(session: Session, product: Which) -> None:
    """Have the next FULL ask whether the addresses of a product's pictures still give the same."""
    _change(session, product, "refresh", text="the next FULL fetches its pictures again")


@command(app, "block")
def block(
    session: Session,
    sha256: Sha256,
    why: Annotated[str, typer.Option("--why", help="A banner, a placeholder, no right to it.")],
) -> None:
    """Refuse whatever looks like a picture, everywhere."""
    done = session.api.post("/pictures/block", {"sha256": sha256, "reason": why})
    _decided(session, done, text="what looks like it is refused from now on; {products} products have such a picture")


@command(app, "unblock")
def unblock(session: Session, sha256: Sha256) -> None:
    """Allow again what looks like a picture."""
    done = session.api.post("/pictures/unblock", {"sha256": sha256})
    _decided(session, done, text="what looks like it is allowed again; {products} products have such a picture")


@command(app, "blocks")
def blocks(session: Session) -> None:
    """List what is refused, by a picture that looks so."""
    session.screen.page(session.api.get("/pictures/blocks"), BLOCKS)


@command(app, "doubts")
def doubts(session: Session, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List pictures that somebody should look at: on many products, like others, another cover."""
    session.show_list("/pictures/doubts", DOUBTS, limit=limit, cursor=cursor)


@command(app, "allow")
def allow(session: Session, sha256: Sha256) -> None:
    """Say that a picture may stand on many products."""
    done = session.api.post("/pictures/allow", {"sha256": sha256})
    _decided(session, done, text="it may stand on many products; {products} have it")


def _change(session: Session, product: str, verb: str, body: dict[str, Any] | None = None, *, text: str) -> None:
    done = session.api.post(f"/products/{product_number(session, product)}/pictures/{verb}", body)
    session.screen.done(done, text)


def _decided(session: Session, done: dict[str, Any], *, text: str) -> None:
    session.screen.done(done, text, products=done["products"])
    if done["products"] and session.screen.reads_well:
        session.note("{command} makes products anew by it", command=session.line("run full --mall MALL"))
