"""`bobusang brand`: the malls' brands, and which of them are collected."""

from __future__ import annotations

from typing import Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Exit
from bobusang.entry.cli.reviews import Reviews
from bobusang.entry.cli.session import Session

app = group("Brands of malls: collect, list, accept, block.")

Wait = Annotated[bool, typer.Option("--wait", help="Stay until it ends; exit code 1 when it failed.")]

COLUMNS = "id mall review name_ko name_en key buyma_brand_name"
REVIEWS = Reviews(app, "brand", "brands", place="the key or a name", example="NIKE")

REVIEWS.lists(COLUMNS)


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


REVIEWS.decides(
    "accept",
    "Accept brands, by id or by filter: they are collected by `collect full MALL --all`.",
    text="brand {id} is accepted",
)
REVIEWS.decides("block", "Block brands, by id or by filter: they are not collected.", text="brand {id} is blocked")
REVIEWS.decides(
    "propose",
    "Set brands back, by id or by filter, as if nobody had reviewed them.",
    text="brand {id} is proposed again",
)
