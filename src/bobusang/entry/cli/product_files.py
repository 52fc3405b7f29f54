"""Products as files: exported as CSV or NDJSON, imported from either."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

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
LARGEST = 8 << 20
"""Bytes of one request, about: what is held of a file at a time."""
LONGEST = 256 * 1024
"""Bytes of a line that the API takes; of a longer one no more is read than it needs to say so."""
MOST_TOLD = 10_000
"""Lines that failed of which a program is told why."""
PIECE = 1 << 20
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
    counts, failed, errors, at = {"new": 0, "changed": 0, "same": 0}, 0, list[dict[str, Any]](), 0
    for part in _parts(_lines(file)):
        for result in session.api.lines("/products/bulk", b"\n".join(part) + b"\n"):
            if "error" not in result:
                counts[result["result"]] += 1
                continue
            failed += 1
            line = result["line"] + at
            if not session.options.machine:
                session.screen.warn(f"{line}: {result['error']['detail']}")
            elif failed <= MOST_TOLD:
                errors.append(result | {"line": line})
        at += len(part)
    text = "{new} new, {changed} changed, {same} the same, {failed} failed"
    session.screen.done({**counts, "failed": failed, "errors": errors}, text, **counts, failed=failed)
    session.end(Exit.PARTIAL if failed else Exit.OK)


def _parts(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """What goes with one request; no more of the file is read before it was answered."""
    part, size = list[bytes](), 0
    for line in lines:
        part.append(line)
        size += len(line)
        if len(part) == AT_ONCE or size >= LARGEST:
            yield part
            part, size = [], 0
    if part:
        yield part


def _lines(file: str) -> Iterator[bytes]:
    """A product a line, read as they are asked for; the first of a CSV file after its header is the first."""
    try:
        with _opened(file) as found:
            yield from _rows(found, file) if file.lower().endswith(".csv") else _cut(found)
    except OSError as error:
        raise Failure("usage", f"{file} cannot be read: {error.strerror}") from error


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb")


def _cut(found: BinaryIO) -> Iterator[bytes]:
    while line := found.readline(LONGEST + 2):
        yield line.rstrip(b"\r\n")
        while line and not line.endswith(b"\n"):
            line = found.readline(LONGEST)


def _rows(found: BinaryIO, file: str) -> Iterator[bytes]:
    text = io.TextIOWrapper(found, "utf-8-sig", newline="")
    try:
        if text.seekable():  # once through it, so that one that is not UTF-8 changes nothing
            while text.read(PIECE):
                pass
            text.seek(0)
        for row in csv.DictReader(text):
            yield json.dumps(_told(row), ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        raise Failure("usage", f"{file} is not UTF-8", "save it as UTF-8") from error
    except csv.Error as error:
        raise Failure("usage", f"{file} is no CSV: {error}", "save it as CSV, with commas and in UTF-8") from error


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
