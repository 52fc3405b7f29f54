"""The options of a product, from one place of a page or merged from several by their code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.field import Field, Row, read_row
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Get

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.document import Document

# More options than any product has; a page that shows more is not believed.
MOST = 5000
LONGEST_CODE = 200


@dataclass(frozen=True, slots=True)
class Variants:
    """One place that tells of options."""

    records: Get
    key: Get
    fields: tuple[Field, ...]
    complete: bool = False
    """Whether what this place does not show is gone."""
    partial: bool = False
    """Whether it says so little that nothing is gone by it."""
    skip: Get | None = None
    """Finds something in an option that is not to be collected."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options as far as they are known; None where nothing certain can be said of them."""

    listed: list[dict[str, Any]] | None
    complete: bool = False


def read_options(places: tuple[Variants, ...], record: Any, document: Document) -> Options:
    """All places merged by code; of what two of them say the first counts.

    An option without a code, two with one code that differ, or a value that is unclear: nothing certain.
    """
    merged: dict[str, dict[str, Any]] = {}
    complete = not any(place.complete or place.partial for place in places)
    seen = False
    for place in places:
        found = place.records(record, document)
        if found is NOTHING:
            continue
        if found is UNCLEAR or len(found) > MOST:
            return Options(None)
        options = _options(place, found, document)
        if options is None:
            return Options(None)
        seen = True
        complete = complete or (place.complete and bool(options))
        for code, said in options.items():
            merged[code] = {**said, **merged.get(code, {})}
    return Options([{"code": code, **said} for code, said in merged.items()], complete) if seen else Options(None)


def with_options(places: tuple[Variants, ...], row: Row, record: Any, document: Document) -> Row:
    """A row and the options of its record."""
    if not places:
        return row
    options = read_options(places, record, document)
    if options.listed is None:
        return Row(row.fields, (*row.unknown, "options"), complete=False)
    if not options.listed and not options.complete:
        return Row(row.fields, row.unknown, complete=False)
    return Row({**row.fields, "options": options.listed}, row.unknown, complete=options.complete)


def _options(place: Variants, records: list[Any], document: Document) -> dict[str, dict[str, Any]] | None:
    options: dict[str, dict[str, Any]] = {}
    wanted = document.placed(records)
    for each in wanted:
        if place.skip is not None and place.skip(each, document) not in (NOTHING, False):
            continue
        code = place.key(each, document)
        row = read_row(place.fields, each, document)
        if code is NOTHING or code is UNCLEAR or row.unknown or len(str(code)) > LONGEST_CODE:
            return None
        if options.setdefault(str(code), row.fields) != row.fields:
            return None
    return options
