"""`bobusang version`."""

from __future__ import annotations

from bobusang import __version__
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Show the version.")


@command(app, "version")
def version(session: Session) -> None:
    """Show the version."""
    import platform

    found = {"version": __version__, "python": platform.python_version()}
    session.screen.record(found, line=__version__)
