"""Watching a rebuild of the search index: a bar on a terminal, a line for each step elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from bobusang.entry.cli.failure import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bobusang.entry.cli.screen import Screen
    from bobusang.entry.cli.session import Session

WAIT = 5
"""Seconds that a look waits for news."""


def followed(session: Session, progress: dict[str, Any]) -> dict[str, Any]:
    """Show a rebuild until it ends, and hand over how it did; Ctrl-C only stops watching."""
    try:
        with _shown(session.screen) as show:
            show(progress)
            while progress["under_way"]:
                progress = session.api.get("/search/status", wait=WAIT)["rebuild"]
                show(progress)
    except KeyboardInterrupt:
        again = session.line("search status")
        session.note("\nnot watching any more; whoever leads goes on with it. {command} shows it", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None
    return progress


@contextmanager
def _shown(screen: Screen) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What suits where stderr goes."""
    if not screen.live:
        yield _lines(screen)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen.side) as moving:
        bar = moving.add_task("", total=None)

        def show(progress: dict[str, Any]) -> None:
            total = progress["total"] or None
            moving.update(bar, description=progress["phase"], completed=progress["done"], total=total)

        yield show


def _lines(screen: Screen) -> Callable[[dict[str, Any]], None]:
    said = ""

    def show(progress: dict[str, Any]) -> None:
        nonlocal said
        line = f"{progress['phase']} {progress['done']:,} / {progress['total']:,}"
        if screen.reads_well and progress["under_way"] and line != said:
            screen.note(line)
            said = line

    return show
