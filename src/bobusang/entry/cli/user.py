"""`bobusang user`: people who sign in to the screen."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Yes
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("People who sign in to the screen.")

User = Annotated[int, typer.Argument(metavar="USER", help="Id of the user.")]


@command(app, "list")
def list_users(session: Session) -> None:
    """List people by name."""
    found = session.api.get("/users")["items"]
    session.screen.table(found, "id name role language zone seen_at disabled_at")


@command(app, "invite")
def invite(
    session: Session, role: Annotated[str, typer.Option("--role", help="viewer, operator or admin.")] = "viewer"
) -> None:
    """Make a link that works once: whoever opens it chooses a name and a password."""
    _shown(session, session.api.post("/users/invitations", {"role": role}))


@command(app, "link")
def link(session: Session, user: User) -> None:
    """Make a link that works once, for a new password."""
    _shown(session, session.api.post(f"/users/{user}/link", {}))


@command(app, "role")
def role(session: Session, user: User, role: Annotated[str, typer.Argument(help="viewer, operator or admin.")]) -> None:
    """Let a person do more or less."""
    answer = session.api.put(f"/users/{user}/role", {"role": role})
    session.screen.done(answer, "{name} is {role} now", name=answer["name"], role=answer["role"])


@command(app, "disable")
def disable(session: Session, user: User, yes: Yes = False) -> None:
    """Shut a person out at once."""
    session.confirm("shut user {id} out?", yes=yes, id=user)
    answer = session.api.post(f"/users/{user}/disable", {})
    session.screen.done(answer, "{name} is shut out", name=answer["name"])


@command(app, "enable")
def enable(session: Session, user: User) -> None:
    """Let a person in again."""
    answer = session.api.post(f"/users/{user}/enable", {})
    session.screen.done(answer, "{name} may come in again", name=answer["name"])


def _shown(session: Session, answer: dict[str, str]) -> None:
    """The link as it can be sent to somebody."""
    settings = session.settings()
    at = session.options.url or f"http://{settings.host}:{settings.port}"
    whole = f"{at.rstrip('/')}{answer['path']}"
    session.note("it works once, for a day")
    session.screen.record({**answer, "url": whole}, line=whole)
