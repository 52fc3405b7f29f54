"""`bobusang category`: the malls' categories, and which of them may go to the market."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Limit, Yes, each
from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

app = group("Categories of malls: list, accept, block.")

Several = Annotated[list[int] | None, typer.Argument(metavar="CATEGORY...", help="Ids of categories.")]
Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]
Review = Annotated[str | None, typer.Option("--review", help="Only proposed, accepted or blocked ones.")]
Text = Annotated[str | None, typer.Option("--q", metavar="TEXT", help="Only with this in the path.")]

COLUMNS = "id mall review buyma_category_id path"


@command(app, "list")
def list_categories(
    session: Session,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List the categories of malls."""
    session.show_list("/categories", COLUMNS, mall=mall, review=review, q=text, limit=limit, cursor=cursor)


@command(app, "accept")
def accept(
    session: Session,
    categories: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Accept categories, by id or by filter: their products may go to the market."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "accept", categories, choice, yes=yes, dry_run=dry_run, text="category {id} is accepted")


@command(app, "block")
def block(
    session: Session,
    categories: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Block categories, by id or by filter: their products are held back."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "block", categories, choice, yes=yes, dry_run=dry_run, text="category {id} is blocked")


@command(app, "propose")
def propose(
    session: Session,
    categories: Several = None,
    mall: Mall = None,
    review: Review = None,
    text: Text = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Set categories back, by id or by filter, as if nobody had reviewed them."""
    choice = {"mall": mall, "review": review, "q": text}
    _reviewed(session, "propose", categories, choice, yes=yes, dry_run=dry_run, text="category {id} is proposed again")


def _reviewed(
    session: Session,
    action: str,
    categories: list[int] | None,
    choice: dict[str, str | None],
    *,
    yes: bool,
    dry_run: bool,
    text: str,
) -> None:
    chosen = {name: value for name, value in choice.items() if value is not None}
    if bool(categories) == bool(chosen):
        hint = f"as `bobusang category {action} 7 8` or `bobusang category {action} --mall okmall --q 신발`"
        raise Failure("usage", "name categories by id, or choose them with --mall, --review and --q", hint)
    if categories and not dry_run:
        each(session, categories, lambda id: session.api.post(f"/categories/{id}/{action}"), text)
        return
    body: dict[str, Any] = {"action": action} | ({"ids": categories} if categories else {"filter": chosen})
    preview = session.api.post("/categories/bulk", body | {"dry_run": True})
    if dry_run:
        session.screen.done(preview, "{count} categories would be changed", count=preview["matched"])
        return
    session.confirm("{action} {count} categories?", yes=yes, action=action, count=preview["matched"])
    done = session.api.post("/categories/bulk", body)
    session.screen.done(done, "{count} categories were changed", count=done["changed"])
