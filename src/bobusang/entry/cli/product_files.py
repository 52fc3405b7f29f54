"""Products as files: exported as CSV or NDJSON, imported from either."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import contents
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session
from bobusang.kit.formula import plain

Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]
Brand = Annotated[str | None, typer.Option("--brand", help="Only of this brand.")]
Seller = Annotated[str | None, typer.Option("--seller", help="Only of this seller.")]
MarketState = Annotated[str | None, typer.Option("--market-state", help="As active, sold_out or none.")]
Since = Annotated[str | None, typer.Option("--changed-since", metavar="INSTANT", help="Changed then or later.")]
Lacks = Annotated[str | None, typer.Option("--lacks", help="Without name, brand, model, price, picture, …")]
Format = Annotated[str, typer.Option("--format", help="csv or ndjson.")]
Target = Annotated[str, typer.Option("--to", metavar="FILE", help="Where to; - is stdout.")]

AT_ONCE = 5000
"""Lines of one request."""
WHOLE = ("price", "list_price")
FLAGS = {"true": True, "false": False}
OURS = ("id", "sku", "listed", "locked", "version", "created_at", "updated_at")
"""Columns of an export that only we set."""


def export(
    session: Session,
    to: Target = "-",
    format: Format = "csv",
    mall: Mall = None,
    brand: Brand = None,
    seller: Seller = None,
    market_state: MarketState = None,
    changed_since: Since = None,
    lacks: Lacks = None,
) -> None:
    """Export products as a file; what a spreadsheet would run is marked as text."""
    query = {"format": format, "mall": mall, "brand": brand, "seller": seller, "market_state": market_state}
    query |= {"changed_since": changed_since, "lacks": lacks}
    if to == "-":
        session.api.save("/products/export", sys.stdout.buffer, **query)
        sys.stdout.buffer.flush()
        return
    try:
        with Path(to).open("wb") as file:
            size = session.api.save("/products/export", file, **query)
    except OSError as error:
        raise Failure("usage", f"{to} cannot be written: {error.strerror}") from error
    session.screen.done({"file": to, "bytes": size}, "{file} was written, {bytes} bytes", file=to, bytes=size)


def import_(
    session: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV or NDJSON; - reads NDJSON from stdin.")],
) -> None:
    """Add or change products from a file; a line that cannot be taken is told and spoils no other."""
    counts, wrong, at = {"new": 0, "changed": 0, "same": 0}, list[dict[str, Any]](), 0
    lines = _lines(file)
    while part := list(islice(lines, AT_ONCE)):
        for result in session.api.lines("/products/bulk", b"\n".join(part) + b"\n"):
            if "error" in result:
                wrong.append(result | {"line": result["line"] + at})
            else:
                counts[result["result"]] += 1
        at += len(part)
    text = "{new} new, {changed} changed, {same} the same, {failed} failed"
    session.screen.done({**counts, "failed": len(wrong), "errors": wrong}, text, **counts, failed=len(wrong))
    for one in () if session.options.machine else wrong:
        session.screen.warn(f"{one['line']}: {one['error']['detail']}")
    session.end(Exit.PARTIAL if wrong else Exit.OK)


def _lines(file: str) -> Iterator[bytes]:
    """A product a line; the first of a CSV file after its header is the first."""
    data = contents(file)
    if not file.lower().endswith(".csv"):
        yield from data.splitlines()
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failure("usage", f"{file} is not UTF-8", "save it as UTF-8") from error
    for row in csv.DictReader(io.StringIO(text, newline="")):
        yield json.dumps(_told(row), ensure_ascii=False).encode()


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an export as it is told again; an empty cell says nothing."""
    found: dict[str, Any] = {}
    for name, cell in row.items():
        if name in OURS or not cell or name is None:
            continue
        text = plain(cell)
        if name == "image":
            found["images"] = [text]
        elif name in WHOLE and text.isascii() and text.isdecimal():
            found[name] = int(text)
        else:
            found[name] = FLAGS.get(text, text) if name == "in_stock" else text
    return found


COMMANDS: dict[str, Callable[..., None]] = {"export": export, "import": import_}
