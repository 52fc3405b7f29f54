"""`bobusang queue`: what waits and why; pools and their limits."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Queues, lanes and pools: what waits and why.")

Pool = Annotated[str, typer.Argument(metavar="POOL", help="Name of the pool.")]

COUNTS = "waiting delayed held running oldest_wait_seconds"


@command(app, "show")
def show(session: Session) -> None:
    """Show what waits, by queue, by handler, and by pool."""
    found = session.api.get("/queues")
    if not session.screen.reads_well:
        session.screen.record(found)
        return
    session.screen.title("queues")
    session.screen.table(found["queues"], f"queue {COUNTS}")
    session.screen.title("lanes")
    session.screen.table(found["lanes"], f"handler job_id pools {COUNTS}")
    session.screen.title("pools")
    session.screen.table(found["pools"], "pool in_flight max_in_flight rate burst waits")


@command(app, "limit")
def limit(
    session: Session,
    pool: Pool,
    rate: Annotated[float | None, typer.Option("--rate", help="Tasks a second.")] = None,
    burst: Annotated[float | None, typer.Option("--burst", help="Tasks at once after a pause.")] = None,
    in_flight: Annotated[int | None, typer.Option("--in-flight", min=1, help="Tasks running at once.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all its limits.")] = False,
) -> None:
    """Set the limits of a pool; what is not given has no limit."""
    if not clear and rate is None and burst is None and in_flight is None:
        raise Failure("usage", "no limit was given", "give --rate, --burst or --in-flight, or --clear")
    body = {"rate": rate, "burst": burst, "max_in_flight": in_flight}
    answer = session.api.put(f"/queues/pools/{quoted(pool)}", body)
    session.screen.done(answer, "the limits of {pool} are set", pool=pool)


@command(app, "block")
def block(
    session: Session,
    pool: Pool,
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever wonders.")],
    until: Annotated[
        str | None, typer.Option("--until", metavar="INSTANT", help="Until when; else until resumed.")
    ] = None,
) -> None:
    """Claim nothing from a pool."""
    answer = session.api.post(f"/queues/pools/{quoted(pool)}/block", {"until": until, "reason": reason})
    session.screen.done(answer, "{pool} is blocked", pool=pool)


@command(app, "resume")
def resume(session: Session, pool: Pool) -> None:
    """Let a blocked pool go on."""
    answer = session.api.post(f"/queues/pools/{quoted(pool)}/resume")
    session.screen.done(answer, "{pool} goes on", pool=pool)


def quoted(name: str) -> str:
    """A name as part of a path."""
    from urllib.parse import quote

    return quote(name, safe="")
