"""How many statements a page takes, as the database itself counts them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bobusang.kit.dbs.sqlite import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.web.screen import Screen

TURNS = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")


@contextmanager
def statements(screen: Screen) -> Iterator[Callable[[], int]]:
    """Counts while the block lasts. What is read every two seconds for all pages, the frame and whose session it is, is
    not a page's own."""
    db, seen = screen.app.engine.db, list[str]()
    assert isinstance(db, SqliteDatabase)
    known = screen.site.attendance._known
    screen.site.standing._at = float("inf")
    known.update({digest: (found, float("inf")) for digest, (found, _) in known.items()})
    for lane in db._lanes:
        lane.connection.set_trace_callback(lambda text: None if text.upper().startswith(TURNS) else seen.append(text))
    try:
        yield lambda: len(seen)
    finally:
        for lane in db._lanes:
            lane.connection.set_trace_callback(None)
        screen.site.standing._at = float("-inf")
        known.clear()
