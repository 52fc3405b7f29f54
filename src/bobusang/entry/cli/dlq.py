"""`bobusang dlq`: dead letters, looked at, mended, driven again or thrown away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Filters, InputJson, Inputs, Limit, Yes, filters, inputs
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Dead letters: look, mend, retry, discard.")

Which = Annotated[int, typer.Argument(metavar="TASK", help="Id of the task.")]
Several = Annotated[list[int] | None, typer.Argument(metavar="TASK...", help="Ids of tasks.")]
First = Annotated[int, typer.Option("--first", min=1, max=100_000, help="At most so many, the oldest first.")]

COLUMNS = "task_id job_id workflow step task_key reason_class retry_count created_at error"
CAUSES = "count reason_class first_at last_at example fingerprint error"
FILTERS = ("reason", "workflow", "job", "fingerprint")


@command(app, "list")
def list_letters(
    session: Session,
    group_by: Annotated[str | None, typer.Option("--group-by", metavar="cause", help="Count them by cause.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Only of this class, as TRANSPORT.")] = None,
    workflow: Annotated[str | None, typer.Option("--workflow", help="Only of this workflow.")] = None,
    job: Annotated[int | None, typer.Option("--job", help="Only of this job.")] = None,
    fingerprint: Annotated[str | None, typer.Option("--fingerprint", help="Only of this cause.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List dead letters, oldest first."""
    query: dict[str, Any] = {"reason": reason, "workflow": workflow, "job": job, "fingerprint": fingerprint}
    if group_by not in (None, "cause"):
        raise Failure("usage", f"--group-by knows no '{group_by}'", "it knows cause")
    if group_by:
        session.show_list("/dead-letters/groups", CAUSES, limit=limit, **query)
    else:
        session.show_list("/dead-letters", COLUMNS, limit=limit, cursor=cursor, **query)


@command(app, "show")
def show(session: Session, task: Which) -> None:
    """Show a dead letter with its input and its attempts."""
    found = session.api.get(f"/dead-letters/{task}")
    only = "task_id job_id workflow step task_key target_url reason_class error retry_count created_at input"
    session.screen.record(found, only=only)
    if session.screen.reads_well and found["attempts"]:
        session.screen.title("attempts")
        session.screen.table(found["attempts"], "attempt outcome reason_class ended_at error")


@command(app, "edit")
def edit(
    session: Session,
    task: Which,
    values: Inputs = None,
    input_json: InputJson = None,
) -> None:
    """Mend the input of a dead letter: --input changes single values, --input-json replaces all."""
    given = inputs(values, input_json)
    if given is None:
        raise Failure("usage", "nothing to change was given", "give --input or --input-json")
    if input_json is None:
        now = session.api.get(f"/dead-letters/{task}")["input"]
        given = (now if isinstance(now, dict) else {}) | given
    answer = session.api.patch(f"/dead-letters/{task}", {"input": given})
    session.screen.done(answer, "the input of task {id} was changed", id=task)
    session.note("{command} runs it again", command=session.line(f"dlq retry {task}"))


@command(app, "retry")
def retry(
    session: Session,
    tasks: Several = None,
    filter: Filters = None,
    first: First = 10,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Run dead letters again: those named, or the first ten that match a filter."""
    _act(session, "redrive", tasks, filter, first, yes=yes, dry_run=dry_run)


@command(app, "discard")
def discard(
    session: Session,
    tasks: Several = None,
    filter: Filters = None,
    first: First = 10,
    why: Annotated[str, typer.Option("--why", help="The reason, for the audit log.")] = "",
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Throw dead letters away; their tasks stay failed."""
    _act(session, "discard", tasks, filter, first, yes=yes, dry_run=dry_run, more={"why": why} if why else {})


def _act(
    session: Session,
    action: str,
    tasks: list[int] | None,
    pairs: list[str] | None,
    first: int,
    *,
    yes: bool,
    dry_run: bool,
    more: Mapping[str, str] | None = None,
) -> None:
    if bool(tasks) == bool(pairs):
        raise Failure(
            "usage", "name tasks by id, or choose them with --filter", "as --filter reason=TRANSPORT --first 10"
        )
    body: dict[str, Any] = {"ids": tasks, "limit": len(tasks)} if tasks else {"limit": first}
    body |= more or {}
    if pairs:
        body["filter"] = filters(pairs, FILTERS)
    path = f"/dead-letters/{action}"
    if dry_run:
        found = session.api.post(path, body | {"dry_run": True})
        text = "{matched} would run again" if action == "redrive" else "{matched} would be thrown away"
        session.screen.done(found, text, matched=min(found["matched"], body["limit"]))
        return
    if action == "discard":
        count = session.api.post(path, body | {"dry_run": True})["matched"]
        session.confirm("throw {count} dead letters away?", yes=yes, count=min(count, body["limit"]))
    answer = session.api.post(path, body)
    _say(session, action, tasks, answer)


def _say(session: Session, action: str, tasks: list[int] | None, answer: dict[str, Any]) -> None:
    from bobusang.entry.cli.failure import Exit

    done = answer["redriven" if action == "redrive" else "discarded"]
    text = "{count} run again" if action == "redrive" else "{count} were thrown away"
    session.screen.done(answer, text, count=done)
    if (left := answer["matched"] - done) > 0:
        session.note("{count} more match", count=left)
    if tasks and done < len(tasks):
        session.note("{count} of those named are no dead letters", count=len(tasks) - done)
        session.end(Exit.PARTIAL if done else Exit.MISSING)
