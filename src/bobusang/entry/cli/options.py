"""The options that every command has, wherever on the line they stand."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

Lang = Literal["ko", "en"]

SHARED: dict[str, Any] = {
    "json": Annotated[bool, typer.Option("--json", help="One JSON document on stdout, errors too.")],
    "jsonl": Annotated[bool, typer.Option("--jsonl", help="One JSON object a line.")],
    "fields": Annotated[str | None, typer.Option("--fields", metavar="A,B", help="Only these fields, in this order.")],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress on stderr.")],
    "no_color": Annotated[bool, typer.Option("--no-color", help="No colours (also NO_COLOR).")],
    "lang": Annotated[str | None, typer.Option("--lang", metavar="ko|en", help="Language (BOBUSANG_LANG).")],
    "home": Annotated[str | None, typer.Option("--home", metavar="DIR", help="Data folder (BOBUSANG_HOME).")],
    "url": Annotated[str | None, typer.Option("--url", help="Use the API there (BOBUSANG_URL), not the database.")],
    "token": Annotated[str | None, typer.Option("--token", metavar="KEY", help="API key (BOBUSANG_TOKEN).")],
}

FLAGS = {"--json", "--jsonl", "--quiet", "-q", "--no-color"}
VALUED = {"--fields", "--lang", "--home", "--url", "--token"}


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for beside the command itself."""

    json: bool = False
    jsonl: bool = False
    fields: tuple[str, ...] = ()
    quiet: bool = False
    color: bool = True
    lang: Lang = "en"
    home: str | None = None
    url: str | None = None
    token: str | None = None
    where: str = ""
    """What a further command needs to reach the same place, as it was given here."""

    @property
    def machine(self) -> bool:
        """Whether a program reads the output."""
        return self.json or self.jsonl


def given(values: dict[str, Any]) -> Options:
    """The shared options of one command line, completed from the environment."""
    environment = os.environ
    fields = tuple(name.strip() for name in (values["fields"] or "").split(",") if name.strip())
    return Options(
        json=values["json"],
        jsonl=values["jsonl"],
        fields=fields,
        quiet=values["quiet"],
        color=not values["no_color"] and not environment.get("NO_COLOR"),
        lang=language(values["lang"]),
        home=values["home"],
        url=values["url"] or (None if values["home"] else environment.get("BOBUSANG_URL")) or None,
        token=values["token"] or environment.get("BOBUSANG_TOKEN") or None,
        where=_where(values),
    )


def _where(values: dict[str, Any]) -> str:
    named = [(option, values[option]) for option in ("home", "url") if values[option]]
    return "".join(f" --{option} {shlex.quote(value)}" for option, value in named)


def language(asked: str | None) -> Lang:
    """The language of tables and notes: what was asked for, else what the terminal speaks."""
    wanted = asked or os.environ.get("BOBUSANG_LANG")
    if wanted:
        match wanted.lower():
            case "ko":
                return "ko"
            case "en":
                return "en"
        where = "--lang" if asked else "BOBUSANG_LANG"
        raise typer.BadParameter(f"'{wanted}' is neither ko nor en", param_hint=where)
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "ko" if spoken.startswith("ko") else "en"


def hoisted(arguments: list[str]) -> list[str]:
    """The same line with shared options moved from before the command to behind it.

    They are no options of the root, because a root with options loads pydantic before it can show a group's help.
    """
    moved: list[str] = []
    rest = list(arguments)
    while rest and (name := rest[0].partition("=")[0]) in FLAGS | VALUED:
        takes = 2 if name in VALUED and "=" not in rest[0] else 1
        moved += rest[:takes]
        rest = rest[takes:]
    end = rest.index("--") if "--" in rest else len(rest)
    return [*rest[:end], *moved, *rest[end:]]


def wants_json(arguments: list[str]) -> bool:
    """Whether a line that could not even be parsed asked for JSON."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return any(argument in ("--json", "--jsonl") for argument in arguments[:end])
