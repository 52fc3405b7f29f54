"""`bobusang search`: products found by how people type, and the index looked after."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.rebuilt import followed
from bobusang.entry.cli.session import Session

app = group("Search: find products, complete what is typed, rebuild and verify the index.")

COLUMNS = "id mall product_id brand name model price in_stock"
FACETS = "value count"
SUGGESTED = "text kind count"
DIFFERENCES = "id kind"


@command(app, "find")
def find(
    session: Session,
    keyword: Annotated[
        str, typer.Argument(metavar="KEYWORD", help="Words, 초성, a model number or a part of it.")
    ] = "",
    min_price: Annotated[int, typer.Option("--min-price", min=0, help="At least; 0: no bound.")] = 0,
    max_price: Annotated[int, typer.Option("--max-price", min=0, help="At most; 0: no bound.")] = 0,
    brand: Annotated[list[str] | None, typer.Option("--brand", help="Only of this brand; repeatable.")] = None,
    mall: Annotated[list[str] | None, typer.Option("--mall", help="Only of this mall; repeatable.")] = None,
    in_stock: Annotated[bool | None, typer.Option("--in-stock/--sold-out", help="Only what is, or is not.")] = None,
    sort: Annotated[str, typer.Option("--sort", help="relevance, price, -price or newest.")] = "relevance",
    facets: Annotated[bool, typer.Option("--facets", help="Also count brands, malls, categories and stock.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100, help="At most so many.")] = 20,
    cursor: Cursor = None,
) -> None:
    """Find products; typos, missing spaces and the wrong keyboard are understood."""
    found = session.api.get(
        "/search",
        keyword=keyword,
        min_price=min_price,
        max_price=max_price,
        brand=brand or None,
        mall=mall or None,
        in_stock=in_stock,
        sort=sort,
        facets=facets,
        limit=limit,
        cursor=cursor,
    )
    session.screen.page(found, COLUMNS)
    if not session.screen.reads_well:
        return
    for name, counts in found["facets"].items():
        session.screen.title(name)
        session.screen.table(counts, FACETS)
    session.note("{total} found", total=f"{found['total']:,}{'+' * found['more']}")


@command(app, "suggest")
def suggest(
    session: Session,
    typed: Annotated[str, typer.Argument(metavar="TYPED", help="What was typed so far.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=20, help="At most so many.")] = 10,
) -> None:
    """Complete what is typed: brands, model numbers, names."""
    session.screen.page(session.api.get("/search/suggest", q=typed, limit=limit) | {"next": None}, SUGGESTED)


@command(app, "status")
def status(session: Session) -> None:
    """Show how the index stands: products, how far it is behind, a rebuild under way."""
    session.screen.record(session.api.get("/search/status"))


@command(app, "rebuild")
def rebuild(session: Session) -> None:
    """Make the index anew from SQL, while the old one serves; whoever leads does it, and this shows how far it is."""
    progress = followed(session, session.api.post("/search/rebuild"))
    if progress["error"]:
        raise Failure("error", progress["error"], "the old index goes on serving; mend that and try again")
    session.screen.done(progress, "the index was made anew: {done} products", done=f"{progress['done']:,}")


@command(app, "verify")
def verify(
    session: Session,
    repair: Annotated[bool, typer.Option("--repair/--no-repair", help="Bring what differs into the index.")] = True,
) -> None:
    """Compare the index with SQL, product by product, and repair it."""
    found = session.api.post("/search/verify", {"repair": repair})
    if session.screen.reads_well and found["first"]:
        session.screen.table(found["first"], DIFFERENCES)
    session.screen.done(
        found,
        "{compared} products compared: {missing} missing, {extra} too many, {different} different; {repaired} repaired",
        **found,
    )
    if not found["clean"]:
        raise typer.Exit(1)
