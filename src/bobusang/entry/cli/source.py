"""`bobusang source`: what can be collected, and who decided that it may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from bobusang.entry.cli import shop_tools
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Sources: malls and suppliers; make, check and try one, enable, disable, resume.")

Which = Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]

COLUMNS = "name intake enabled health last_answer_at gate robots rate identity origin description"
FACTS = (
    "name description intake origin contains_code trusted problem base version kinds enabled why decided_by decided_at "
    "rights health last_answer_at pages_read pages_failed gate limits identity"
)
ROBOTS = "endpoint path standing line"
STREAMS = "name kind path targets emits when"
GATES = "endpoint answer cause until breaker reason"
JOURNAL = "at endpoint answer until reason"
TODAY = "endpoint success failure retries throttled not_modified items changed"


@command(app, "list")
def list_sources(
    session: Session,
    enabled: Annotated[bool | None, typer.Option("--enabled/--disabled", help="Only those.")] = None,
) -> None:
    """List all sources: shipped ones, those of packages, and your own."""
    found = session.api.get("/sources", enabled=enabled)
    if not session.screen.reads_well:
        session.screen.page(found, COLUMNS)
        return
    session.screen.table([_line(one) for one in found["items"]], COLUMNS)
    for one in found["items"]:
        if one["problem"]:
            session.note("{name} cannot be used: {problem}", name=one["name"], problem=one["problem"])
    # What no shop describes is asked by workflows alone: nobody collects it, so it does not keep the others from "all".
    on = [one for one in found["items"] if one["enabled"] and one.get("origin") != "undescribed"]
    well = sum(one["health"] == "healthy" for one in on)
    if on:
        session.note("{well} of {on} enabled sources are healthy", well=well, on=len(on))


def _line(found: dict[str, Any]) -> dict[str, Any]:
    """A source as a row: of what has parts, the part that matters."""
    parts = (("robots", "robots", "standing"), ("rate", "limits", "rate"), ("identity", "identity", "kind"))
    return found | {name: (found.get(whole) or {}).get(part) for name, whole, part in parts}


@command(app, "show")
def show(session: Session, source: Which) -> None:
    """Show a source: who decided what, robots.txt, streams, the gate and today's fetches."""
    found = session.api.get(path(source))
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    if found["robots"]:
        session.screen.title("robots.txt")
        session.note("{url}: {result}", url=found["robots"]["url"], result=robots(found["robots"]))
        session.screen.table(found["robots"]["endpoints"], ROBOTS, whole=True)
    for title, name, columns in (
        ("streams", "streams", STREAMS),
        ("gate", "gates", GATES),
        ("last decisions of the gate", "decisions", JOURNAL),
        ("today", "today", TODAY),
    ):
        if found[name]:
            session.screen.title(title)
            session.screen.table(found[name], columns)


@command(app, "enable")
def enable(
    session: Session,
    source: Which,
    why: Annotated[str, typer.Option("--why", help="Which terms, agreement or official API allow it.")],
    rights: Annotated[
        Literal["own", "supplier", "unknown"] | None,
        typer.Option("--rights", help="By what right its pictures are shown; unless said, as before."),
    ] = None,
) -> None:
    """Let a source be collected. Its robots.txt is fetched and kept beside your decision."""
    said = {"rights": rights} if rights else {}
    found = session.api.post(f"{path(source)}/enable", {"why": why} | said)
    session.screen.done(found, "{source} may be collected", source=source)
    if session.screen.reads_well and found["robots"]:
        session.note("robots.txt: {result}", result=robots(found["robots"]))


@command(app, "disable")
def disable(session: Session, source: Which, why: Annotated[str, typer.Option("--why", help="What happened.")]) -> None:
    """Stop collecting a source; what is queued waits."""
    found = session.api.post(f"{path(source)}/disable", {"why": why})
    session.screen.done(found, "{source} is collected no more", source=source)


@command(app, "resume")
def resume(session: Session, source: Which) -> None:
    """Try a source again that was halted, rests, or does not answer."""
    found = session.api.post(f"{path(source)}/resume")
    text = "{source} is tried again" if found["resumed"] else "nothing had stopped {source}"
    session.screen.done(found, text, source=source)


@command(app, "key")
def key(
    session: Session,
    source: Which,
    file: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="Read the key there, - being stdin; else it is asked.")
    ] = None,
    username: Annotated[
        str | None, typer.Option("--username", metavar="NAME", help="Log in by this name; the key is the password.")
    ] = None,
) -> None:
    """Give a source the API key that you were given for it, or name and password; they are never shown again."""
    named = {"username": username} if username else {}
    session.api.post(f"{path(source)}/key", {"key": _secret(session, file), **named})
    session.screen.done({"source": source, "key": "***"}, "{source} has its key", source=source)


def path(source: str) -> str:
    """The source's place in the API."""
    from urllib.parse import quote

    return f"/sources/{quote(source, safe='')}"


def robots(found: dict[str, Any]) -> str:
    """What robots.txt says, in a line."""
    if found["error"]:
        return f"{found['standing']}: {found['error']}"
    delay = f", crawl-delay {found['crawl_delay']:g} s" if found["crawl_delay"] else ""
    return f"{found['standing']} ({found['line']}){delay}"


def _secret(session: Session, file: str | None) -> str:
    """Never from the command line itself, which other users of the machine can see."""
    import sys

    from bobusang.entry.cli.asked import contents

    if file is not None:
        found = contents(file).decode("utf-8", "replace").strip()
    elif session.options.machine or not sys.stdin.isatty():
        raise Failure("usage", session.words("nobody can be asked here: give --file"))
    else:
        found = str(typer.prompt(session.words("key"), hide_input=True, err=True)).strip()
    if not found:
        raise Failure("usage", session.words("the key is empty"))
    return found


shop_tools.add(app)
