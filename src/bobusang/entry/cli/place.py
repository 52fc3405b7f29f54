"""Where the database of this machine is, and whether there is one yet."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from bobusang.entry.cli.failure import Failure
from bobusang.settings import FILE, PREFIX, Settings, load

if TYPE_CHECKING:
    from bobusang.entry.cli.options import Options

OURS = "BOBUSANG_LANG"
"""A variable of the command line alone, which the settings do not know."""


def settings(options: Options, **given: Any) -> Settings:
    """Read the settings with what the command line adds."""
    environment = {name: value for name, value in os.environ.items() if name != OURS}
    return load(environment, home=options.home, **given)


def origins(options: Options) -> dict[str, str]:
    """Where each setting that is not a default was found, the strongest place last."""
    import tomllib

    named = os.environ.get(f"{PREFIX}CONFIG")
    path = Path(named) if named else Path(FILE)
    found = dict.fromkeys(tomllib.loads(path.read_text("utf-8")), f"{path}") if path.exists() else {}
    for variable in os.environ:
        if variable.startswith(PREFIX):
            found[variable.removeprefix(PREFIX).lower()] = variable
    if options.home is not None:
        found["home"] = "--home"
    return found


def database_file(found: Settings) -> Path | None:
    """The file of an embedded database."""
    return Path(unquote(urlsplit(found.database).path[1:])) if found.is_embedded else None


def must_exist(found: Settings) -> None:
    """A command that only asks or acts must not make an empty database in whatever folder it was typed."""
    path = database_file(found)
    if path is not None and not path.exists():
        raise Failure(
            "unavailable",
            f"there is no database at {path}",
            "start one with `bobusang up`, or name its folder with --home, or a server with --url",
        )


def prepare(found: Settings) -> None:
    """Make the folder of an embedded database, for the commands that may begin one."""
    path = database_file(found)
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"the folder {path.parent} cannot be made: {os.strerror(error.errno or 0)}"
        raise Failure("unavailable", message, "choose another with --home or BOBUSANG_HOME") from error
    if not os.access(path.parent, os.W_OK | os.X_OK):
        hint = "change its rights, or choose another with --home or BOBUSANG_HOME"
        raise Failure("unavailable", f"the folder {path.parent} cannot be written", hint)


def quietly(found: Settings) -> None:
    """Logs of a command that only asks: warnings, unless more is wanted."""
    from bobusang.kit import log

    log.configure("WARNING" if found.log_level == "INFO" else found.log_level, found.log_format)
