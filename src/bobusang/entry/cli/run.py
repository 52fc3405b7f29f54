"""`bobusang run`: batches of the conveyor, from the mall to the market."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, Limit, Yes
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Batches of the conveyor: start, watch, pause, retry, cancel.")

Batch = Annotated[str, typer.Argument(metavar="BATCH", help="Its name, as 20260127_01.")]
Newest = Annotated[str | None, typer.Argument(metavar="[BATCH]", help="Its name; without one the newest.")]
Malls = Annotated[list[str] | None, typer.Option("--mall", metavar="NAME", help="Only of this mall; repeatable.")]
Brands = Annotated[
    list[str] | None, typer.Option("--brand", metavar="KEY", help="An accepted brand by key or name; repeatable.")
]
Stages = Annotated[str | None, typer.Option("--stages", metavar="LIST", help="Only these, as price,register.")]
Products = Annotated[int | None, typer.Option("--limit", min=1, help="At most so many products a brand.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Show what would be sent by what is known now; send nothing.")]
Key = Annotated[str | None, typer.Option("--key", help="A second start with the same key is the first.")]
Wait = Annotated[bool, typer.Option("--wait", help="Watch it to its end; exit code 1 when it failed, 5 in part.")]

PREVIEW = "sku account kind changes"
CAUSES = "stage count dead brands error product task_id"
CHANGES = "stage items items_before failed failed_before"
SHORT = 40
COLUMNS = "batch_id mode status total_brands success_brands start_time end_time"
FACTS = "batch_id mode status total_brands success_brands start_time end_time seconds done left rate eta_seconds"


@command(app, "full")
def full(
    session: Session,
    mall: Malls = None,
    brand: Brands = None,
    stages: Stages = None,
    limit: Products = None,
    dry_run: Dry = False,
    key: Key = None,
    wait: Wait = False,
) -> None:
    """Take all accepted brands through COLLECT, CONVERT, IMAGE, PRICE and REGISTER."""
    if dry_run:
        _previewed(session, "FULL", _wanted(mall, brand, stages, limit, None))
        return
    _start(session, "FULL", _wanted(mall, brand, stages, limit, key), wait=wait)


@command(app, "partial")
def partial(
    session: Session,
    mall: Malls = None,
    brand: Brands = None,
    stages: Stages = None,
    limit: Products = None,
    dry_run: Dry = False,
    key: Key = None,
    wait: Wait = False,
) -> None:
    """Refresh price and stock of what is listed: COLLECT, PRICE and REGISTER, nothing new."""
    if dry_run:
        _previewed(session, "PARTIAL", _wanted(mall, brand, stages, limit, None))
        return
    _start(session, "PARTIAL", _wanted(mall, brand, stages, limit, key), wait=wait)


@command(app, "list")
def list_batches(
    session: Session,
    mode: Annotated[str | None, typer.Option("--mode", help="FULL or PARTIAL.")] = None,
    status: Annotated[str | None, typer.Option("--status", help="RUNNING, COMPLETED or FAILED.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List batches, newest first."""
    session.show_list("/batches", COLUMNS, mode=mode, status=status, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, batch: Newest = None) -> None:
    """Show a batch: its brands by stage, and what failed."""
    _show(session, session.api.get(f"/batches/{_named(session, batch)}"))


@command(app, "watch")
def watch(session: Session, batch: Newest = None) -> None:
    """Watch a batch until it ends; exit code 1 when it failed, 5 in part. Ctrl-C only stops watching."""
    _watched(session, _named(session, batch))


@command(app, "retry")
def retry(
    session: Session,
    batch: Batch,
    stage: Annotated[
        str | None, typer.Option("--from", metavar="STAGE", help="All brands of a batch that is over, from there on.")
    ] = None,
    wait: Wait = False,
) -> None:
    """Run the ERROR stages of a batch again, each brand from its first stage that is not done."""
    answer = session.api.post(f"/batches/{batch}/retry", {"stage": stage} if stage else {})
    _left_out(session, answer)
    text = "batch {batch}: {tasks} tasks of {brands} brands run again"
    values = {"batch": batch, "tasks": answer["tasks"], "brands": len(answer["brands"])}
    _told(session, answer, text, values, wait=wait)


@command(app, "clone")
def clone(session: Session, batch: Batch, wait: Wait = False) -> None:
    """Start a batch like another: the same mode, brands, stages and limit."""
    answer = session.api.post(f"/batches/{batch}/clone", {})
    _left_out(session, answer)
    text = "batch {batch} was started for {brands} brands"
    _told(session, answer, text, {"batch": answer["batch_id"], "brands": len(answer["brands"])}, wait=wait)


@command(app, "pause")
def pause(session: Session, batch: Batch) -> None:
    """Let what waits of a batch go on waiting; what runs is finished."""
    answer = session.api.post(f"/batches/{batch}/pause", {})
    session.screen.done(answer, "batch {batch} is paused: {count} brands wait", batch=batch, count=answer["brands"])


@command(app, "resume")
def resume(session: Session, batch: Batch) -> None:
    """Let a paused batch go on."""
    answer = session.api.post(f"/batches/{batch}/resume", {})
    session.screen.done(answer, "batch {batch} goes on with {count} brands", batch=batch, count=answer["brands"])


@command(app, "errors")
def errors(session: Session, batch: Newest = None) -> None:
    """Show why a batch failed: its errors by cause, and why products were left out."""
    found = session.api.get(f"/batches/{_named(session, batch)}/causes")
    if session.options.machine:
        session.screen.document(found)
        return
    for title, rows in (("failed", found["failed"]), ("left out", found["left_out"])):
        if rows:
            session.screen.title(title)
            session.screen.table(rows, CAUSES)
    if not found["failed"] and not found["left_out"]:
        session.note("nothing failed and nothing was left out")


@command(app, "compare")
def compare(session: Session, batch: Newest = None) -> None:
    """Compare a batch with the one of the same mode before it."""
    found = session.api.get(f"/batches/{_named(session, batch)}/comparison")
    if session.options.machine:
        session.screen.document(found)
        return
    if found["before"] is None:
        session.note("there is no batch of this mode before it")
        return
    values = {"batch": found["batch"]["batch_id"], "before": found["before"]["batch_id"]}
    times = {"seconds": f"{found['seconds']:.0f}", "seconds_before": f"{found['seconds_before']:.0f}"}
    session.note("{batch} took {seconds} s, {before} took {seconds_before} s", **values, **times)
    session.screen.table(found["stages"], CHANGES)
    for title, rows in (("new causes", found["new"]), ("causes that are gone", found["gone"])):
        if rows:
            session.screen.title(title)
            session.screen.table(rows, CAUSES)


@command(app, "cancel")
def cancel(
    session: Session,
    batch: Batch,
    why: Annotated[str, typer.Option("--why", help="The reason, for the control rows and the audit log.")] = "",
    yes: Yes = False,
) -> None:
    """End a batch now: what is done stays done, and `run retry` goes on with the rest."""
    session.confirm("cancel batch {batch}?", yes=yes, batch=batch)
    answer = session.api.post(f"/batches/{batch}/cancel", {"why": why} if why else {})
    text = "batch {batch} was cancelled: {count} brands had not ended"
    session.screen.done(answer, text, batch=batch, count=answer["cancelled"])


def _wanted(
    malls: list[str] | None, brands: list[str] | None, stages: str | None, limit: int | None, key: str | None
) -> dict[str, Any]:
    chosen = {
        "malls": malls,
        "brands": brands,
        "stages": [name.strip() for name in stages.split(",") if name.strip()] if stages else None,
        "limit": limit,
        "key": key,
    }
    return {name: value for name, value in chosen.items() if value}


def _start(session: Session, mode: str, wanted: dict[str, Any], *, wait: bool) -> None:
    answer = session.api.post("/batches", {"mode": mode} | wanted)
    _left_out(session, answer)
    made = "batch {batch} was started for {brands} brands"
    text = made if answer["created"] else "batch {batch} runs already and is gone on with"
    _told(session, answer, text, {"batch": answer["batch_id"], "brands": len(answer["brands"])}, wait=wait)


def _previewed(session: Session, mode: str, wanted: dict[str, Any]) -> None:
    """The calls that a run would make, with the fields they change, and what they would cost."""
    found = session.api.post("/previews", {"mode": mode} | wanted)
    if session.options.machine:
        session.screen.document(found)
        return
    rows = [one | {"changes": _would(one)} for one in found["items"]]
    session.screen.table(rows, PREVIEW)
    costs = ", ".join(f"{count:,} {family}" for family, count in sorted(found["calls"].items())) or "none"
    text = "nothing was sent; calls it would cost: {costs}; {held} held, {idle} as confirmed"
    session.note(text, costs=costs, held=f"{found['held']:,}", idle=f"{found['idle']:,}")


def _would(line: dict[str, Any]) -> str:
    """What would change, or why nothing would; and which options are left as they are."""
    told = _differences(line["changes"]) if line["kind"] else line["why"]
    return f"{told} ({line['doubts']})" if line["doubts"] else told


def _differences(changes: dict[str, list[Any]]) -> str:
    """`price 12,300 → 11,900`; of long values only that they differ."""
    return "; ".join(f"{name} {_short(before)} → {_short(after)}" for name, (before, after) in changes.items())


def _short(value: Any) -> str:
    if isinstance(value, list):
        return f"[{len(value)}]"
    text = "–" if value in (None, "") else str(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _told(session: Session, answer: dict[str, Any], text: str, values: dict[str, Any], *, wait: bool) -> None:
    if not wait:
        session.screen.done(answer, text, **values)
        if session.screen.reads_well:
            session.note("{command} watches it", command=session.line(f"run watch {answer['batch_id']}"))
        return
    session.note(text, **values)
    _watched(session, answer["batch_id"])


def _left_out(session: Session, answer: dict[str, Any]) -> None:
    if answer["busy"]:
        names = ", ".join(f"{one['mall']} {one['brand']}" for one in answer["busy"][:5])
        more = f" +{len(answer['busy']) - 5}" if len(answer["busy"]) > 5 else ""
        session.note("left out, because another batch has them: {brands}", brands=names + more)


def _named(session: Session, batch: str | None) -> str:
    """The batch that is meant."""
    if batch:
        return batch
    found = session.api.get("/batches", limit=1)["items"]
    if not found:
        raise Failure("missing", "there is no batch yet", "`bobusang run full` starts one")
    return str(found[0]["batch_id"])


def _show(session: Session, found: dict[str, Any]) -> None:
    from bobusang.entry.cli.belt import shown

    session.screen.record(found, only=FACTS)
    if session.screen.reads_well:
        shown(session, found)


def _watched(session: Session, batch: str) -> None:
    from bobusang.entry.cli.belt import followed

    found = followed(session, batch)
    _show(session, found)
    if found["status"] != "COMPLETED":
        session.note("{command} runs what failed again", command=session.line(f"run retry {batch}"))
        session.end(Exit.PARTIAL if found["success_brands"] else Exit.FAILED)
