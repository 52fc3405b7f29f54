"""`bobusang demo`: the main job on this machine alone, from two malls to a market, and what came of it."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Run the main job, or the engine alone.")


@command(app, "demo")
def demo(
    session: Session,
    size: Annotated[int, typer.Option("--size", min=30, max=20_000, help="Products of each of the two malls.")] = 220,
    engine: Annotated[
        bool, typer.Option("--engine", help="Only a small workflow of the engine, without malls.")
    ] = False,
    pages: Annotated[int, typer.Option("--pages", min=1, max=100_000, help="With --engine: pages it fetches.")] = 500,
) -> None:
    """Run the main job: two malls to a market, then what changed since.

    It starts a sandbox on this machine, the real program on SQLite and files in one folder (./bobusang-demo unless
    --home says otherwise), takes several brands through all five stages, waits for the market's webhooks, and then
    shows that a PARTIAL run sends only the differences. A second run goes on with the same data. The exit code is 0
    when everything ended as designed.
    """
    if engine:
        from bobusang.entry.cli.engine_demo import shown as shown_engine

        shown_engine(session, pages)
        return
    from bobusang.entry.cli.main_job import shown

    shown(session, size)
