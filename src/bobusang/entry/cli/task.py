"""`bobusang task`: single tasks of jobs."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.asked import Cursor, Limit, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session

app = group("Tasks: the single steps of jobs.")

COLUMNS = "id job_id step status retry_count task_key why error_message"


@command(app, "list")
def list_tasks(
    session: Session,
    job: Annotated[int | None, typer.Option("--job", help="Only of this job.")] = None,
    step: Annotated[str | None, typer.Option("--step", help="Only of this step (with --job).")] = None,
    status: Annotated[str | None, typer.Option("--status", help="Only with this status.")] = None,
    handler: Annotated[str | None, typer.Option("--handler", help="Only for this handler.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List tasks, newest first, and what open ones wait for."""
    if job is not None and handler is None:
        session.show_list(f"/jobs/{job}/tasks", COLUMNS, status=status, step=step, limit=limit, cursor=cursor)
    else:
        session.show_list("/tasks", COLUMNS, job=job, status=status, handler=handler, limit=limit, cursor=cursor)


@command(app, "show")
def show(session: Session, task: Annotated[int, typer.Argument(metavar="TASK", help="Id of the task.")]) -> None:
    """Show a task with input, output, attempts, and where it stands."""
    found = session.api.get(f"/tasks/{task}")
    only = (
        "id job_id workflow step handler status outcome why retry_count task_key target_url error_message "
        "response_time_ms started_at completed_at input output"
    )
    session.screen.record(found, only=only)
    if session.screen.reads_well and found["attempts"]:
        session.screen.title("attempts that did not succeed")
        session.screen.table(found["attempts"], "attempt outcome reason_class ended_at error")


@command(app, "retry")
def retry(
    session: Session, tasks: Annotated[list[int], typer.Argument(metavar="TASK...", help="Ids of failed tasks.")]
) -> None:
    """Run failed tasks again."""
    each(session, tasks, lambda task: session.api.post(f"/tasks/{task}/retry"), "task {id} runs again")


@command(app, "run-now")
def run_now(
    session: Session, tasks: Annotated[list[int], typer.Argument(metavar="TASK...", help="Ids of delayed tasks.")]
) -> None:
    """Run delayed tasks now, without waiting for their time or their next attempt."""
    each(session, tasks, lambda task: session.api.post(f"/tasks/{task}/run-now"), "task {id} runs now")
