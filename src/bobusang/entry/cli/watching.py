"""Watching a job: a bar for each step on a terminal, one plain line every ten seconds elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

import typer

from bobusang.entry.cli.failure import Exit

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import TaskID

    from bobusang.entry.cli.screen import Screen
    from bobusang.entry.cli.session import Session

LOOK_SECONDS = 0.25
"""How often a job is asked for; over HTTP it is one small request."""
LINE_SECONDS = 10.0
ENDED = ("SUCCESS", "FAILED", "CANCELLED")
FACTS = "id workflow status total_items success_count failed_count skipped_count retry_count started_at completed_at"


class Belt(Protocol):
    """Something that shows how far a job is."""

    def show(self, job: dict[str, Any]) -> None:
        """The job as it is now."""

    def __enter__(self) -> Belt: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def belt(screen: Screen) -> Belt:
    """What suits where stderr goes."""
    return Bars(screen) if screen.live else Lines(screen)


def ended_of(step: dict[str, Any]) -> int:
    """How many tasks of a step are over."""
    return int(step["succeeded"] + step["failed"] + step["skipped"] + step["cancelled"])


class Bars:
    """Moves on a terminal."""

    def __init__(self, screen: Screen) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._screen = screen
        self._bars: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[trouble]}", style="yellow"),
            console=screen.side,
        )

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def show(self, job: dict[str, Any]) -> None:
        for step in job["steps"]:
            name, total = step["name"], step["created"]
            if name not in self._bars:
                self._bars[name] = self._progress.add_task(name, total=None, start=False, trouble="")
            bar = self._bars[name]
            if step["started_at"]:
                self._progress.start_task(bar)
            self._progress.update(bar, completed=ended_of(step), total=total or None, trouble=self._trouble(step))
            if step["state"] == "DONE":
                self._progress.stop_task(bar)

    def _trouble(self, step: dict[str, Any]) -> str:
        words = self._screen.words
        parts = [(step["retried"], "{count} retries"), (step["failed"], "{count} failed")]
        return ", ".join(words(text, count=count) for count, text in parts if count)


class Lines:
    """For a log: one line at the first look, every ten seconds, and at the end."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._next = 0.0
        self._said = ""

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, job: dict[str, Any]) -> None:
        now = time.monotonic()
        over = job["status"] in ENDED
        if now < self._next and not over:
            return
        steps = ", ".join(f"{step['name']} {ended_of(step)}/{step['created']}" for step in job["steps"])
        line = f"job {job['id']} {job['status']}: {steps}"
        if line != self._said or not over:
            self._screen.note(line)
        self._said, self._next = line, now + LINE_SECONDS


def watched(session: Session, job: int) -> None:
    """Show a job until it ends, then what came of it; Ctrl-C only stops watching."""
    found = followed(session, job)
    session.screen.record(found, only=FACTS)
    if session.screen.reads_well and found["failed_count"]:
        session.note("{command} shows what failed", command=session.line(f"dlq list --job {job}"))
    session.end(Exit.OK if found["status"] == "SUCCESS" else Exit.FAILED)


def followed(session: Session, job: int, look: Callable[[], None] | None = None) -> dict[str, Any]:
    """Show a job until it ends, and hand it over; `look` is called now and then, to tell of what holds it up.

    Ctrl-C only stops watching.
    """
    try:
        return _until_ended(session, job, look)
    except KeyboardInterrupt:
        again = session.line(f"job watch {job}")
        session.note("\nnot watching any more; the job goes on. {command} watches it again", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None


def _until_ended(session: Session, job: int, tell: Callable[[], None] | None) -> dict[str, Any]:
    found: dict[str, Any] = session.api.get(f"/jobs/{job}")
    with belt(session.screen) as shown:
        look, alive = 0.0, True
        while True:
            shown.show(found)
            if found["status"] in ENDED:
                return found
            if time.monotonic() >= look:
                look, was_alive, alive = time.monotonic() + LINE_SECONDS, alive, _anybody(session)
                if was_alive and not alive:
                    session.note("no worker is running: start one with {command}", command=session.line("up"))
                if tell is not None:
                    tell()
            time.sleep(LOOK_SECONDS)
            found = session.api.get(f"/jobs/{job}")


def _anybody(session: Session) -> bool:
    return any(worker["is_alive"] for worker in session.api.get("/workers")["items"])
