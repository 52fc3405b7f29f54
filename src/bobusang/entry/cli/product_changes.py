"""Products changed by hand: added, edited and locked, unlocked, deleted, restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import InputJson, Inputs, Yes, inputs
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

Which = Annotated[str, typer.Argument(metavar="PRODUCT", help="Our number, MALL/ID as okmall/4711, or its SKU.")]
New = Annotated[str | None, typer.Argument(metavar="MALL/ID", help="As okmall/4711; or give product_id, or a url.")]
MOST_CUTS = 10
VALUES = {"price", "list_price", "in_stock", "listed", "images", "options"}
"""What is not a text."""
Fields = Annotated[list[str] | None, typer.Argument(metavar="FIELD...", help="As price; all unless named.")]


def product_number(session: Session, wanted: str) -> int:
    """Our number of a product that was named by it, by its mall and the mall's id, or by its SKU, which is both."""
    if wanted.isascii() and wanted.isdecimal():
        return int(wanted)
    for mall, key in _cuts(wanted) or [_mall_and_id(wanted, "write its number, or MALL/ID as okmall/4711")]:
        if found := session.api.get("/products", mall=mall, product_id=key, fields="id", limit=1)["items"]:
            return int(found[0]["id"])
    raise Failure("missing", f"{mall} has no product '{key}'", "`bobusang product list` shows them")


def _cuts(wanted: str) -> list[tuple[str, str]]:
    """What a SKU may be of: the mall's name and its id may both have hyphens."""
    places = [] if "/" in wanted else [place for place, letter in enumerate(wanted) if letter == "-"]
    return [
        (wanted[:place], wanted[place + 1 :]) for place in places[:MOST_CUTS] if wanted[:place] and wanted[place + 1 :]
    ]


def _mall_and_id(wanted: str, hint: str = "write MALL/ID as okmall/4711") -> tuple[str, str]:
    mall, slash, key = wanted.partition("/")
    if not slash or not mall or not key:
        raise Failure("usage", f"'{wanted}' is no product", hint)
    return mall, key


def add(session: Session, product: New = None, input: Inputs = None, input_json: InputJson = None) -> None:
    """Add a product, or change the one with this mall and id, or with this url."""
    named = dict(zip(("mall", "product_id"), _mall_and_id(product), strict=True)) if product else {}
    answer = session.api.post("/products", named | _given(input, input_json))
    session.screen.done(answer, "product {id} is {mall}/{key}", **_named(answer))


def change(session: Session, product: Which, input: Inputs = None, input_json: InputJson = None) -> None:
    """Set fields of a product and lock them against the crawler; null takes a value away."""
    number = product_number(session, product)
    answer = session.api.patch(f"/products/{number}", _given(input, input_json))
    session.screen.done(answer, "product {id} was changed; locked: {locked}", **_named(answer))


def unlock(session: Session, product: Which, names: Fields = None) -> None:
    """Let fields of a product follow its source again."""
    number = product_number(session, product)
    answer = session.api.post(f"/products/{number}/unlock", {"fields": names} if names else None)
    session.screen.done(answer, "product {id} was unlocked; locked: {locked}", **_named(answer))


def delete(session: Session, product: Which, yes: Yes = False) -> None:
    """Delete a product that no market has; no crawl brings it back."""
    number = product_number(session, product)
    session.confirm("delete product {id}?", yes=yes, id=number)
    session.api.delete(f"/products/{number}")
    session.screen.done({"id": number, "deleted": True}, "product {id} was deleted", id=number)
    session.note("{command} brings it back", command=session.line(f"product restore {number}"))


def restore(session: Session, product: Annotated[int, typer.Argument(metavar="PRODUCT", help="Our number.")]) -> None:
    """Bring a deleted product back, as its source describes it now."""
    answer = session.api.post(f"/products/{product}/restore")
    session.screen.done(answer, "product {id} is back", id=product)


def _given(pairs: list[str] | None, text: str | None) -> dict[str, Any]:
    """What was said; a model number of digits is a text all the same."""
    found = inputs(pairs, text)
    if not found:
        raise Failure("usage", "nothing was given", "as --input name=코트 --input price=129000")
    typed = dict(pair.split("=", 1) for pair in pairs or ())
    return found | {name: text for name, text in typed.items() if name not in VALUES and text != "null"}


def _named(answer: dict[str, Any]) -> dict[str, Any]:
    locked = ", ".join(answer["locked"]) or "-"
    return {"id": answer["id"], "mall": answer["mall"], "key": answer["product_id"], "locked": locked}


COMMANDS: dict[str, Callable[..., None]] = {
    "add": add,
    "change": change,
    "unlock": unlock,
    "delete": delete,
    "restore": restore,
}
