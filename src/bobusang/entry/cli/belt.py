"""The live belt: brands by stage with their counts, rate and time left; plain lines where nothing can move."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from bobusang.entry.cli.cells import safe
from bobusang.entry.cli.failure import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from rich.console import Group
    from rich.text import Text

    from bobusang.entry.cli.screen import Screen
    from bobusang.entry.cli.session import Session
    from bobusang.entry.cli.words import Words

LOOK_SECONDS = 0.5
LINE_SECONDS = 10.0
STAGES = ("COLLECT", "CONVERT", "IMAGE", "PRICE", "REGISTER")
COUNTED = ("created", "succeeded", "skipped", "failed", "waiting")
ROOMY = 100
"""From this width on a stage tells how many it knows of, too."""
FRAME = 9
"""Lines of the belt that are no brands."""
MOST_ERRORS = 3
STATUS = {"PENDING": "dim", "RUNNING": "cyan", "DONE": "green", "ERROR": "red"}
URGENCY = ("ERROR", "RUNNING", "PENDING", "DONE")


def compact(count: int) -> str:
    """A count in at most five signs."""
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 100_000 else f"{count // 1000}k"


def lasting(seconds: float | None) -> str:
    """A span as a watch shows it."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def figures(cell: dict[str, Any], *, known: bool) -> list[tuple[str, str]]:
    """A stage's counts with their styles: done (of so many known), ~held or skipped, !failed."""
    over = cell["succeeded"] + cell["skipped"] + cell["failed"]
    if not cell["created"] and not cell["failed"]:
        return [("·" if cell["status"] in ("PENDING", "RUNNING") else "0", STATUS[cell["status"]])]
    count = f"{compact(over)}/{compact(cell['created'])}" if known and cell["waiting"] else compact(cell["succeeded"])
    found = [(count, STATUS[cell["status"]])]
    found += [(f" ~{compact(cell['skipped'])}", "yellow")] if cell["skipped"] else []
    return found + ([(f" !{compact(cell['failed'])}", "bold red")] if cell["failed"] else [])


def total(brands: Sequence[dict[str, Any]], stage: str) -> dict[str, Any] | None:
    """One stage of all brands together; None where none has it."""
    cells = [cell for brand in brands for cell in brand["stages"] if cell["stage"] == stage]
    if not cells:
        return None
    states = {cell["status"] for cell in cells}
    mixed = next((one for one in ("RUNNING", "ERROR") if one in states), "RUNNING")
    return {name: sum(cell[name] for cell in cells) for name in COUNTED} | {
        "status": mixed if len(states) > 1 else states.pop()
    }


def errors(brands: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """What went wrong where."""
    return [
        (f"{brand['mall']} {brand['brand']} {cell['stage']}", cell["error"])
        for brand in brands
        for cell in brand["stages"]
        if cell["error"]
    ]


def in_sight(brands: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """As many brands as there is room for: what moves or failed before what waits or is done, in their own order."""

    def urgency(brand: dict[str, Any]) -> int:
        return min(URGENCY.index(cell["status"]) for cell in brand["stages"])

    kept = sorted(range(len(brands)), key=lambda place: (urgency(brands[place]), place))[: max(room, 1)]
    return [brands[place] for place in sorted(kept)]


def headline(batch: dict[str, Any], words: Words) -> Text:
    """Name, mode, status, time, rate, time left, failures."""
    from rich.text import Text

    from bobusang.entry.cli.cells import STYLES

    failed = sum(cell["failed"] for brand in batch["brands"] for cell in brand["stages"])
    over = batch["done"] + batch["left"]
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(batch["batch_id"], "bold").append(f"  {batch['mode']}  ")
    line.append(batch["status"], STYLES.get(batch["status"], "")).append(f"  {lasting(batch['seconds'])}")
    if over and batch["status"] == "RUNNING":
        line.append(f"  {batch['done'] * 100 // over}%", "bold")
    line.append("  " + words("{rate}/min", rate=f"{batch['rate']:,.0f}"))
    if batch["status"] == "RUNNING":
        line.append("  " + words("{span} left", span=lasting(batch["eta_seconds"])))
    if failed:
        line.append("  " + words("{count} failed", count=f"{failed:,}"), "bold red")
    return line


def drawn(batch: dict[str, Any], words: Words, width: int, room: int) -> Group:
    """The whole belt."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    brands, known = batch["brands"], width >= ROOMY
    sight = in_sight(brands, room)
    names = {cell["stage"] for brand in brands for cell in brand["stages"]}
    several = len({brand["mall"] for brand in brands}) > 1
    table = Table(
        box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold underline", show_footer=True, expand=True
    )
    whole = words("{count}/{total} brands", count=batch["success_brands"], total=batch["total_brands"])
    table.add_column("", whole, ratio=1, no_wrap=True, overflow="ellipsis", footer_style="bold")
    for stage in (stage for stage in STAGES if stage in names):
        cell = total(brands, stage)
        foot = Text.assemble(*figures(cell, known=known)) if cell else Text()
        table.add_column(stage, foot, justify="right", no_wrap=True, min_width=7)
    for brand in sight:
        by_stage = {cell["stage"]: cell for cell in brand["stages"]}
        title = Text(no_wrap=True, overflow="ellipsis")
        title.append(safe(brand["brand"])).append(f" {brand['mall']}" if several else "", "dim")
        cells = (Text.assemble(*figures(by_stage[one], known=known)) for one in STAGES if one in by_stage)
        table.add_row(title, *cells)
    lines = [
        Text("! ", "bold red", no_wrap=True, overflow="ellipsis").append(f"{where}: {safe(what)}", "red")
        for where, what in errors(brands)[:MOST_ERRORS]
    ]
    hidden = len(brands) - len(sight)
    legend = words("done   ~held or skipped   !failed")
    more = words("and {count} more brands", count=hidden) + "   " if hidden else ""
    return Group(headline(batch, words), table, Text(more + legend, "dim"), *lines)


class Moving:
    """On a terminal: drawn again at each look."""

    def __init__(self, screen: Screen) -> None:
        from rich.live import Live

        self._screen = screen
        self._live = Live(console=screen.side, auto_refresh=False, transient=True)

    def __enter__(self) -> Moving:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, batch: dict[str, Any]) -> None:
        size = self._screen.side.size
        self._live.update(drawn(batch, self._screen.words, size.width, size.height - FRAME), refresh=True)


class Lines:
    """For a log: one line at the first look, every ten seconds, and at the end."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._next = 0.0

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, batch: dict[str, Any]) -> None:
        now = time.monotonic()
        if now < self._next and batch["status"] == "RUNNING":
            return
        self._next = now + LINE_SECONDS
        cells = [(stage, cell) for stage in STAGES if (cell := total(batch["brands"], stage))]
        told = ", ".join(f"{stage} {_written(cell)}" for stage, cell in cells)
        pace = f"{batch['rate']:,.0f}/min, {lasting(batch['eta_seconds'])} left"
        self._screen.note(f"batch {batch['batch_id']} {batch['status']}: {told}; {pace}")


def _written(cell: dict[str, Any]) -> str:
    return "".join(text for text, _ in figures(cell, known=True))


def shown(session: Session, batch: dict[str, Any]) -> None:
    """The belt once, as it stands; in a pipe as plain columns."""
    if sys.stdout.isatty():
        console = session.screen.console
        console.print(drawn(batch, session.words, console.width, len(batch["brands"])))
        return
    rows = [
        {"mall": brand["mall"], "brand": brand["brand"]}
        | {cell["stage"]: f"{cell['status']} {_written(cell)}" for cell in brand["stages"]}
        for brand in batch["brands"]
    ]
    session.screen.title("brands")
    session.screen.table(rows, " ".join(("mall", "brand", *STAGES)))
    if found := errors(batch["brands"]):
        session.screen.title("errors")
        session.screen.table([{"stage": where, "error": what} for where, what in found], "stage error")


def followed(session: Session, batch: str) -> dict[str, Any]:
    """Show a batch until it ends, and hand it over. Ctrl-C only stops watching."""
    try:
        return until_ended(session, batch)
    except KeyboardInterrupt:
        again = session.line(f"run watch {batch}")
        session.note("\nnot watching any more; the batch goes on. {command} watches it again", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None


def until_ended(session: Session, name: str) -> dict[str, Any]:
    """Show a batch until it ends, and hand it over."""
    found: dict[str, Any] = session.api.get(f"/batches/{name}")
    with Moving(session.screen) if session.screen.live else Lines(session.screen) as belt:
        look, alive = 0.0, True
        while True:
            belt.show(found)
            if found["status"] != "RUNNING":
                return found
            if time.monotonic() >= look:
                look, was_alive = time.monotonic() + LINE_SECONDS, alive
                alive = any(worker["is_alive"] for worker in session.api.get("/workers")["items"])
                if was_alive and not alive:
                    session.note("no worker is running: start one with {command}", command=session.line("up"))
            time.sleep(LOOK_SECONDS)  # a terminal is looked at, not rung for
            found = session.api.get(f"/batches/{name}")
