"""`bobusang brand`: the malls' brands, and which of them are collected."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Limit, Yes, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.session import Session

app = group("Brands of malls: collect, list, accept, block.")

Several = Annotated[list[int] | None, typer.Argument(metavar="BRAND...", help="Ids of brands.")]
Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]
Review = Annotated[str | None, typer.Option("--review", help="Only proposed, accepted or blocked ones.")]
Text = Annotated[str | None, typer.Option("--q", metavar="TEXT", help="Only with this in the key or a name.")]
Wait = Annotated[bool, typer.Option("--wait", help="Stay until it ends; exit code 1 when it failed.")]

COLUMNS = "id mall review name_ko name_en key buyma_brand_name"


@command(app, "list")
def list_brands(
    session: Session,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List the brands of malls."""
    session.show_list("/brands", COLUMNS, mall=mall, review=review, q=text, limit=limit, cursor=cursor)


@command(app, "collect")
def collect(
    session: Session,
    mall: Annotated[str, typer.Argument(metavar="MALL", help="Name of the mall's source.")],
    key: Annotated[str | None, typer.Option("--key", help="A second start with the same key is the first.")] = None,
    wait: Wait = False,
) -> None:
    """Collect a mall's brands from its own index; new ones are proposed."""
    answer = session.api.post("/brands/collect", {"mall": mall} | ({"key": key} if key else {}))
    text = "job {id} was started" if answer["created"] else "job {id} has this key already"
    if not wait:
        session.screen.done(answer, text, id=answer["job_id"])
        return
    session.note(text, id=answer["job_id"])
    _waited(session, mall, answer["job_id"])


def _waited(session: Session, mall: str, job_id: int) -> None:
    from bobusang.entry.cli.waiting import told_of
    from bobusang.entry.cli.watching import followed

    job = followed(session, job_id, told_of(session, mall))
    run = session.api.get(f"/collect/runs/{job_id}")
    seen, new = _seen(session, mall, run["started_at"])
    session.screen.done(run, "{seen} brands of {mall} were seen, {new} of them new", seen=seen, mall=mall, new=new)
    waiting = session.line(f"brand list --mall {mall} --review proposed")
    session.note("{command} shows those to be reviewed", command=waiting)
    session.end(Exit.OK if job["status"] == "SUCCESS" else Exit.FAILED)


def _seen(session: Session, mall: str, since: str) -> tuple[int, int]:
    """How many brands a mall's index has shown since then, and how many of them for the first time."""
    seen = new = 0
    cursor: str | None = None
    while True:
        found = session.api.get("/brands", mall=mall, limit=500, cursor=cursor)
        seen += sum(one["last_seen_at"] >= since for one in found["items"])
        new += sum(one["created_at"] >= since for one in found["items"])
        cursor = found["next"]
        if cursor is None:
            return seen, new


@command(app, "accept")
def accept(
    session: Session,
    brands: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Accept brands, by id or by filter: they are collected by `collect full MALL --all`."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "accept", brands, choice, yes=yes, dry_run=dry_run, text="brand {id} is accepted")


@command(app, "block")
def block(
    session: Session,
    brands: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Block brands, by id or by filter: they are not collected."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "block", brands, choice, yes=yes, dry_run=dry_run, text="brand {id} is blocked")


@command(app, "propose")
def propose(
    session: Session,
    brands: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Set brands back, by id or by filter, as if nobody had reviewed them."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "propose", brands, choice, yes=yes, dry_run=dry_run, text="brand {id} is proposed again")


def _reviewed(
    session: Session,
    action: str,
    brands: list[int] | None,
    choice: dict[str, str | None],
    *,
    yes: bool,
    dry_run: bool,
    text: str,
) -> None:
    chosen = {name: value for name, value in choice.items() if value is not None}
    if bool(brands) == bool(chosen):
        hint = f"as `bobusang brand {action} 7 8` or `bobusang brand {action} --mall okmall --q NIKE`"
        raise Failure("usage", "name brands by id, or choose them with --mall, --review and --q", hint)
    if brands and not dry_run:
        each(session, brands, lambda id: session.api.post(f"/brands/{id}/{action}"), text)
        return
    body: dict[str, Any] = {"action": action} | ({"ids": brands} if brands else {"filter": chosen})
    preview = session.api.post("/brands/bulk", body | {"dry_run": True})
    if dry_run:
        session.screen.done(preview, "{count} brands would be changed", count=preview["matched"])
        return
    session.confirm("{action} {count} brands?", yes=yes, action=action, count=preview["matched"])
    done = session.api.post("/brands/bulk", body)
    session.screen.done(done, "{count} brands were changed", count=done["changed"])
