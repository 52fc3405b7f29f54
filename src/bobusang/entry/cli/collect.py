"""`bobusang collect`: runs over brands, sellers and lists of a source."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Collecting: start runs, watch them, look at what they showed.")

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]
Brands = Annotated[list[str] | None, typer.Option("--brand", metavar="KEY", help="A brand by its key; repeatable.")]
Sellers = Annotated[list[str] | None, typer.Option("--seller", metavar="ID", help="A seller by its id; repeatable.")]
Targets = Annotated[
    list[str] | None, typer.Option("--target", metavar="KIND:KEY", help="Any other target, as list:all; repeatable.")
]
Everything = Annotated[bool, typer.Option("--all", help="All accepted brands, or the lists of a source without any.")]
Key = Annotated[str | None, typer.Option("--key", help="A second start with the same key is the first.")]
Wait = Annotated[bool, typer.Option("--wait", help="Stay until all end; exit code 1 when one failed.")]

COLUMNS = "job_id source target mode state listed total new changed held reason"
FACTS = (
    "job_id source target mode status state reason tripped known listed total coverage pages_read pages_expected "
    "new changed held held_open missed absent started_at closed_at seconds"
)
MARKS = "source stream target until updated_at"
COUNTS = "endpoint success failure retries throttled not_modified items changed bytes"


@command(app, "full")
def full(
    session: Session,
    source: Source,
    brand: Brands = None,
    seller: Sellers = None,
    target: Targets = None,
    everything: Everything = False,
    key: Key = None,
    wait: Wait = False,
) -> None:
    """Collect everything of brands, sellers or lists of a source."""
    _start(session, "FULL", source, _chosen(brand, seller, target), everything=everything, key=key, wait=wait)


@command(app, "partial")
def partial(
    session: Session,
    source: Source,
    brand: Brands = None,
    seller: Sellers = None,
    target: Targets = None,
    everything: Everything = False,
    key: Key = None,
    wait: Wait = False,
) -> None:
    """Refresh price and stock of what is known, and take nothing new."""
    _start(session, "PARTIAL", source, _chosen(brand, seller, target), everything=everything, key=key, wait=wait)


@command(app, "sync")
def sync(session: Session, source: Source, key: Key = None, wait: Wait = False) -> None:
    """Take what has happened at a source since the last time; all of it at first."""
    answer = session.api.post("/collect/sync", {"source": source} | ({"key": key} if key else {}))
    _told(session, source, answer["items"], wait=wait)


@command(app, "marks")
def marks(
    session: Session, source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None
) -> None:
    """Show up to when sources were followed."""
    session.screen.page(session.api.get("/collect/marks", source=source) | {"next": None}, MARKS)


@command(app, "runs")
def runs(
    session: Session,
    source: Annotated[str | None, typer.Option("--source", help="Only of this source.")] = None,
    target: Annotated[str | None, typer.Option("--target", metavar="KIND:KEY", help="Only of this target.")] = None,
    state: Annotated[str | None, typer.Option("--state", help="OPEN, PROVED or UNPROVED.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="FULL or PARTIAL.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List runs, newest first: what each list showed, and whether it was proved complete."""
    query = {"source": source, "target": target, "state": state, "mode": mode}
    session.show_list("/collect/runs", COLUMNS, **query, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, job: Annotated[int, typer.Argument(metavar="JOB", help="Id of the run's job.")]) -> None:
    """Show a run: coverage, what is new, changed and held, and the fetches by endpoint."""
    _show(session, session.api.get(f"/collect/runs/{job}"))


def _show(session: Session, found: dict[str, Any]) -> None:
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    if found["endpoints"]:
        session.screen.title("fetches")
        session.screen.table(found["endpoints"], COUNTS)
    if found["held_open"]:
        command = session.line(f"held list --source {found['source']}")
        session.note("{command} shows what waits for a person", command=command)


def _chosen(brands: list[str] | None, sellers: list[str] | None, targets: list[str] | None) -> dict[str, list[str]]:
    """Keys by kind of target."""
    found: dict[str, list[str]] = {}
    for kind, keys in (("brand", brands), ("seller", sellers)):
        if keys:
            found[kind] = list(keys)
    for text in targets or ():
        kind, colon, key = text.partition(":")
        if not colon or not kind or not key:
            raise Failure("usage", f"--target {text}: a kind and a key are expected", "as --target list:all")
        found.setdefault(kind, []).append(key)
    return found


def _start(
    session: Session,
    mode: str,
    source: str,
    chosen: dict[str, list[str]],
    *,
    everything: bool,
    key: str | None,
    wait: bool,
) -> None:
    if everything == bool(chosen):
        hint = f"as `bobusang collect {mode.lower()} {source} --all`"
        raise Failure("usage", "say what: --brand, --seller or --target, or --all", hint)
    asked = {"source": source, "mode": mode} | ({"key": key} if key else {})
    wanted = _everything(session, source) if everything else [{"kind": kind, "keys": chosen[kind]} for kind in chosen]
    answers = [session.api.post("/collect", asked | one) for one in wanted]
    _told(session, source, [item for answer in answers for item in answer["items"]], wait=wait)


def _told(session: Session, source: str, items: list[dict[str, Any]], *, wait: bool) -> None:
    if wait:
        _waited(session, source, [item["job_id"] for item in items])
    elif session.options.machine:
        session.screen.page({"items": items, "next": None}, "job_id target created")
    else:
        for item in items:
            text = "job {id} collects {target}" if item["created"] else "job {id} collects {target} already"
            session.screen.done(None, text, id=item["job_id"], target=item["target"])
        session.note("{command} watches it", command=session.line(f"job watch {items[0]['job_id']}"))


def _everything(session: Session, source: str) -> list[dict[str, Any]]:
    """All accepted brands where a source is collected by brand, else its lists."""
    from bobusang.entry.cli.source import path

    kinds = session.api.get(path(source))["kinds"]
    if "brand" not in kinds and "list" in kinds:
        return [{"kind": "list"}]
    return [{"accepted": True}]


def _waited(session: Session, source: str, ids: list[int]) -> None:
    from bobusang.entry.cli.waiting import told_of
    from bobusang.entry.cli.watching import followed

    look = told_of(session, source)
    jobs = [followed(session, one, look) for one in ids]
    ended = [run for one in ids if (run := _run(session, one)) is not None]
    if ended and len(ids) == 1:
        _show(session, ended[0])
    else:
        session.screen.page({"items": ended, "next": None}, COLUMNS)
    failed = [job["id"] for job in jobs if job["status"] != "SUCCESS"]
    if failed:
        session.note("{command} shows what failed", command=session.line(f"dlq list --job {failed[0]}"))
    session.end(Exit.OK if not failed else Exit.FAILED if len(failed) == len(ids) else Exit.PARTIAL)


def _run(session: Session, job: int) -> dict[str, Any] | None:
    """The run of a job; None: it did not come as far as to begin one."""
    try:
        found: dict[str, Any] = session.api.get(f"/collect/runs/{job}")
    except Failure as failure:
        if failure.code == "missing":
            return None
        raise
    return found
