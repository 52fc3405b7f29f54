"""`bobusang product`: products looked at, changed, moved in and out; and what is held back from the market, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli import product_changes, product_files, product_renewal
from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.product_changes import Which, product_number
from bobusang.entry.cli.product_files import Brand, Lacks, Mall, MarketState, Seller, Since
from bobusang.entry.cli.session import Session

app = group("Products: list, show, add, change, delete, import, export; and what is held back from the market.")

COLUMNS = "product_id mall key brand why text"
FACTS = (
    "id sku mall product_id name brand brand_ko model price list_price currency in_stock listed category gender url "
    "image version locked source updated_at"
)
SHOWN = "id mall product_id brand name price in_stock locked updated_at"
COUNTS = "why products"
STANDING = "where said why field sku market_id at"


@command(app, "list")
def list_products(
    session: Session,
    mall: Mall = None,
    brand: Brand = None,
    seller: Seller = None,
    market_state: MarketState = None,
    changed_since: Since = None,
    lacks: Lacks = None,
    sort: Annotated[str, typer.Option("--sort", help="id, newest, price, -price or changed.")] = "id",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List products, by an index in each order."""
    query = {"mall": mall, "brand": brand, "seller": seller, "market_state": market_state, "lacks": lacks}
    session.show_list("/products", SHOWN, **query, changed_since=changed_since, sort=sort, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, product: Which) -> None:
    """Show a product, who sells it, what is locked, and where it is listed."""
    number = product_number(session, product)
    found = session.api.get(f"/products/{number}")
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    session.screen.title("seller")
    session.screen.table([found["seller"]], "seller_id name id")
    session.screen.title("listings")
    session.screen.table(session.api.get(f"/products/{number}/listings")["items"], "market account state price")


@command(app, "why")
def why(
    session: Session,
    product: Which,
    market: Annotated[str, typer.Option("--market", help="On this market.")] = "buyma",
) -> None:
    """Say why a product is on sale or not: the first thing that stands in its way."""
    found = session.api.get(f"/products/{product_number(session, product)}/standing", market=market)
    session.screen.record(found, only=STANDING)


@command(app, "history")
def history(session: Session, product: Which, limit: Limit = 20, cursor: Cursor = None) -> None:
    """List what a product's source said, newest first, with what changed."""
    from bobusang.entry.cli.record import show_versions

    show_versions(session, f"/products/{product_number(session, product)}/history", limit, cursor)


for name, work in product_changes.COMMANDS.items():
    command(app, name)(work)
for name, work in product_files.COMMANDS.items():
    command(app, name)(work)
for name, work in product_renewal.COMMANDS.items():
    command(app, name)(work)


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
