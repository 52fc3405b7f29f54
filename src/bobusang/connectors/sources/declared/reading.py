"""Pages of a stream read into what they say, and what to ask next."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bobusang.catalog.model import Snapshot
from bobusang.connectors.sources.declared import asking, sheet
from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.field import Row, read_row
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.declared.listing import found_records, read_brands, read_key, read_list
from bobusang.connectors.sources.declared.options import with_options
from bobusang.connectors.sources.declared.stream import Emits, Stream
from bobusang.kit.errors import BobusangError, Drifted, Unavailable
from bobusang.stages.collect.source import Kind, Page, Reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.connectors.sources.declared.shop import Declared

# Where the end of a whole page is looked for.
TAIL = 4096


def read(shop: Declared, stream: Stream, page: Page) -> list[Reads]:
    """All that a page says: by its excerpt, or by the whole where that is wrong or may have overlooked something."""
    if stream.format is Format.SHEET:
        return sheet.read(shop, stream, page)
    document = Document(page, shop.base, stream.within, shop.places)
    try:
        found = list(_said(shop, stream, document))
    except BobusangError:
        if not document.is_excerpt:
            raise
    else:
        if not document.is_overlooked:
            return found
    return list(_said(shop, stream, Document(page, shop.base, (), shop.places)))


def _said(shop: Declared, stream: Stream, document: Document) -> Iterator[Reads]:
    _check_whole(stream, document)
    record = document.data if stream.format is Format.JSON else document.tree
    if stream.emits is Emits.BRAND:
        yield from read_brands(stream, record, document)
    elif document.page.ask.item:
        yield from _of_item(shop, stream, record, document)
    else:
        yield from _list(shop, stream, record, document)


def _check_whole(stream: Stream, document: Document) -> None:
    if not document.page.body and not document.page.text:
        raise Unavailable(f"{stream.name}: the answer is empty")
    tail = document.text[-TAIL:]
    if stream.ends not in tail and stream.ends not in tail.lower():  # which takes long where there are other letters
        raise Unavailable(f"{stream.name}: the page is cut off: there is no {stream.ends} near its end")


def _list(shop: Declared, stream: Stream, record: Any, document: Document) -> Iterator[Reads]:
    home = shop.home(stream)
    listed = read_list(stream, record, document, home)
    if stream.emits is Emits.MENTION:
        yield replace(listed.extent, keys=())
    else:
        yield listed.extent
        for key, row in listed.rows.items():
            yield _snapshot(shop, stream, key, row, document.page)
    given = document.page.ask.given
    for each in listed.following:
        yield asking.further(stream, home, given, each)
    if asked := shop.children(stream.name):
        target = str(given.get(asking.TARGET, ""))
        for key, row in listed.rows.items():
            yield from asking.items(asked, shop.home, target, key, row.fields)


def _of_item(shop: Declared, stream: Stream, record: Any, document: Document) -> Iterator[Reads]:
    """A page of one item, and the pages that are asked for by what it says."""
    found = _item(shop, stream, record, document)
    yield found
    if (asked := shop.children(stream.name)) and not found.fields.get("gone"):
        ask = document.page.ask
        handed = read_row(stream.hands, record, document).fields
        target = str(ask.given.get(asking.TARGET, ""))
        yield from asking.items(asked, shop.home, target, ask.item, {**found.fields, **handed})


def _item(shop: Declared, stream: Stream, record: Any, document: Document) -> Snapshot:
    item = document.page.ask.item
    if stream.kind is Kind.PART:
        return _part(shop, stream, record, document)
    if stream.needs and all(each(record, document) is NOTHING for each in stream.needs):
        return _without_needs(shop, stream, record, document)
    if stream.key is not None and (key := read_key(stream, record, document)) != item:
        raise Unavailable(f"{stream.name}: the page is of {key}, not of {item}")
    row = read_row(stream.fields, record, document)
    row = with_options(stream.variants, row, record, document)
    if not row.fields:
        raise Drifted(f"{stream.name}: nothing could be read of {item}", hint="look at the raw page")
    if stream.gone is not None:
        row.fields["gone"] = False
    return _snapshot(shop, stream, item, row, document.page)


def _without_needs(shop: Declared, stream: Stream, record: Any, document: Document) -> Snapshot:
    """A page without anything that such a page has: the source says that the item is gone, or the page has drifted."""
    item = document.page.ask.item
    if stream.gone is not None and stream.gone(record, document) not in (NOTHING, UNCLEAR):
        return Snapshot(shop.name, item, {"gone": True}, type=shop.policy.type, options_complete=False)
    raise Drifted(f"{stream.name}: the page of {item} has nothing that such a page has", hint="look at the raw page")


def _part(shop: Declared, stream: Stream, record: Any, document: Document) -> Snapshot:
    """The options of an item, each a record of its own."""
    item = document.page.ask.item
    records = found_records(stream, record, document)
    if stream.parent is not None and any(str(stream.parent(each, document)) != item for each in records):
        raise Unavailable(f"{stream.name}: a record is not of {item}")
    return _snapshot(shop, stream, item, with_options(stream.variants, Row({}, ()), record, document), document.page)


def _snapshot(shop: Declared, stream: Stream, key: str, row: Row, page: Page) -> Snapshot:
    fields = row.fields
    if stream.currency and fields.get("price") is not None:
        fields["currency"] = stream.currency
    if stream.after is not None:
        fields = stream.after(fields, page)
    return Snapshot(shop.name, key, fields, row.unknown, shop.policy.type, row.complete)
