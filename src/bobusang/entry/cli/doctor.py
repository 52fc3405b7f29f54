"""`bobusang doctor`: checks an installation, and says for each thing what to do."""

from __future__ import annotations

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit
from bobusang.entry.cli.session import Session

app = group("Check this installation.")


@command(app, "doctor")
def doctor(session: Session) -> None:
    """Check this installation and say what to do; exit code 1 when something is broken."""
    from bobusang.entry.cli.checks import State, examined, known_settings

    checks = examined(session)
    broken = any(check.state is State.BROKEN for check in checks)
    listed = [check.document(session.words) for check in checks]
    settings = known_settings(session) if session.options.url is None else []
    if session.options.machine:
        session.screen.document({"ok": not broken, "checks": listed, "settings": settings})
    else:
        session.screen.table(listed, "state check detail advice", whole=True)
        if settings:
            session.screen.title("settings")
            session.screen.table(settings, "name value origin")
    session.end(Exit.FAILED if broken else Exit.OK)
