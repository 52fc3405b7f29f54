"""`up`, `worker` and `scheduler`: the commands that stay."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Run the program.")


@command(app, "up")
def up(
    session: Session,
    host: Annotated[str | None, typer.Option(help="Address to listen on (BOBUSANG_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, 0 for a free one (BOBUSANG_PORT).")] = None,
) -> None:
    """Run API, scheduler and worker in one process.

    The embedded database is made and upgraded by itself. Ctrl-C finishes what is running; twice leaves at once.
    """
    from bobusang.entry.cli.process import start

    start(session, session.settings(host=host, port=port), api=True, worker=_name(), upkeep=True)


@command(app, "worker")
def worker(
    session: Session,
    name: Annotated[str | None, typer.Option(help="What it is called in lists; host and process id otherwise.")] = None,
    no_upkeep: Annotated[bool, typer.Option("--no-upkeep", help="Never lead upkeep: others do.")] = False,
) -> None:
    """Run a worker, which also leads upkeep when nobody else does."""
    from bobusang.entry.cli.process import start

    start(session, session.settings(), api=False, worker=name or _name(), upkeep=not no_upkeep)


@command(app, "scheduler")
def scheduler(session: Session) -> None:
    """Run the scheduler and the other upkeep, without a worker."""
    from bobusang.entry.cli.process import start

    start(session, session.settings(), api=False, worker=None, upkeep=True)


def _name() -> str:
    import os
    import socket

    return f"{socket.gethostname()}:{os.getpid()}"
