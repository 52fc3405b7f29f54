"""Commands for what malls propose and a person reviews: list, accept, block and propose, for brands and categories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from bobusang.entry.cli.asked import Cursor, DryRun, Limit, Yes, each
from bobusang.entry.cli.command import command
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.session import Session

Mall = Annotated[str | None, typer.Option("--mall", help="Only of this mall.")]
Review = Annotated[str | None, typer.Option("--review", help="Only proposed, accepted or blocked ones.")]


@dataclass(frozen=True, slots=True)
class Reviews:
    """A group's commands for its things: their words, where `--q` looks for its text, and an example of one."""

    app: typer.Typer
    one: str
    many: str
    place: str
    example: str

    def lists(self, columns: str) -> None:
        """Add `list`."""

        def work(
            session: Session,
            mall: Mall = None,
            review: Review = None,
            q: str | None = self._text(),
            limit: Limit = 50,
            cursor: Cursor = None,
        ) -> None:
            session.show_list(f"/{self.many}", columns, mall=mall, review=review, q=q, limit=limit, cursor=cursor)

        self._add("list", work, f"List the {self.many} of malls.")

    def decides(self, action: str, help: str, *, text: str) -> None:
        """Add a command that reviews some by id or by filter; `text` is said of each."""

        def work(
            session: Session,
            ids: list[int] | None = self._ids(),
            mall: Mall = None,
            review: Review = None,
            q: str | None = self._text(),
            yes: Yes = False,
            dry_run: DryRun = False,
        ) -> None:
            choice = {"mall": mall, "review": review, "q": q}
            chosen = {name: value for name, value in choice.items() if value is not None}
            if bool(ids) == bool(chosen):
                raise self._unclear(action)
            if ids and not dry_run:
                each(session, ids, lambda id: session.api.post(f"/{self.many}/{id}/{action}"), text)
                return
            body = {"action": action} | ({"ids": ids} if ids else {"filter": chosen})
            self._all(session, body, yes=yes, dry_run=dry_run)

        self._add(action, work, help)

    def _all(self, session: Session, body: dict[str, Any], *, yes: bool, dry_run: bool) -> None:
        path, many = f"/{self.many}/bulk", self.many
        preview = session.api.post(path, body | {"dry_run": True})
        if dry_run:
            session.screen.done(preview, f"{{count}} {many} would be changed", count=preview["matched"])
            return
        session.confirm(f"{{action}} {{count}} {many}?", yes=yes, action=body["action"], count=preview["matched"])
        done = session.api.post(path, body)
        session.screen.done(done, f"{{count}} {many} were changed", count=done["changed"])

    def _unclear(self, action: str) -> Failure:
        line = f"bobusang {self.one} {action}"
        hint = f"as `{line} 7 8` or `{line} --mall okmall --q {self.example}`"
        return Failure("usage", f"name {self.many} by id, or choose them with --mall, --review and --q", hint)

    def _add(self, name: str, work: Callable[..., None], help: str) -> None:
        work.__doc__ = help
        command(self.app, name)(work)

    def _ids(self) -> Any:
        return typer.Argument(None, metavar=f"{self.one.upper()}...", help=f"Ids of {self.many}.")

    def _text(self) -> Any:
        return typer.Option(None, "--q", metavar="TEXT", help=f"Only with this in {self.place}.")
