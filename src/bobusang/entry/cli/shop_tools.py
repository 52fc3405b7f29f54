"""`bobusang source new|check|try|record|replay`: the tools of whoever adds or mends a shop.

They work on the folder and the database of this machine: `new` and `check` on files alone, the others in this process.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bobusang.entry.cli.command import command
from bobusang.entry.cli.failure import Exit
from bobusang.entry.cli.session import Session

if TYPE_CHECKING:
    from bobusang.flows.collect.trying import Wish


class Format(StrEnum):
    """What a shop's pages are."""

    HTML = "html"
    JSON = "json"


Which = Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]
Stream = Annotated[str, typer.Argument(metavar="STREAM", help="Which of its streams, as list or detail.")]
Of = Annotated[
    str | None, typer.Option("--target", metavar="KIND:KEY", help="A list's target, as brand:… or seller:….")
]
Item = Annotated[str | None, typer.Option("--item", metavar="KEY", help="The key of an item, for its own pages.")]
Number = Annotated[int | None, typer.Option("--page", min=0, help="The number of a list's page.")]
Address = Annotated[str | None, typer.Option("--address", metavar="URL", help="This very page, read as the stream's.")]


def add(app: typer.Typer) -> None:
    """Put these commands into the group of sources."""
    command(app, "platforms")(platforms)
    for name, work in (("new", new), ("check", check), ("try", attempt), ("record", record), ("replay", replay)):
        command(app, name)(work)


def new(
    session: Session,
    what: Annotated[
        str,
        typer.Argument(
            metavar="NAME|URL|FILE|CURL", help="A name for an empty shop; or a page: address, saved file, curl command."
        ),
    ],
    kind: Annotated[Format, typer.Option("--kind", help="What the pages of an empty shop are.")] = Format.HTML,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="DIR", help="Where (BOBUSANG_SHOPS, else ./shops).")
    ] = None,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What to call the shop of a page.")] = "",
    address: Annotated[
        str, typer.Option("--address", metavar="URL", help="Where a saved file came from, if it does not say.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of a shop that is there; it is kept.")
    ] = False,
) -> None:
    """Make a shop folder with a fixture that passes: an empty one, or one proposed from a page.

    A page is fetched once, robots.txt is shown, and what is recognised (a platform, JSON, JSON-LD, data in scripts,
    boxes) becomes a shop.yaml that says of each line how sure it is.
    """
    from pathlib import Path

    from bobusang.entry.cli.generated import Wished, generate, is_page
    from bobusang.entry.cli.shelf import FOLDER, make

    if is_page(what):
        root = Path(folder or session.settings().shops or FOLDER)
        generate(session, root, Wished(what, name, address, force))
    else:
        make(session, what, kind.value, folder)


def platforms(session: Session) -> None:
    """List the platforms that a shop can extend: one on them is a few lines."""
    from bobusang.entry.cli.shelf import list_platforms

    list_platforms(session)


def check(
    session: Session,
    shops: Annotated[list[str] | None, typer.Argument(metavar="[SOURCE|FOLDER]...", help="Which; all of them.")] = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Let what is read now be what fixtures expect, where they differ.")
    ] = False,
    trust: Annotated[bool, typer.Option("--trust", help="Run the shop's own hooks.py.")] = False,
) -> None:
    """Compile shops and read their fixtures; exit code 1 when anything is wrong.

    Each problem is said as file:line: key: what (what to do).
    """
    from bobusang.entry.cli.shelf import examine

    if not examine(session, shops or [], accept=accept, trust=trust):
        session.end(Exit.FAILED)


def attempt(
    session: Session,
    source: Which,
    stream: Stream,
    target: Of = None,
    item: Item = None,
    page: Number = None,
    address: Address = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show so many records.")] = 20,
) -> None:
    """Fetch one page and show what is read of it; nothing is stored in the catalog.

    It goes through the real gate: the source must be enabled, its limits hold, and the page is archived. Exit code 1
    when the page cannot be read.
    """
    from bobusang.entry.cli.tried import in_process, show
    from bobusang.flows.collect.trying import tried

    wish = _wish(stream, target, item, page, address)
    found = in_process(session, lambda app: tried(app.collector, source, wish))
    show(session, found, limit)
    if found.problem:
        session.end(Exit.FAILED)


def record(
    session: Session,
    source: Which,
    stream: Stream,
    fixture: Annotated[str, typer.Argument(metavar="FIXTURE", help="What to call it, as list-first.")],
    target: Of = None,
    item: Item = None,
    page: Number = None,
    address: Address = None,
    again: Annotated[bool, typer.Option("--again", help="Replace a fixture that is there.")] = False,
) -> None:
    """Fetch one page as `try` does and keep it as a fixture of the shop.

    Tokens, cookies, phone numbers and e-mail addresses are taken out, and it is said how many.
    """
    from bobusang.entry.cli.tried import in_process, keep

    wish = _wish(stream, target, item, page, address)
    in_process(session, lambda app: keep(session, app, source, wish, fixture, again=again))


def replay(
    session: Session,
    source: Which,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="Pages fetched since then: 24h, 7d, 2026-01-31.")
    ] = "7d",
    diff: Annotated[bool, typer.Option("--diff", help="Show each record and field that would change.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=100_000, help="At most so many pages of each stream, newest first.")
    ] = 1000,
    fail_on_diff: Annotated[
        bool, typer.Option("--fail-on-diff", help="Exit code 1 when anything would change.")
    ] = False,
) -> None:
    """Read archived pages again with the present reader and show what would change; nothing is written.

    A change is the reader's where the same page was stored by an earlier reader, and the mall's where the page was not
    stored: it could not be read then, or a guard holds it.
    """
    from bobusang.entry.cli.replayed import instant, show
    from bobusang.entry.cli.tried import in_process
    from bobusang.flows.collect.replaying import replay as read_again

    begin = instant(since)
    found = in_process(session, lambda app: read_again(app.collector, source, since=begin, limit=limit))
    show(session, found, diff=diff)
    if fail_on_diff and found.differs:
        session.end(Exit.FAILED)


def _wish(stream: str, target: str | None, item: str | None, page: int | None, address: str | None) -> Wish:
    import re

    from bobusang.entry.cli.failure import Failure
    from bobusang.flows.collect.trying import Wish
    from bobusang.stages.collect.source import Target

    kind, _, key = re.sub("[:=]", ":", target or "", count=1).partition(":")
    if target is not None and not (kind and key):
        raise Failure("usage", f"--target {target}: a kind and a key are expected", "as --target brand:나이키(NIKE)")
    return Wish(stream, Target(kind, key) if target else None, item or "", page, address or "")
