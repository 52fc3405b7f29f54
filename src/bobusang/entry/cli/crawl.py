"""`bobusang crawl`: crawls of sellers, their tasks, how far they are, and what was fetched."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Crawls of sellers: start, tasks, progress, statistics.")

Seller = Annotated[str | None, typer.Option("--seller", help="Only of this seller: the mall's id, or our number.")]
Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]

COLUMNS = "id job_id seller endpoint page item status retries created_at error"
STATES = ("WAITING", "PUBLISHED", "RUNNING", "SUCCESS", "FAILED", "RETRY", "TIMEOUT")
COUNTS = "day source target endpoint success failure retries throttled not_modified items changed success_rate"


@command(app, "start")
def start(
    session: Session,
    seller: Annotated[str, typer.Argument(metavar="SELLER", help="The mall's id for the seller.")],
    mall: Annotated[str, typer.Option("--mall", help="The mall.")] = "mustit",
    partial: Annotated[bool, typer.Option("--partial", help="Only price and stock of what is known.")] = False,
    key: Annotated[str | None, typer.Option("--key", help="A second start with the same key is the first.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until it ends; exit code 1 when it failed.")] = False,
) -> None:
    """Crawl a seller now."""
    body: dict[str, Any] = {"seller_id": seller, "mall": mall, "mode": "PARTIAL" if partial else "FULL"}
    answer = session.api.post("/crawl/start", body | ({} if key is None else {"key": key}))
    text = "job {id} was started" if answer["created"] else "job {id} has this key already"
    if not wait:
        session.screen.done(answer, text, id=answer["job_id"])
        session.note("{command} shows how far it is", command=session.line(f"crawl progress --seller {seller}"))
        return
    from bobusang.entry.cli.watching import watched

    session.note(text, id=answer["job_id"])
    watched(session, answer["job_id"])


@command(app, "tasks")
def tasks(
    session: Session,
    seller: Seller = None,
    mall: Mall = None,
    status: Annotated[str | None, typer.Option("--status", help="Only in this state, as RETRY.")] = None,
    endpoint: Annotated[str | None, typer.Option("--endpoint", help="Only of this endpoint, as list.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List crawl tasks, those of the newest run first."""
    query: dict[str, Any] = {"seller": seller, "mall": mall, "status": status, "endpoint": endpoint}
    session.show_list("/crawl/tasks", COLUMNS, limit=limit, cursor=cursor, **query)


@command(app, "progress")
def progress(
    session: Session, seller: Seller = None, mall: Mall = None, limit: Limit = 10, cursor: Cursor = None
) -> None:
    """Show how far crawls are: their tasks by state, the newest run first."""
    found = session.api.get("/crawl/progress", seller=seller, mall=mall, limit=limit, cursor=cursor)
    columns = "job_id seller mode status tasks"
    used = [state for state in STATES if any(state in run["states"] for run in found["items"])]
    session.screen.page(found, " ".join([columns, *(f"states.{state}" for state in used), "started_at"]))


@command(app, "stats")
def stats(
    session: Session,
    since: Annotated[str | None, typer.Option("--since", metavar="DAY", help="As 2026-07-01; a week ago.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="DAY", help="As 2026-07-07; today.")] = None,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None,
    target: Annotated[str | None, typer.Option("--target", help="Only of this target, as seller:luxboy.")] = None,
    limit: Limit = 200,
    cursor: Cursor = None,
) -> None:
    """Show what was fetched, by day, target and endpoint, the newest day first."""
    query: dict[str, Any] = {"since": since, "until": until, "source": source, "target": target}
    session.show_list("/collect/statistics", COUNTS, limit=limit, cursor=cursor, **query)
