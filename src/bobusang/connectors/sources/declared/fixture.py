"""Fixtures: a saved page, the ask it answers, its time, and what is found on it; recorded, then replayed.

A fixture is a folder with `page.html` or `page.json`, `ask.json` and `expected.json`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared.redaction import redact_body, redact_headers
from bobusang.kit import json
from bobusang.kit.errors import BobusangError, Drifted, Invalid, Missing
from bobusang.stages.collect.source import TRIPS, Ask, Brand, Extent, Kind, Page, Reads, Snapshot, Source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ASK, EXPECTED = "ask.json", "expected.json"
PAGES = ("page.html", "page.json")

Plain = list[dict[str, Any]]


def fixtures(folder: Path) -> list[Path]:
    """The fixture folders of a shop."""
    return sorted(path.parent for path in (folder / "fixtures").glob(f"*/{ASK}"))


def read_page(fixture: Path) -> Page:
    """The page of a fixture, as it came."""
    saved = _loaded(fixture / ASK)
    path = next((fixture / name for name in PAGES if (fixture / name).exists()), None)
    if path is None:
        raise Missing(f"fixture {fixture.name} has no page", hint=f"add {' or '.join(PAGES)}")
    body = path.read_bytes()
    fetched_at, status, headers = saved.pop("fetched_at", None), saved.pop("status", 200), saved.pop("headers_got", {})
    kind = Kind(saved.pop("kind", Kind.LIST))
    try:
        ask = Ask(kind=kind, **saved)
    except TypeError as error:
        raise Invalid(f"{ASK} of fixture {fixture.name} is no ask: {error}") from None
    return Page(
        ask,
        body,
        status,
        headers,
        ask.url,
        datetime.fromisoformat(fetched_at).astimezone(UTC) if fetched_at else None,
        body.decode(errors="replace") if path.suffix == ".html" else "",
    )


def replay(fixture: Path, source: Source) -> tuple[Reads, ...]:
    """What the present reader finds on the page of a fixture; it raises what reading raises."""
    return tuple(source.read(read_page(fixture)))


def replayed(fixture: Path, source: Source) -> Plain:
    """The same as plain data; an error is found, too: `{"raises": "drifted"}`."""
    try:
        return plain(replay(fixture, source))
    except BobusangError as error:
        return [{"raises": error.code}]
    except TRIPS:
        return [{"raises": Drifted.code}]


def expected(fixture: Path) -> Plain:
    """What a fixture says should be found."""
    return list(_loaded(fixture / EXPECTED)) if (fixture / EXPECTED).exists() else []


def plain(found: Iterable[Reads]) -> Plain:
    """What was found as plain data, each under the name of its kind, without what is as usual."""
    return [_plain(each) for each in found]


_USUAL: dict[type, dict[str, Any]] = {
    Snapshot: {"unknown": [], "options_complete": True},
    Extent: {"skipped": 0},
    Brand: {},
    Ask: {"method": "GET", "headers": {}, "body": None, "key": "", "item": "", "when": ""},
}


def _plain(found: Reads) -> dict[str, Any]:
    usual = _USUAL[type(found)]
    value = json.loads(json.dumps(found))
    told = {name: said for name, said in value.items() if name not in usual or usual[name] != said}
    return {type(found).__name__.lower(): told}


def record(fixture: Path, page: Page, found: Iterable[Reads]) -> None:
    """Write a fixture: the page without tokens and personal data, its ask and time, and what was found on it."""
    fixture.mkdir(parents=True, exist_ok=True)
    body = redact_body(page.body)
    is_json = body.lstrip()[:1] in (b"{", b"[") and not page.text
    (fixture / PAGES[is_json]).write_bytes(body)
    ask: dict[str, Any] = {**_plain(page.ask)["ask"], "status": page.status}
    if page.ask.headers:
        ask["headers"] = redact_headers(page.ask.headers)
    if page.headers:
        ask["headers_got"] = redact_headers(page.headers)
    if page.fetched_at is not None:
        ask["fetched_at"] = page.fetched_at.astimezone(UTC).isoformat()
    (fixture / ASK).write_text(_written(ask), "utf-8")
    (fixture / EXPECTED).write_bytes(redact_body(_written(plain(found)).encode()))


def accept(fixture: Path, source: Source) -> Plain:
    """Let what is found now be what should be found; it is returned, too."""
    found = replayed(fixture, source)
    (fixture / EXPECTED).write_text(_written(found), "utf-8")
    return found


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError:
        raise Missing(
            f"{path.parent.name}/{path.name} is not there", hint="`bobusang source record` writes one"
        ) from None


def _written(value: object) -> str:
    return msgspec.json.format(json.dumps(value), indent=2) + "\n"
