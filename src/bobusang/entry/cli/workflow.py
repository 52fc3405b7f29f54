"""`bobusang workflow`: definitions and how many of their jobs run at once."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Limit, contents, workflow_id
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Workflow definitions: apply, check, switch on and off, limit.")

Which = Annotated[str, typer.Argument(metavar="WORKFLOW", help="Name or id.")]
File = Annotated[str, typer.Argument(metavar="FILE", help="YAML or JSON; - reads stdin.")]

NAME = 100
"""So long may a name be that the API puts before its messages."""

COLUMNS = "id name version workflow_type is_active running_jobs pending_jobs updated_at"
STEPS = "order name step_type handler mode gather error_handling max_retries resource_pool"


@command(app, "list")
def list_workflows(
    session: Session,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Only those switched on, or off.")] = None,
    search: Annotated[str | None, typer.Option("--search", help="Only names with this text.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List workflows."""
    session.show_list("/workflows", COLUMNS, active=active, q=search, limit=limit, cursor=cursor)


@command(app, "show")
def show(
    session: Session,
    workflow: Which,
    versions: Annotated[bool, typer.Option("--versions", help="List its versions instead.")] = False,
) -> None:
    """Show a workflow with its steps and limits."""
    key = workflow_id(session, workflow)
    if versions:
        session.show_list(f"/workflows/{key}/versions", "version checksum created_at", limit=500)
        return
    found = session.api.get(f"/workflows/{key}")
    only = "id name version workflow_type is_active source tolerance limits updated_at"
    session.screen.record(found, only=only)
    if session.screen.reads_well:
        session.screen.title("steps")
        session.screen.table(found["steps"], STEPS)


@command(app, "apply")
def apply(session: Session, file: File, dry_run: DryRun = False) -> None:
    """Store a definition as a new version, unless it is what is stored already."""
    found = _sent(session, "/workflows/check" if dry_run else "/workflows", file)
    if dry_run:
        session.screen.done(found, "{file} is in order; nothing was stored", file=file)
        return
    text = "{name} is now at version {version}" if found["changed"] else "{name} is at version {version} already"
    session.screen.done(found, text, **found)


@command(app, "check")
def check(session: Session, file: File) -> None:
    """Check a definition and store nothing; exit code 1 when it has mistakes."""
    session.screen.done(_sent(session, "/workflows/check", file), "{file} is in order", file=file)


def _sent(session: Session, path: str, file: str) -> Any:
    try:
        # The name of the file stands before each problem, as a compiler has it.
        origin = "stdin" if file == "-" else file[-NAME:]
        return session.api.call("POST", path, content=("application/yaml", contents(file)), query={"origin": origin})
    except Failure as failure:
        if failure.code == "invalid":
            failure.exit_code = Exit.FAILED  # the command was right, the file is not
        raise


@command(app, "activate")
def activate(session: Session, workflow: Which) -> None:
    """Let new jobs of a workflow be started."""
    answer = session.api.post(f"/workflows/{workflow_id(session, workflow)}/activate")
    session.screen.done(answer, "{workflow} is switched on", workflow=workflow)


@command(app, "deactivate")
def deactivate(session: Session, workflow: Which) -> None:
    """Let no new jobs of a workflow be started; those that run are finished."""
    answer = session.api.post(f"/workflows/{workflow_id(session, workflow)}/deactivate")
    session.screen.done(answer, "{workflow} is switched off", workflow=workflow)


@command(app, "limits")
def limits(
    session: Session,
    workflow: Which,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Jobs at once.")] = None,
    tasks: Annotated[int | None, typer.Option("--tasks", min=1, help="Tasks of a job at once.")] = None,
    pool: Annotated[str | None, typer.Option("--pool", help="Resource pool to draw from.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all limits.")] = False,
) -> None:
    """Show or set how many jobs of a workflow, and tasks of a job, run at once."""
    key = workflow_id(session, workflow)
    if clear:
        session.screen.done(
            session.api.delete(f"/workflows/{key}/limits"), "{workflow} has no limits", workflow=workflow
        )
        return
    now = session.api.get(f"/workflows/{key}")["limits"]
    wanted = {"max_parallel_jobs": jobs, "max_parallel_tasks": tasks, "resource_pool": pool}
    asked = {name: value for name, value in wanted.items() if value is not None}
    if asked:
        now = session.api.put(f"/workflows/{key}/limits", (now or {}) | asked)
    if now is None:
        session.screen.done(None, "{workflow} has no limits", workflow=workflow)
    else:
        session.screen.record(now)


@command(app, "map")
def map_target(
    session: Session,
    workflow: Annotated[str | None, typer.Argument(metavar="[WORKFLOW]", help="Name or id.")] = None,
    target_type: Annotated[str | None, typer.Option("--type", help="The type of target it is for.")] = None,
    condition: Annotated[str | None, typer.Option("--if", help="Which of them, as in `region == 'kr'`.")] = None,
    priority: Annotated[int, typer.Option("--priority", help="Which mapping is asked first: the highest.")] = 0,
) -> None:
    """Show which workflow is for which targets, or say it."""
    if workflow is None:
        columns = "target_type workflow condition priority"
        session.show_list("/target-mappings", columns, limit=500)
        return
    if target_type is None:
        raise Failure("usage", "--type says which targets the workflow is for")
    body = {
        "target_type": target_type,
        "workflow_id": workflow_id(session, workflow),
        "condition": condition,
        "priority": priority,
    }
    answer = session.api.put("/target-mappings", body)
    session.screen.done(answer, "{type} targets are for {workflow}", type=target_type, workflow=workflow)
