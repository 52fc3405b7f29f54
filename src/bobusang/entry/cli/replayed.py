"""What reading archived pages again would change, shown by field and, where wished, one by one."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.units import duration
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.tried import short

if TYPE_CHECKING:
    from bobusang.entry.cli.session import Session
    from bobusang.flows.collect.replaying import Replayed

LONGEST = 24

COUNTS = "field group reader mall"
COLUMNS = "key stream field stored read whose raw_id"
TROUBLES = "stream url message raw_id"


def instant(text: str) -> datetime:
    """`24h` and `7d` before now, or a day or an instant as ISO has it (of this machine's zone where it names none)."""
    try:
        return datetime.now(UTC) - duration(text)
    except Flaw:
        pass
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise Failure("usage", f"--since {text} is no time", "as 24h, 7d, 2026-01-31 or 2026-01-31T09:00") from None


def show(session: Session, found: Replayed, *, diff: bool) -> None:
    """The counts by field, and with `diff` each difference."""
    if session.options.machine:
        session.screen.record(document(found, diff=diff))
        return
    session.note(
        "{pages} pages were read again by reader {reader}: {items} records, {same} of them as they are stored",
        pages=found.pages,
        reader=found.reader,
        items=found.items,
        same=found.same,
    )
    if found.skipped:
        session.note("{count} pages are no longer kept, or nobody knows what they were asked for", count=found.skipped)
    if found.differences:
        session.screen.title("what would change, by field")
        session.screen.table(found.by_field(), COUNTS)
    if found.differences and diff:
        session.screen.title("what would change")
        session.screen.table(_rows(found), COLUMNS)
    if found.troubles:
        session.screen.title("pages that are read worse than before")
        session.screen.table(msgspec.to_builtins(found.troubles), TROUBLES, whole=True)
    if not found.pages:
        session.note("no page of {source} was fetched since then", source=found.source)
    elif not found.differs:
        session.note("nothing would change")
    elif found.differences and not diff:
        session.note("--diff shows each of them")


def _rows(found: Replayed) -> list[dict[str, Any]]:
    """The differences; long values cut where a person looks at them."""
    rows: list[dict[str, Any]] = msgspec.to_builtins(found.differences)
    if sys.stdout.isatty():
        rows = [row | {name: short(row[name], LONGEST) for name in ("stored", "read")} for row in rows]
    return rows


def document(found: Replayed, *, diff: bool) -> dict[str, Any]:
    """The same for a program."""
    told = {
        "source": found.source,
        "reader": found.reader,
        "pages": found.pages,
        "items": found.items,
        "same": found.same,
        "skipped": found.skipped,
        "fields": found.by_field(),
        "troubles": msgspec.to_builtins(found.troubles),
    }
    return told | ({"differences": msgspec.to_builtins(found.differences)} if diff else {})
