"""The generic reader of design [E]: `selectors` of a workflow's step read a page into plain rows.

The selectors use the field grammar of declared shops (`.price | won`, `a@href | abs_url`, a list of fallbacks).
`items` says which elements are rows; without it the whole page is one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format, compile_records
from bobusang.connectors.sources.declared.field import Field, compile_field, read_row
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw, Get
from bobusang.kit import json
from bobusang.kit.errors import Drifted
from bobusang.kit.lined.fields import Notes
from bobusang.kit.lined.located import BadText, Located
from bobusang.stages.collect.source import Ask, Page

if TYPE_CHECKING:
    from collections.abc import Mapping

ITEMS = "items"


@dataclass(frozen=True, slots=True)
class Selectors:
    """Compiled selectors."""

    format: Format
    records: Get | None
    fields: tuple[Field, ...]

    def rows(self, page: Page) -> list[dict[str, Any]]:
        """The rows of a page; what is not there, or not certain, is None. Drifted where the items have no place."""
        document = Document(page)
        whole = document.tree if self.format is Format.HTML else document.data
        found = [whole] if self.records is None else self.records(whole, document)
        if found is NOTHING or found is UNCLEAR:
            raise Drifted("there is no list where `items` looks for one", hint="look at the page and mend the selector")
        return [_row(self.fields, each, document) for each in found]


def _row(fields: tuple[Field, ...], record: Any, document: Document) -> dict[str, Any]:
    known = read_row(fields, record, document).fields
    return {each.name: known.get(each.name) for each in fields}


def html_items(text: str, selectors: Mapping[str, Any], *, url: str = "") -> list[dict[str, Any]]:
    """The rows of an HTML page. `url` is the page's own address, for `abs_url`.

    >>> html_items('<li class="x"><b>A</b><i>129,000원</i></li>', {"items": ".x", "name": "b", "price": "i | won"})
    [{'name': 'A', 'price': 129000}]
    """
    return compile_selectors(selectors, Format.HTML).rows(Page(Ask(url), text.encode(), url=url, text=text))


def json_items(body: bytes, selectors: Mapping[str, Any], *, url: str = "") -> list[dict[str, Any]]:
    """The rows of a JSON answer.

    >>> json_items(b'{"list": [{"n": "A"}]}', {"items": "list[*]", "name": "n"})
    [{'name': 'A'}]
    """
    return compile_selectors(selectors, Format.JSON).rows(Page(Ask(url), body, url=url))


def compile_selectors(selectors: Mapping[str, Any], format: Format) -> Selectors:
    """Compile once, read many; `BadText` names every selector that is wrong."""
    return _compiled(json.dumps(dict(selectors)), format)


@lru_cache(maxsize=128)
def _compiled(text: str, format: Format) -> Selectors:
    specs: dict[str, Any] = json.loads(text)
    notes = Notes(Located(specs))
    records, inner = None, format
    items = specs.pop(ITEMS, None)
    if items is not None:
        try:
            records, inner = compile_records(str(items), format)
        except Flaw as flaw:
            notes.add((ITEMS,), flaw.message, flaw.hint)
    fields = tuple(
        Field(name, compile_field(notes, (name,), spec, inner, page=records is None)) for name, spec in specs.items()
    )
    if notes.problems:
        raise BadText("selectors", notes.problems)
    return Selectors(format, records, fields)
