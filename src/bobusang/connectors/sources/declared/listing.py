"""List pages read into an extent, snapshots and further asks; what cannot be right is an error, never half a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import asking, paging
from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.field import Row, read_row
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.declared.options import with_options
from bobusang.connectors.sources.declared.paging import By, Paging
from bobusang.kit.errors import Drifted, Unavailable
from bobusang.stages.collect.source import Brand, Extent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.declared.document import Document
    from bobusang.connectors.sources.declared.stream import Stream

LONGEST_KEY = 200

_SINGLE = Paging(most=1)


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list page says: how far it goes, its rows by key, the pages that come next."""

    extent: Extent
    rows: dict[str, Row]
    following: list[paging.Further]


@dataclass(frozen=True, slots=True)
class _Seen:
    """How much a page shows: `count` records to be collected among `shown`."""

    page: int
    total: int | None
    count: int
    shown: int
    keys: tuple[str, ...]


def read_list(stream: Stream, record: Any, document: Document, base: str) -> Listed:
    """A page of a list. Raises Drifted where there is no list, Unavailable where it is not whole."""
    pages = stream.paging or _SINGLE
    records = found_records(stream, record, document)
    page = int(document.page.ask.given.get(asking.PAGE, 1))
    total = pages.announced(record, document)
    if not records:
        _check_empty(stream, pages, page, total, record, document)
    wanted = [each for each in records if not _is_skipped(stream, each, document)]
    rows: dict[str, Row] = {}
    for each in document.placed(wanted):
        key, row = read_key(stream, each, document), read_row(stream.fields, each, document)
        if stream.variants:
            row = with_options(stream.variants, row, each, document)
        rows[key] = _agreed(rows[key], row) if key in rows else row
    seen = _Seen(page, total, len(wanted), len(records), tuple(rows))
    following, last = _following(stream, record, document, seen, base)
    skipped = seen.shown - seen.count if pages.counts_skipped else 0
    return Listed(Extent(seen.keys, total, page, last, skipped), rows, following)


def read_brands(stream: Stream, record: Any, document: Document) -> Iterator[Brand]:
    """The brands of an index."""
    brands: dict[str, Brand] = {}
    for each in found_records(stream, record, document):
        if _is_skipped(stream, each, document):
            continue
        key = read_key(stream, each, document)
        told = {name: value for name, value in read_row(stream.fields, each, document).fields.items() if value}
        brands.setdefault(key, Brand(key, **told))
    if not brands:
        raise Drifted(f"{stream.name}: the index is empty", hint="look at the raw page and mend `records`")
    yield from brands.values()


def found_records(stream: Stream, record: Any, document: Document) -> list[Any]:
    """The records of a page; Drifted where their place is not there."""
    assert stream.records is not None
    found = stream.records(record, document)
    if found is NOTHING:
        raise Drifted(f"{stream.name}: there is no list on the page", hint="look at the raw page and mend `records`")
    if found is UNCLEAR:
        raise Drifted(f"{stream.name}: the page lists more than any page would, or what cannot be read")
    return list(found)


def read_key(stream: Stream, record: Any, document: Document) -> str:
    """The key of a record; one that cannot be read would be lost in silence, so the page has drifted."""
    assert stream.key is not None
    found = stream.key(record, document)
    key = str(found).strip() if type(found) in (str, int) else ""
    if not 1 <= len(key) <= LONGEST_KEY:
        raise Drifted(f"{stream.name}: a record has no key that can be read", hint="mend `key`")
    return key


def _is_skipped(stream: Stream, record: Any, document: Document) -> bool:
    return stream.skip is not None and stream.skip(record, document) not in (NOTHING, False)


def _agreed(first: Row, second: Row) -> Row:
    """One key twice on a page: what the two say alike stands, the rest is not certain."""
    alike = {name: value for name, value in first.fields.items() if second.fields.get(name, UNCLEAR) == value}
    said = (*first.unknown, *first.fields, *second.fields, *second.unknown)
    complete = first.complete and second.complete
    return Row(alike, tuple(dict.fromkeys(name for name in said if name not in alike)), complete)


def _check_empty(stream: Stream, pages: Paging, page: int, total: int | None, record: Any, document: Document) -> None:
    """A page without records must show that it is meant to be so."""
    if pages.empty is not None and pages.empty(record, document) is not NOTHING:
        return
    if total is not None:
        count = int(document.page.ask.given.get(asking.COUNT) or 0)
        known = -(-total // count) if count else int(total > 0)
        if page < pages.start + known:
            raise Unavailable(f"{stream.name}: page {page} is empty although {total:,} are announced")
    elif stream.format is Format.HTML:
        raise Drifted(
            f"{stream.name}: no records, and no sign that the list is empty",
            hint="mend `records`, or say by `pages.empty` what an empty list shows",
        )


def _following(
    stream: Stream, record: Any, document: Document, seen: _Seen, base: str
) -> tuple[list[paging.Further], bool]:
    """The pages to ask for, and whether this one shows that there is none after it."""
    pages = stream.paging
    if pages is None:
        return [], True
    given, keys = document.page.ask.given, seen.keys
    repeated = pages.no_new_ids and bool(keys) and given.get(asking.BEFORE) == paging.digest(keys)
    goes_on = pages.goes_on(record, document)
    if pages.by is By.PAGE:
        if repeated or not seen.shown or goes_on is False:
            return [], True
        return paging.numbered(pages, given, seen.page, seen.total, seen.count, seen.shown, keys), False
    assert pages.next is not None
    if repeated:
        return [], False
    if goes_on is False:
        return [], True
    found = pages.next(record, document)
    if goes_on and (found is NOTHING or found == ""):
        raise Drifted(f"{stream.name}: the page says that there is more, but not where", hint="mend `pages.next`")
    before = paging.digest(keys) if keys else ""
    return paging.linked(pages, seen.page, found, before, base, document.url), found is NOTHING or found == ""
