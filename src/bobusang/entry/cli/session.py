"""One run of one command: its options, its screen, and the API when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.words import Words

if TYPE_CHECKING:
    from types import TracebackType

    from bobusang.entry.cli.client import Client
    from bobusang.entry.cli.options import Options
    from bobusang.entry.cli.screen import Screen
    from bobusang.settings import Settings


class Session:
    """Opens what a command uses when it first uses it, and closes it at the end."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.words = Words("en" if options.machine else options.lang)
        self._api: Client | None = None
        self._screen: Screen | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._api is not None:
            self._api.close()

    @property
    def screen(self) -> Screen:
        """Where data and notes go."""
        if self._screen is None:
            from bobusang.entry.cli.screen import Screen

            self._screen = Screen(self.options, self.words)
        return self._screen

    @property
    def api(self) -> Client:
        """The API: over HTTP where an address is given, else in this process on the database."""
        if self._api is None:
            from bobusang.entry.cli.client import Client

            self._api = Client(self.options)
        return self._api

    def settings(self, **given: Any) -> Settings:
        """The program's settings, for commands that work without the API."""
        from bobusang.entry.cli.place import settings

        return settings(self.options, **given)

    def note(self, text: str, **values: Any) -> None:
        """Say something that is not data."""
        self.screen.note(self.words(text, **values))

    def line(self, command: str) -> str:
        """A command to try next, as it must be typed to reach the same place."""
        return f"`bobusang {command}{self.options.where}`"

    def show_list(self, path: str, columns: str, **query: Any) -> None:
        """Show a page of a list. An answer may hold less than there is: then more is asked for, up to the limit."""
        limit = query.pop("limit")
        found = self.api.get(path, limit=limit, **query)
        while found.get("next") and len(found["items"]) < limit:
            query["cursor"] = found["next"]
            more = self.api.get(path, limit=limit - len(found["items"]), **query)
            found = more | {"items": found["items"] + more["items"]}
        self.screen.page(found, columns)

    def confirm(self, question: str, *, yes: bool, **values: Any) -> None:
        """Ask before something that cannot be taken back; a script must say --yes."""
        import sys

        if yes:
            return
        asked = self.words(question, **values)
        if self.options.machine or not sys.stdin.isatty():
            raise Failure("usage", asked, self.words("nobody can be asked here: add --yes"))
        if not typer.confirm(asked, err=True):
            raise Failure("failed", self.words("nothing was changed"))

    def end(self, code: Exit) -> None:
        """Leave with this exit code."""
        if code is not Exit.OK:
            raise typer.Exit(code)
