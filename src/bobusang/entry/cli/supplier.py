"""`bobusang supplier`: who supplies goods, and how they come."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import each, inputs
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Suppliers: add, change, pause, resume, collect; sync their goods to the markets.")

Which = Annotated[str, typer.Argument(metavar="SUPPLIER", help="Name of the supplier.")]
Several = Annotated[list[str], typer.Argument(metavar="SUPPLIER...", help="Names of suppliers.")]
Kind = Annotated[str | None, typer.Option("--kind", help="api, excel or webhook.")]
Address = Annotated[str | None, typer.Option("--address", metavar="URL", help="Where it is.")]
Secret = Annotated[
    str | None, typer.Option("--secret", metavar="REFERENCE", help="Where its secret is: env:NAME or file:PATH.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--setting", metavar="NAME=VALUE", help="targets, refresh_hours, inbox or note; repeatable."),
]

COLUMNS = "name kind active enabled last_sync_at problems"
FACTS = "name kind base_url active enabled secret settings records held last_sync_at problems created_at updated_at"
RUNS = "job_id target mode state listed new changed held started_at reason"
EVENTS = "id event state received_at note"
FILES = "id name state rows accepted refused created_at"


@command(app, "list")
def list_suppliers(
    session: Session,
    kind: Kind = None,
    active: Annotated[bool | None, typer.Option("--active/--paused", help="Only those.")] = None,
) -> None:
    """List suppliers, with when something last came and what is wrong."""
    session.screen.page(session.api.get("/suppliers", kind=kind, active=active), COLUMNS)


@command(app, "add")
def add(
    session: Session,
    supplier: Which,
    kind: Annotated[str, typer.Option("--kind", help="api, excel or webhook.")],
    address: Address = None,
    secret: Secret = None,
    setting: Settings = None,
) -> None:
    """Add a supplier; its name is that of its source."""
    body = {"name": supplier, "kind": kind} | _given(None, address, secret, setting)
    answer = session.api.post("/suppliers", body)
    session.screen.done(answer, "supplier {supplier} was added", supplier=supplier)
    for problem in answer["problems"]:
        session.note("{supplier}: {problem}", supplier=supplier, problem=problem)


@command(app, "show")
def show(session: Session, supplier: Which) -> None:
    """Show a supplier with its settings, its last runs, webhooks and files."""
    found = session.api.get(_path(supplier))
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    for title, name, columns in (
        ("last runs", "runs", RUNS),
        ("last webhooks", "last_events", EVENTS),
        ("last files", "files", FILES),
    ):
        if found[name]:
            session.screen.title(title)
            session.screen.table(found[name], columns)


@command(app, "set")
def set_supplier(
    session: Session,
    supplier: Which,
    kind: Kind = None,
    address: Address = None,
    secret: Secret = None,
    setting: Settings = None,
) -> None:
    """Change a supplier. An empty text takes it away; a setting is taken away by NAME=null."""
    given = _given(kind, address, secret, setting)
    if not given:
        raise Failure("usage", "nothing to change was given", "`bobusang supplier set --help` shows what can be")
    body = {name: None if value == "" else value for name, value in given.items()}
    answer = session.api.patch(_path(supplier), body)
    session.screen.done(answer, "supplier {supplier} was changed", supplier=supplier)


@command(app, "pause")
def pause(session: Session, suppliers: Several) -> None:
    """Ask nothing more of suppliers and take nothing from them until they are resumed."""
    _each(session, suppliers, "pause", "supplier {id} is paused")


@command(app, "resume")
def resume(session: Session, suppliers: Several) -> None:
    """Let paused suppliers take part again."""
    _each(session, suppliers, "resume", "supplier {id} takes part again")


@command(app, "collect")
def collect(session: Session, supplier: Which) -> None:
    """Collect a supplier now: what is new since the last time, or all of it."""
    found = session.api.post(f"{_path(supplier)}/collect")
    if found["jobs"]:
        session.screen.done(found, "{count} jobs collect {supplier}", count=len(found["jobs"]), supplier=supplier)
    else:
        text = "nothing was begun for {supplier}: {why}"
        session.screen.done(found, text, supplier=supplier, why=found["why"] or "-")


@command(app, "sync")
def sync(
    session: Session,
    suppliers: Annotated[list[str] | None, typer.Argument(metavar="[SUPPLIER...]", help="Only these.")] = None,
) -> None:
    """Carry the goods of all active suppliers to the markets now: collect, normalise, enrich, sync."""
    found = session.api.post("/product-sync", {"suppliers": suppliers or []})
    text = "job {id} syncs the suppliers" if found["is_new"] else "job {id} is syncing the suppliers already"
    session.screen.done(found, text, id=found["job_id"])
    session.note("{command} shows how far it is", command=session.line(f"job watch {found['job_id']}"))


def _path(supplier: str) -> str:
    from urllib.parse import quote

    return f"/suppliers/{quote(supplier, safe='')}"


def _given(kind: str | None, address: str | None, secret: str | None, setting: list[str] | None) -> dict[str, Any]:
    told = {"kind": kind, "base_url": address, "secret": secret, "settings": inputs(setting, None)}
    return {name: value for name, value in told.items() if value is not None}


def _each(session: Session, suppliers: list[str], action: str, text: str) -> None:
    each(session, suppliers, lambda one: session.api.post(f"{_path(one)}/{action}"), text)
