"""Recording: a page that was just fetched becomes a fixture of its shop, without tokens and personal data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.fixture import Plain, accept, record
from bobusang.connectors.sources.declared.redaction import MASK, redact_headers, redacted
from bobusang.kit.errors import Conflict, Invalid

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.stages.collect.source import Page, Source


@dataclass(frozen=True, slots=True)
class Recorded:
    """A fixture that was written."""

    folder: Path
    found: Plain
    """What should be found from now on: what is read of the redacted page."""
    redacted: dict[str, int]
    """How much was taken out, by what it was; `header …` for a header."""


def record_page(shop: Path, name: str, page: Page, source: Source, base: str = "", *, again: bool = False) -> Recorded:
    """Write `shop/fixtures/name`.

    `source` is the shop as its own file has it. `base` is where the page really came from, if that was elsewhere (the
    sandbox): its addresses are written as those of the shop. One that is there is replaced only with `again`.
    """
    fixture = place_of(shop, name, again=again)
    page = _at_home(page, base, source)
    _emptied(fixture)
    record(fixture, page, ())
    return Recorded(fixture, accept(fixture, source), _taken_out(page))


def place_of(shop: Path, name: str, *, again: bool = False) -> Path:
    """Where a fixture of that name goes; refused where one is there already, unless `again`."""
    if not name or name.startswith(".") or any(sign in name for sign in "/\\"):
        raise Invalid(
            f"'{name}' cannot be the name of a fixture", hint="as in list-first or item-sold-out", field="name"
        )
    fixture = shop / "fixtures" / name
    if fixture.exists() and not again:
        raise Conflict(f"{fixture} is there already", hint="choose another name, or say --again to replace it")
    return fixture


def _at_home(page: Page, base: str, source: Source) -> Page:
    """The same page with the shop's own addresses, and as UTF-8, which is what fixtures are read as."""
    page = replace(page, body=page.text.encode() if page.text else page.body)
    if not base or base == source.base:
        return page
    # Elsewhere its hosts lie under its base, each by its name.
    for there, home in (*((f"{base}/{name}", host) for name, host in source.hosts.items()), (base, source.base)):
        page = replace(
            page,
            ask=replace(page.ask, url=page.ask.url.replace(there, home)),
            body=page.body.replace(there.encode(), home.encode()),
            url=page.url.replace(there, home),
            text=page.text.replace(there, home),
        )
    return page


def _emptied(fixture: Path) -> None:
    """Without the page of another format, which would be read instead."""
    for path in fixture.glob("page.*"):
        path.unlink()


def _taken_out(page: Page) -> dict[str, int]:
    headers = {**redact_headers(page.headers), **redact_headers(page.ask.headers)}
    found = {f"header {name}": 1 for name, value in sorted(headers.items()) if value == MASK}
    return {**redacted(page.body)[1], **found}
