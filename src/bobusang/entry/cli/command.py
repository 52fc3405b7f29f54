"""How a command is declared: a function of a session and its own options; the shared ones are added here."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import typer
from typer.core import TyperGroup

from bobusang.entry.cli.options import SHARED, given
from bobusang.entry.cli.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")

DEFAULTS: dict[str, Any] = {"json": False, "jsonl": False, "quiet": False, "no_color": False}


class Group(TyperGroup):
    """A group without options. Typer converts the value of every option by pydantic, even an absent `--help` of a
    group on the way to another's; so `--help` is answered here, and pydantic is loaded by no help at all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args[:1] in (["--help"], ["-h"]):
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def group(help: str, kind: type[Group] = Group) -> typer.Typer:
    """A group of commands. Plain help: Rich would cost as much again as all the rest of `--help`."""
    app = typer.Typer(
        cls=kind,
        help=help,
        add_help_option=False,
        options_metavar="",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(lambda: None)  # one command alone would otherwise become the group itself
    return app


def command(
    app: typer.Typer, name: str
) -> Callable[[Callable[Concatenate[Session, P], None]], Callable[Concatenate[Session, P], None]]:
    """Add the decorated function to a group. It is called with an open session, which is closed behind it."""

    def register(work: Callable[Concatenate[Session, P], None]) -> Callable[Concatenate[Session, P], None]:
        app.command(name, help=work.__doc__, options_metavar="[OPTIONS]")(_with_shared(work))
        return work

    return register


def _with_shared(work: Callable[..., None]) -> Callable[..., None]:
    """The function as Typer sees it: with the shared options instead of the session."""

    def called(**values: Any) -> None:
        shared = {name: values.pop(name) for name in SHARED}
        with Session(given(shared)) as session:
            work(session, **values)

    _, *own = inspect.signature(work, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [parameter.replace(kind=keyword) for parameter in own]
    parameters += [
        inspect.Parameter(name, keyword, default=DEFAULTS.get(name), annotation=annotation)
        for name, annotation in SHARED.items()
    ]
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    called.__doc__ = work.__doc__
    called.__name__ = work.__name__
    return called
