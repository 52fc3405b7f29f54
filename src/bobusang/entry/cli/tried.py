"""One page that was tried: run in this process, shown as what was read, or kept as a fixture."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from bobusang.connectors.sources.declared.fixture import plain
from bobusang.connectors.sources.declared.recording import place_of, record_page
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.place import must_exist, quietly
from bobusang.flows.collect.trying import Tried, Wish, tried
from bobusang.stages.collect.source import Ask, Brand, Extent, Snapshot
from bobusang.wiring import opened
from bobusang.wiring.collecting import Shelf

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bobusang.entry.cli.session import Session
    from bobusang.wiring import App

T = TypeVar("T")

UNKNOWN = "?"
LONGEST = 40
SHOWN_ASKS = 3


def in_process(session: Session, work: Callable[[App], Awaitable[T]]) -> T:
    """Run on the settings, the shops and the database of this folder; never through an API, which has other shops."""
    if session.options.url is not None:
        raise Failure(
            "usage",
            "this command works with the shops and the database of this folder, not through an API",
            "leave out --url and BOBUSANG_URL, or name the folder with --home",
        )
    settings = session.settings()
    must_exist(settings)
    quietly(settings)

    async def run() -> T:
        async with opened(settings, fetches=True) as app:
            return await work(app)

    return asyncio.run(run())


def show(session: Session, visited: Tried, limit: int) -> None:
    """What was read: as one document, or as a table with how far the list goes and what would be asked next."""
    if session.options.machine:
        session.screen.record(document(visited))
        return
    _answered(session, visited)
    if visited.problem:
        session.screen.warn(session.words("it cannot be read: {problem}", problem=visited.problem))
        return
    snapshots = [one for one in visited.found if isinstance(one, Snapshot)]
    brands = [one for one in visited.found if isinstance(one, Brand)]
    if len(snapshots) == 1 and visited.page.ask.item:
        session.screen.record(_row(snapshots[0]))
    elif snapshots:
        _table(session, [_row(one) for one in snapshots[:limit]])
    elif brands:
        rows = [{"key": one.key, "name_ko": one.name_ko, "name_en": one.name_en, "url": one.url} for one in brands]
        _table(session, rows[:limit])
    _rest(session, visited, len(snapshots) or len(brands), limit)


def document(visited: Tried) -> dict[str, Any]:
    """The same for a program: `found` as fixtures have it."""
    page = visited.page
    return {
        "source": visited.source.name,
        "stream": page.ask.endpoint,
        "url": page.url,
        "status": page.status,
        "bytes": len(page.body),
        "raw_id": visited.raw_id,
        "sha256": visited.sha256,
        "reader": visited.source.version,
        "problem": visited.problem or None,
        "unread": list(visited.unread),
        "found": plain(visited.found),
    }


async def keep(session: Session, app: App, source: str, wish: Wish, fixture: str, *, again: bool) -> None:
    """Fetch a page, write it as a fixture of its shop, and say what was taken out of it."""
    app.collector.source(source)
    shelf = app.collector.sources
    assert isinstance(shelf, Shelf)
    shelved = shelf.shelved(source)
    if shelved.folder is None:
        raise Failure("conflict", f"{source} is a source in code and has no folder", "keep fixtures beside its code")
    place_of(shelved.folder, fixture, again=again)  # before the call: one that is for nothing is not made
    found = await tried(app.collector, source, wish)
    kept = record_page(shelved.folder, fixture, found.page, shelved.load(), found.source.base, again=again)
    told = {"fixture": str(kept.folder), "redacted": kept.redacted, "found": kept.found}
    if not session.options.machine:
        _answered(session, found)
    session.screen.done(told, "{folder} was written", folder=kept.folder)
    for what, count in kept.redacted.items():
        session.note("  taken out: {count} × {what}", count=count, what=what)
    if kept.found and "raises" in kept.found[0]:
        hint = session.line(f"source check {source} --accept")
        session.note("  the page cannot be read yet; mend the shop, then {command}", command=hint)
    else:
        session.note("  look at what should be read: {file}", file=kept.folder / "expected.json")


def _answered(session: Session, visited: Tried) -> None:
    page = visited.page
    session.note(
        "{method} {url}: {status}, {size} bytes, archived as raw page {raw}",
        method=page.ask.method,
        url=page.ask.url,
        status=page.status,
        size=f"{len(page.body):,}",
        raw=visited.raw_id,
    )


def _row(snapshot: Snapshot) -> dict[str, Any]:
    return {"key": snapshot.key, **snapshot.fields, **dict.fromkeys(snapshot.unknown, UNKNOWN)}


def _table(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """All fields that any of them has; on a terminal long ones are cut, and what is too wide becomes blocks."""
    import sys

    names = list(dict.fromkeys(name for row in rows for name in row))
    if not sys.stdout.isatty():
        session.screen.table(rows, " ".join(names))
        return
    rows = [{name: short(row.get(name)) for name in names} for row in rows]
    if _width(names, rows) <= session.screen.console.width:
        session.screen.table(rows, " ".join(names))
        return
    for row in rows:
        session.screen.console.print()
        session.screen.record({name: value for name, value in row.items() if value is not None})


def _width(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> int:
    from rich.cells import cell_len

    widest = [max(cell_len(name), *(cell_len(str(row[name])) for row in rows)) for name in names]
    return sum(widest) + 2 * len(widest)


def short(value: Any, longest: int = LONGEST) -> Any:
    """A value as it fits into a cell; of a list, how many."""
    match value:
        case list() | dict() if value:
            return f"[{len(value)}]"
        case str() if len(value) > longest:
            return f"{value[: longest - 1]}…"
    return value


def _rest(session: Session, visited: Tried, count: int, limit: int) -> None:
    if count > limit:
        session.note("{count} more: --limit shows them", count=count - limit)
    unknown = Counter(name for one in visited.found if isinstance(one, Snapshot) for name in one.unknown)
    for name, often in sorted(unknown.items()):
        text = "{unknown} {field}: the page should say it, and {often} of {count} do not say it with certainty"
        session.note(text, unknown=UNKNOWN, field=name, often=often, count=count)
    if visited.unread:
        session.note("no field reads {names}", names=", ".join(visited.unread))
    for one in visited.found:
        if isinstance(one, Extent):
            _extent(session, one)
    _asks(session, [one for one in visited.found if isinstance(one, Ask)])


def _extent(session: Session, extent: Extent) -> None:
    total = "?" if extent.total is None else f"{extent.total:,}"
    if extent.last:
        text = "page {page} lists {count} of {total}, and is the last"
    elif extent.total == len(extent.keys):
        text = "page {page} lists {count} of {total}; an empty page behind it would prove that these are all"
    else:
        text = "page {page} lists {count} of {total}, and the list goes on"
    session.note(text, page=extent.page, count=len(extent.keys), total=total)


def _asks(session: Session, asks: Sequence[Ask]) -> None:
    """What a run would ask for next, some of each stream."""
    streams: dict[str, list[Ask]] = {}
    for ask in asks:
        streams.setdefault(ask.endpoint, []).append(ask)
    for stream, found in streams.items():
        session.note("next it would ask for {count} × {stream}:", count=len(found), stream=stream)
        for ask in found[:SHOWN_ASKS]:
            session.note("  {method} {url}", method=ask.method, url=ask.url)
