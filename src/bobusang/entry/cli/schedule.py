"""`bobusang schedule`: when workflows run by themselves."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, InputJson, Inputs, Limit, Yes, inputs, schedule_id, workflow_id
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Schedules: when workflows run by themselves.")

Which = Annotated[str, typer.Argument(metavar="SCHEDULE", help="Name or id.")]
Cron = Annotated[str | None, typer.Option("--cron", help="Five fields, as '0 3 * * *'.")]
Zone = Annotated[str | None, typer.Option("--zone", help="Time zone, as Asia/Seoul.")]
Every = Annotated[int | None, typer.Option("--every", help="Seconds, for a schedule that adapts itself.")]
Target = Annotated[int | None, typer.Option("--target", help="Id of the target.")]
Priority = Annotated[int | None, typer.Option("--priority", min=1, max=10, help="1 to 10, 10 most urgent.")]
Misfire = Annotated[str | None, typer.Option("--misfire", help="What was missed: skip, once or all.")]
Overlap = Annotated[
    str | None, typer.Option("--overlap", help="While one still runs: skip, buffer_one, allow or cancel_other.")
]

COLUMNS = "id name workflow schedule_type cron timezone is_active next_run_at last_run_at"


@command(app, "list")
def list_schedules(
    session: Session,
    workflow: Annotated[str | None, typer.Option("--workflow", help="Only of this workflow.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List schedules."""
    session.show_list("/schedules", COLUMNS, workflow=workflow, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, schedule: Which) -> None:
    """Show a schedule in words, with its next and its last fires."""
    found = session.api.get(f"/schedules/{schedule_id(session, schedule)}")
    words = found["words"][session.options.lang]
    only = (
        "id name workflow schedule_type cron timezone words is_active priority misfire overlap input "
        "next_run_at last_run_at"
    )
    session.screen.record(found if session.options.machine else found | {"words": words}, only=only)
    if session.screen.reads_well:
        session.screen.title("next fires")
        session.screen.table([{"fire_at": instant} for instant in found["next_fires"]], "fire_at")
        session.screen.title("last fires")
        session.screen.table(found["fires"], "fire_at decision job_id job_status")


@command(app, "add")
def add(
    session: Session,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    workflow: Annotated[str, typer.Option("--workflow", help="Name or id of the workflow it starts.")],
    cron: Cron = None,
    zone: Zone = None,
    every: Every = None,
    target: Target = None,
    priority: Priority = None,
    misfire: Misfire = None,
    overlap: Overlap = None,
    values: Inputs = None,
    input_json: InputJson = None,
) -> None:
    """Add a schedule: with --cron at fixed times, with --every adapting itself, with neither by hand only."""
    kind = "FIXED" if cron else "DYNAMIC" if every else "MANUAL"
    asked = _asked(cron, zone, every, target, priority, misfire, overlap, inputs(values, input_json))
    body = {"name": name, "workflow": workflow_id(session, workflow), "schedule_type": kind} | asked
    answer = session.api.post("/schedules", body)
    session.screen.done(answer, "schedule {name} was added (id {id})", name=name, id=answer["id"])


@command(app, "edit")
def edit(
    session: Session,
    schedule: Which,
    workflow: Annotated[str | None, typer.Option("--workflow", help="Name or id of the workflow it starts.")] = None,
    cron: Cron = None,
    zone: Zone = None,
    every: Every = None,
    target: Target = None,
    priority: Priority = None,
    misfire: Misfire = None,
    overlap: Overlap = None,
    values: Inputs = None,
    input_json: InputJson = None,
) -> None:
    """Change a schedule; what is not given stays. A fire that is planned stays planned."""
    key = schedule_id(session, schedule)
    asked = _asked(cron, zone, every, target, priority, misfire, overlap, inputs(values, input_json))
    if workflow is not None:
        asked["workflow"] = workflow_id(session, workflow)
    if not asked:
        raise Failure("usage", "nothing to change was given", "`bobusang schedule edit --help` shows what can be")
    if cron:
        asked["schedule_type"] = "FIXED"
    elif every:
        asked["schedule_type"] = "DYNAMIC"
    answer = session.api.put(f"/schedules/{key}", _as_asked(session.api.get(f"/schedules/{key}")) | asked)
    session.screen.done(answer, "schedule {id} was changed", id=key)


def _asked(
    cron: str | None,
    zone: str | None,
    every: int | None,
    target: int | None,
    priority: int | None,
    misfire: str | None,
    overlap: str | None,
    given: dict[str, Any] | None,
) -> dict[str, Any]:
    found = {
        "cron": cron,
        "timezone": zone,
        "interval_seconds": every,
        "target_id": target,
        "priority": priority,
        "misfire": misfire,
        "overlap": overlap,
        "input": given,
    }
    return {name: value for name, value in found.items() if value is not None}


def _as_asked(found: dict[str, Any]) -> dict[str, Any]:
    """A schedule as it would be asked for, to change a part of it."""
    names = ("name", "schedule_type", "cron", "timezone", "target_id", "priority", "job_type", "misfire", "overlap",
             "input", "misfire_window_seconds", "misfire_cap", "jitter_seconds", "interval_seconds",
             "min_interval_seconds", "max_interval_seconds")  # fmt: skip
    kept = {name: found[name] for name in names if found.get(name) is not None}
    return kept | {"workflow": found["workflow_id"]}


@command(app, "pause")
def pause(session: Session, schedule: Which) -> None:
    """Fire no more until resumed."""
    answer = session.api.post(f"/schedules/{schedule_id(session, schedule)}/pause")
    session.screen.done(answer, "{name} fires no more", name=schedule)


@command(app, "resume")
def resume(session: Session, schedule: Which) -> None:
    """Fire again, beginning with the next instant."""
    answer = session.api.post(f"/schedules/{schedule_id(session, schedule)}/resume")
    session.screen.done(answer, "{name} fires again", name=schedule)


@command(app, "delete")
def delete(session: Session, schedule: Which, yes: Yes = False) -> None:
    """Delete a schedule; its jobs stay."""
    key = schedule_id(session, schedule)
    session.confirm("delete schedule {name}?", yes=yes, name=schedule)
    answer = session.api.delete(f"/schedules/{key}")
    session.screen.done(answer or {"id": key}, "{name} was deleted", name=schedule)


@command(app, "run")
def run(session: Session, schedule: Which) -> None:
    """Start its job now, beside its timetable."""
    answer = session.api.post(f"/schedules/{schedule_id(session, schedule)}/run")
    if not answer["started"]:
        hint = "its overlap policy said no, or its workflow is switched off"
        raise Failure("conflict", session.words("no job was started"), session.words(hint))
    session.screen.done(answer, "job {id} was started", id=answer["job_id"])


@command(app, "next")
def next_fires(session: Session, schedule: Which) -> None:
    """Show when it fires next."""
    found = session.api.get(f"/schedules/{schedule_id(session, schedule)}")
    items = [{"fire_at": instant} for instant in found["next_fires"]]
    session.screen.page({"items": items, "next": None}, "fire_at")
