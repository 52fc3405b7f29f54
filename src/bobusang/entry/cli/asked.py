"""What several commands ask for in the same way: pages of lists, inputs, filters, and names where the API wants ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bobusang.entry.cli.failure import CODES, Exit, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bobusang.entry.cli.session import Session

Limit = Annotated[int, typer.Option("--limit", min=1, max=500, help="At most so many.")]
Cursor = Annotated[str | None, typer.Option("--cursor", help="Go on where the last page ended.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
Filters = Annotated[list[str] | None, typer.Option("--filter", metavar="NAME=VALUE", help="Only those; repeatable.")]
Inputs = Annotated[list[str] | None, typer.Option("--input", metavar="NAME=VALUE", help="A value; repeatable.")]
InputJson = Annotated[str | None, typer.Option("--input-json", metavar="JSON", help="All values (@FILE reads a file).")]


def inputs(pairs: Iterable[str] | None, text: str | None) -> dict[str, Any] | None:
    """The values of `--input k=v` over those of `--input-json`; None when neither was given."""
    found: dict[str, Any] = {}
    if text is not None:
        value = _json(_file(text[1:]) if text.startswith("@") else text, "--input-json")
        if not isinstance(value, dict):
            raise Failure("usage", "--input-json is no JSON object", 'write it as \'{"name": "value"}\'')
        found |= value
    for pair in pairs or ():
        name, value = _split(pair, "--input")
        found[name] = _value(value)
    return found if pairs or text is not None else None


def filters(pairs: Iterable[str] | None, known: Sequence[str]) -> dict[str, Any]:
    """The names and values of `--filter`."""
    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, value = _split(pair, "--filter")
        if name not in known:
            raise Failure("usage", f"--filter knows no '{name}'", f"it knows {', '.join(known)}")
        found[name] = _value(value)
    return found


def _split(pair: str, option: str) -> tuple[str, str]:
    name, equals, value = pair.partition("=")
    if not equals or not name:
        raise Failure("usage", f"{option} {pair}: a name and a value are expected", f"as {option} name=value")
    return name, value


def _value(text: str) -> Any:
    """Numbers, true, false, null, lists and objects as JSON has them; anything else is text."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(text: str, option: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError as error:
        raise Failure("usage", f"{option} is not JSON: {error}", "mind the quotes of your shell") from error


def _file(path: str) -> str:
    return contents(path).decode("utf-8", "replace")


def contents(path: str) -> bytes:
    """A file's bytes, `-` being stdin."""
    import sys
    from pathlib import Path

    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Failure("usage", f"{path} cannot be read: {error.strerror}") from error


def workflow_id(session: Session, wanted: str) -> int:
    """The id of a workflow that was named by id or by name."""
    if wanted.isdigit():
        return int(wanted)
    return _by_name(session, "/workflows", wanted, "workflow", q=wanted)


def schedule_id(session: Session, wanted: str) -> int:
    """The id of a schedule that was named by id or by name."""
    return int(wanted) if wanted.isdigit() else _by_name(session, "/schedules", wanted, "schedule")


def _by_name(session: Session, path: str, wanted: str, kind: str, **query: Any) -> int:
    cursor: str | None = None
    while True:
        page = session.api.get(path, limit=500, cursor=cursor, **query)
        for item in page["items"]:
            if item["name"] == wanted:
                return int(item["id"])
        cursor = page.get("next")
        if cursor is None:
            raise Failure("missing", f"there is no {kind} '{wanted}'", f"`bobusang {kind} list` shows them")


def each(session: Session, ids: Sequence[Any], act: Callable[[Any], Any], text: str) -> None:
    """Act on one after the other; what fails does not keep the rest from being tried, but shows in the exit code."""
    if len(ids) == 1:
        answer = act(ids[0])
        session.screen.done(answer, text, id=ids[0])
        return
    results: list[dict[str, Any]] = []
    for one in ids:
        try:
            act(one)
            results.append({"id": one, "ok": True, "error": None})
        except Failure as failure:
            refusal = {"code": failure.code, "message": failure.message}
            results.append({"id": one, "ok": False, "error": refusal})
    report(session, results, text)


def report(session: Session, results: Sequence[dict[str, Any]], text: str) -> None:
    """Show what became of each, and leave with 0, with 5 (some failed), or with what all of them failed by."""
    if session.options.machine:
        session.screen.page({"items": list(results), "next": None}, "id ok error")
    else:
        for result in results:
            if result["ok"]:
                session.screen.done(None, text, id=result["id"])
            else:
                session.screen.warn(f"{result['id']}: {result['error']['message']}")
    wrong = [result["error"]["code"] for result in results if not result["ok"]]
    if len(wrong) == len(results) and wrong:
        session.end(CODES.get(wrong[0], Exit.FAILED) if len(set(wrong)) == 1 else Exit.FAILED)
    session.end(Exit.PARTIAL if wrong else Exit.OK)
