"""`bobusang seller`: sellers of malls, each crawled on its own cadence."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Sellers of malls: add, change, pause, resume, disable.")

Which = Annotated[str, typer.Argument(metavar="SELLER", help="The mall's id for it, or our number.")]
Several = Annotated[list[str], typer.Argument(metavar="SELLER...", help="The mall's ids for them, or our numbers.")]
Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]
Every = Annotated[str | None, typer.Option("--every", metavar="CADENCE", help="How often, as 30m, 6h or 2d.")]
Adaptive = Annotated[bool | None, typer.Option("--adaptive/--steady", help="Follow how much changes, or keep to it.")]
Label = Annotated[str | None, typer.Option("--name", help="What we call it.")]
Company = Annotated[str | None, typer.Option("--company", help="The company behind it.")]
Contact = Annotated[str | None, typer.Option("--contact", help="Whom to ask there.")]
Email = Annotated[str | None, typer.Option("--email", help="Where to write to.")]

COLUMNS = "id mall seller_id name status cadence quality next_run_at last_run_at paused_reason"
FACTS = (
    "id mall seller_id name company contact email status paused_reason cadence adaptive interval_minutes quality "
    "next_run_at last_run_at target_id schedule_id created_at"
)
PARTS = "score items completeness validity freshness consistency measured_at"
RUNS = "job_id mode state listed new changed held started_at reason"


@command(app, "list")
def list_sellers(
    session: Session,
    mall: Mall = None,
    status: Annotated[str | None, typer.Option("--status", help="Active, Paused or Disabled.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List sellers, newest first."""
    wanted = None if status is None else status.capitalize()
    session.show_list("/sellers", COLUMNS, mall=mall, status=wanted, limit=limit, cursor=cursor)


@command(app, "add")
def add(
    session: Session,
    seller: Annotated[str, typer.Argument(metavar="SELLER", help="The mall's id for it.")],
    mall: Annotated[str, typer.Option("--mall", help="The mall.")] = "mustit",
    every: Every = None,
    adaptive: Adaptive = None,
    name: Label = None,
    company: Company = None,
    contact: Contact = None,
    email: Email = None,
) -> None:
    """Add a seller; it is crawled once a day unless --every says otherwise."""
    body = {"seller_id": seller, "mall": mall} | _given(every, adaptive, name, company, contact, email)
    answer = session.api.post("/sellers", body)
    session.screen.done(
        answer, "seller {seller} was added (id {id}), crawled every {cadence}", seller=seller, **_of(answer)
    )
    start = session.line(f"crawl start {seller}" + ("" if mall == "mustit" else f" --mall {mall}"))
    session.note("{command} crawls it now", command=start)


@command(app, "show")
def show(session: Session, seller: Which, mall: Mall = None) -> None:
    """Show a seller with its quality, part by part, and its last runs."""
    found = session.api.get(f"/sellers/{seller_number(session, seller, mall)}")
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    if found["quality_parts"]:
        session.screen.title("quality")
        session.screen.table([found["quality_parts"]], PARTS)
    session.screen.title("last runs")
    session.screen.table(found["runs"], RUNS)


@command(app, "set")
def set_seller(
    session: Session,
    seller: Which,
    mall: Mall = None,
    every: Every = None,
    adaptive: Adaptive = None,
    name: Label = None,
    company: Company = None,
    contact: Contact = None,
    email: Email = None,
) -> None:
    """Change a seller; another cadence counts from the next fire. An empty text takes it away."""
    given = _given(every, adaptive, name, company, contact, email)
    if not given:
        raise Failure("usage", "nothing to change was given", "`bobusang seller set --help` shows what can be")
    body = {name: None if value == "" else value for name, value in given.items()}
    answer = session.api.patch(f"/sellers/{seller_number(session, seller, mall)}", body)
    session.screen.done(answer, "seller {id} was changed", id=answer["id"])
    if every is not None and answer["next_run_at"]:
        session.note("the next fire stays at {instant}", instant=answer["next_run_at"])


@command(app, "pause")
def pause(
    session: Session,
    sellers: Several,
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "paused by hand",
    mall: Mall = None,
) -> None:
    """Crawl sellers no more until a person resumes them."""
    _each(session, sellers, mall, "pause", {"reason": reason}, text="seller {id} is paused")


@command(app, "resume")
def resume(session: Session, sellers: Several, mall: Mall = None) -> None:
    """Crawl paused or disabled sellers again."""
    _each(session, sellers, mall, "resume", None, text="seller {id} is crawled again")


@command(app, "disable")
def disable(session: Session, sellers: Several, mall: Mall = None) -> None:
    """Crawl sellers no more; what was collected of them stays."""
    _each(session, sellers, mall, "disable", None, text="seller {id} is disabled")


def _each(
    session: Session, sellers: list[str], mall: str | None, action: str, body: dict[str, Any] | None, *, text: str
) -> None:
    ids = [seller_number(session, seller, mall) for seller in sellers]
    each(session, ids, lambda id: session.api.post(f"/sellers/{id}/{action}", body), text)


def _given(every: str | None, adaptive: bool | None, *texts: str | None) -> dict[str, Any]:
    names = ("name", "company", "contact", "email")
    found = {"cadence": every, "adaptive": adaptive} | dict(zip(names, texts, strict=True))
    return {name: value for name, value in found.items() if value is not None}


def _of(answer: dict[str, Any]) -> dict[str, Any]:
    return {"id": answer["id"], "cadence": answer["cadence"]}


def seller_number(session: Session, wanted: str, mall: str | None = None) -> int:
    """Our number of a seller that was named by the mall's id or by our number."""
    found = session.api.get("/sellers", seller_id=wanted, mall=mall, limit=2)["items"]
    if len(found) > 1:
        raise Failure("usage", f"several malls have a seller '{wanted}'", "say which with --mall")
    if found:
        return int(found[0]["id"])
    if wanted.isascii() and wanted.isdecimal() and len(wanted) < 19:
        return int(wanted)
    raise Failure("missing", f"there is no seller '{wanted}'", "`bobusang seller list` shows them")
