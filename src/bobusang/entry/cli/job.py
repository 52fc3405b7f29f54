"""`bobusang job`: runs of workflows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import (
    Cursor,
    DryRun,
    Filters,
    InputJson,
    Inputs,
    Limit,
    Yes,
    each,
    filters,
    inputs,
    report,
)
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Jobs: start, watch, pause, cancel, retry.")

Which = Annotated[int, typer.Argument(metavar="JOB", help="Id of the job.")]
Several = Annotated[list[int] | None, typer.Argument(metavar="JOB...", help="Ids of jobs.")]

COLUMNS = "id workflow status total_items processed_items failed_count retry_count started_at completed_at"
STEPS = "order name step_type state created succeeded failed skipped cancelled retried"
FACTS = (
    "id workflow workflow_version status is_paused job_type target priority queue input scheduled_at "
    "started_at completed_at total_items processed_items failed_count retry_count"
)
FILTERS = ("status", "workflow", "schedule", "target", "since")


@command(app, "start")
def start(
    session: Session,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="Name or id of the workflow.")],
    values: Inputs = None,
    input_json: InputJson = None,
    target: Annotated[int | None, typer.Option("--target", help="Id of the target.")] = None,
    priority: Annotated[int | None, typer.Option("--priority", min=1, max=10, help="10 is most urgent.")] = None,
    queue: Annotated[str | None, typer.Option("--queue", help="HIGH_PRIORITY, NORMAL or LOW_PRIORITY.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="A second start with the same key is the first.")] = None,
    after: Annotated[list[int] | None, typer.Option("--after", metavar="JOB", help="Wait for its success.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="INSTANT", help="Not before, as 2026-07-01T03:00Z.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until it ends; exit code 1 when it failed.")] = False,
) -> None:
    """Start a job."""
    body: dict[str, Any] = {"workflow": int(workflow) if workflow.isdigit() else workflow}
    wanted = {
        "input": inputs(values, input_json),
        "target_id": target,
        "priority": priority,
        "queue": queue,
        "key": key,
        "after": [{"job_id": job, "type": "SUCCESS"} for job in after] if after else None,
        "scheduled_at": at,
    }
    answer = session.api.post("/jobs", body | {name: value for name, value in wanted.items() if value is not None})
    text = "job {id} was started" if answer["created"] else "job {id} has this key already"
    if not wait:
        session.screen.done(answer, text, id=answer["id"])
        return
    session.note(text, id=answer["id"])
    _watched(session, answer["id"])


@command(app, "list")
def list_jobs(
    session: Session,
    status: Annotated[list[str] | None, typer.Option("--status", help="Only with this status; repeatable.")] = None,
    workflow: Annotated[str | None, typer.Option("--workflow", help="Only of this workflow.")] = None,
    schedule: Annotated[int | None, typer.Option("--schedule", help="Only started by this schedule.")] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="INSTANT", help="Only made since then.")] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Those that ended long ago.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List jobs, newest first."""
    query: dict[str, Any] = {"workflow": workflow, "limit": limit, "cursor": cursor}
    if archived:
        session.show_list("/jobs/archive", COLUMNS, **query)
    else:
        session.show_list("/jobs", COLUMNS, status=status, schedule=schedule, since=since, **query)


@command(app, "show")
def show(session: Session, job: Which) -> None:
    """Show a job with its steps, what went wrong, and what it waits for."""
    found = session.api.get(f"/jobs/{job}")
    session.screen.record(found, only=FACTS)
    if not session.screen.reads_well:
        return
    session.screen.title("steps")
    session.screen.table(found["steps"], STEPS)
    if found["errors"]:
        session.screen.title("errors")
        session.screen.table(found["errors"], "count reason_class error")
        session.note("{command} shows them one by one", command=session.line(f"dlq list --job {job}"))
    for reason in found["waits_for"]:
        session.note("it waits: {reason}", reason=reason)


@command(app, "watch")
def watch(session: Session, job: Which) -> None:
    """Watch a job until it ends; exit code 1 when it failed. Ctrl-C only stops watching."""
    _watched(session, job)


def _watched(session: Session, job: int) -> None:
    from bobusang.entry.cli.watching import watched

    watched(session, job)


@command(app, "cancel")
def cancel(
    session: Session, jobs: Several = None, filter: Filters = None, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """End jobs now; what waits is taken out of the queue, and what runs changes nothing any more."""
    _many(session, "cancel", jobs, filter, yes=yes, dry_run=dry_run, text="job {id} was cancelled")


@command(app, "pause")
def pause(
    session: Session, jobs: Several = None, filter: Filters = None, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Let jobs wait; what runs is finished."""
    _many(session, "pause", jobs, filter, yes=yes, dry_run=dry_run, text="job {id} is paused")


@command(app, "resume")
def resume(
    session: Session, jobs: Several = None, filter: Filters = None, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Let paused jobs go on."""
    _many(session, "resume", jobs, filter, yes=yes, dry_run=dry_run, text="job {id} goes on")


@command(app, "retry")
def retry(
    session: Session, jobs: Several = None, filter: Filters = None, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Run again whatever failed in these jobs."""
    _many(session, "retry", jobs, filter, yes=yes, dry_run=dry_run, text="the failed tasks of job {id} run again")


def _many(
    session: Session,
    action: str,
    jobs: list[int] | None,
    pairs: list[str] | None,
    *,
    yes: bool,
    dry_run: bool,
    text: str,
) -> None:
    if bool(jobs) == bool(pairs):
        raise Failure("usage", "name jobs by id, or choose them with --filter", f"as `bobusang job {action} 7 8`")
    if jobs and not dry_run:
        if len(jobs) > 1 and action == "cancel":
            session.confirm("cancel {count} jobs?", yes=yes, count=len(jobs))
        each(session, jobs, lambda job: session.api.post(f"/jobs/{job}/{action}"), text)
        return
    body: dict[str, Any] = {"action": action}
    if jobs:
        body["ids"] = jobs
    else:
        body["filter"] = _chosen(pairs)
    preview = session.api.post("/jobs/bulk", body | {"dry_run": True})
    if dry_run:
        session.screen.page({"items": [{"id": one["id"]} for one in preview["items"]], "next": None}, "id")
        return
    session.confirm("{action} {count} jobs?", yes=yes, action=action, count=preview["matched"])
    report(session, session.api.post("/jobs/bulk", body)["items"], text)


def _chosen(pairs: list[str] | None) -> dict[str, Any]:
    found = filters(pairs, FILTERS)
    return found | {"status": str(found["status"]).split("|")} if "status" in found else found
