"""`bobusang db`: where the database stands in the history of its tables."""

from __future__ import annotations

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("The database: upgrade, status.")


@command(app, "upgrade")
def upgrade(session: Session) -> None:
    """Bring the database up to date; make the embedded one if there is none."""
    import asyncio

    from bobusang import migrations
    from bobusang.entry.cli.place import database_file, prepare, quietly
    from bobusang.settings import masked

    settings = session.settings()
    quietly(settings)
    before = None
    path = database_file(settings)
    if path is None or path.exists():
        before = asyncio.run(migrations.status(settings.database)).current
    prepare(settings)
    after = asyncio.run(migrations.upgrade(settings.database))
    found = {"database": masked(settings.database), "from": before, "current": after.current, "head": after.head}
    text = "{database} is at {current} already" if before == after.current else "{database} is now at {current}"
    session.screen.done(found, text, database=found["database"], current=after.current)


@command(app, "status")
def status(session: Session) -> None:
    """Show where the database stands; exit code 1 when it needs an upgrade."""
    import asyncio

    from bobusang import migrations
    from bobusang.entry.cli.failure import Exit
    from bobusang.entry.cli.place import must_exist, quietly
    from bobusang.settings import masked

    settings = session.settings()
    quietly(settings)
    must_exist(settings)
    found = asyncio.run(migrations.status(settings.database))
    session.screen.record(
        {
            "database": masked(settings.database),
            "current": found.current,
            "head": found.head,
            "is_current": found.is_current,
        }
    )
    if not found.is_current:
        session.note("run {command}", command=session.line("db upgrade"))
        session.end(Exit.FAILED)
