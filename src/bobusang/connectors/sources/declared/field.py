"""Fields: an expression, a list of fallbacks, or records inside the record; and rows of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.clean import settled
from bobusang.connectors.sources.declared.contract import held_to
from bobusang.connectors.sources.declared.expression import Format, compile_expression, compile_records
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw, Get
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.connectors.sources.declared.contract import Term
    from bobusang.connectors.sources.declared.document import Document
    from bobusang.kit.lined.fields import Notes
    from bobusang.kit.lined.located import Place

MOST_FALLBACKS = 10
MOST_FIELDS = 100
DEEPEST = 3

_NESTED = ("records", "fields", "key", "value", "together", "beside")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a row. A name that ended in `?` is left out where the page has nothing; others are unknown then."""

    name: str
    get: Get
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What was read of one record."""

    fields: dict[str, Any]
    unknown: tuple[str, ...]
    complete: bool = True
    """Whether an option that is not among them is gone."""


def read_row(fields: tuple[Field, ...], record: Any, document: Document) -> Row:
    """All fields of a record."""
    known: dict[str, Any] = {}
    unknown: list[str] = []
    for each in fields:
        value = each.get(record, document)
        if type(value) is not int:
            value = settled(value)
        if value is NOTHING:
            if not each.optional:
                unknown.append(each.name)
        elif value is UNCLEAR:
            unknown.append(each.name)
        else:
            known[each.name] = value
    return Row(known, tuple(unknown))


def compile_fields(
    notes: Notes, place: Place, specs: Mapping[str, object], format: Format, *, page: bool, terms: Mapping[str, Term]
) -> tuple[Field, ...]:
    """The fields of a mapping; each flaw is noted at its place."""
    if len(specs) > MOST_FIELDS:
        notes.add(place, f"at most {MOST_FIELDS} fields are allowed, not {len(specs)}")
        return ()
    found = []
    for name, spec in specs.items():
        get = compile_field(notes, (*place, name), spec, format, page=page)
        bare = name.removesuffix("?")
        found.append(Field(bare, held_to(get, terms.get(bare)), optional=name.endswith("?")))
    return tuple(found)


def compile_field(notes: Notes, place: Place, spec: object, format: Format, *, page: bool, depth: int = 0) -> Get:
    """One field; a flaw is noted, and the field then reads nothing."""
    try:
        match spec:
            case str() if spec.strip():
                return compile_expression(spec, format, page=page)
            case list() if 1 <= len(spec) <= MOST_FALLBACKS and all(isinstance(each, str) and each for each in spec):
                return _fallbacks(notes, place, spec, format, page=page)
            case dict() if depth < DEEPEST:
                return _nested(notes, place, spec, format, page=page, depth=depth + 1)
    except Flaw as flaw:
        notes.add(place, flaw.message, flaw.hint)
        return _nothing
    hint = "a text as price | won, a list of such to be tried in turn, or {records: …, fields: {…}}"
    notes.add(place, "this is no field", hint)
    return _nothing


def _nothing(_: Any, __: Document) -> Any:
    return NOTHING


def _fallbacks(notes: Notes, place: Place, specs: list[str], format: Format, *, page: bool) -> Get:
    """Tried in turn where there is nothing; what is unclear ends the search, for a fallback would be a guess then."""
    gets: list[Get] = []
    for at, each in enumerate(specs):
        try:
            gets.append(compile_expression(each, format, page=page))
        except Flaw as flaw:
            notes.add((*place, at), flaw.message, flaw.hint)

    def get(record: Any, document: Document) -> Any:
        for read in gets:
            value = read(record, document)
            if value is not NOTHING:
                return value
        return NOTHING

    return get


def _nested(notes: Notes, place: Place, spec: Mapping[str, object], format: Format, *, page: bool, depth: int) -> Get:
    """`{records, fields}` is a list of rows, `{records, key, value}` a mapping, `{together: […]}` a list of values,
    `{beside: …}` what stands in a list of the page at the place of the record."""
    for name in spec:
        if name not in _NESTED:
            notes.add((*place, name), "unknown key", did_you_mean(name, _NESTED))
    if isinstance(parts := spec.get("together"), list):
        here = (*place, "together")
        gets = [
            compile_field(notes, (*here, at), each, format, page=page, depth=depth) for at, each in enumerate(parts)
        ]
        return _together(gets)
    if (whole := spec.get("beside")) is not None:
        return _beside(compile_field(notes, (*place, "beside"), whole, _page_format(format), page=True))
    records = spec.get("records")
    if not isinstance(records, str):
        raise Flaw("records are missing: which elements?")
    listed, inner = compile_records(records, format)
    fields = spec.get("fields")
    if isinstance(fields, dict):
        rows = tuple(
            Field(
                name.removesuffix("?"),
                compile_field(notes, (*place, "fields", name), each, inner, page=False, depth=depth),
                optional=name.endswith("?"),
            )
            for name, each in fields.items()
        )
        return _rows(listed, rows)
    if "key" not in spec or "value" not in spec:
        raise Flaw("either fields, or key and value, are missing")
    key = compile_field(notes, (*place, "key"), spec["key"], inner, page=False, depth=depth)
    value = compile_field(notes, (*place, "value"), spec["value"], inner, page=False, depth=depth)
    return _pairs(listed, key, value)


def _page_format(format: Format) -> Format:
    """A page that is read by patterns and scripts is HTML, whatever its records are."""
    return Format.HTML if format is Format.JSON else format


def _beside(get: Get) -> Get:
    """Of a list of the page the element at the record's own place; a list of another length is not beside them."""

    def read(_: Any, document: Document) -> Any:
        if document.place is None:
            return UNCLEAR
        at, count = document.place
        if id(get) not in document.besides:
            document.besides[id(get)] = get(document.tree, document)
        found = document.besides[id(get)]
        if found is NOTHING or found is UNCLEAR:
            return found
        return found[at] if type(found) is list and len(found) == count else UNCLEAR

    return read


def _together(gets: list[Get]) -> Get:
    def get(record: Any, document: Document) -> Any:
        found = [each(record, document) for each in gets]
        if UNCLEAR in found:
            return UNCLEAR
        told = [each for each in found if each is not NOTHING]
        return [one for each in told for one in (each if type(each) is list else [each])] or NOTHING

    return get


def _rows(listed: Get, fields: tuple[Field, ...]) -> Get:
    def get(record: Any, document: Document) -> Any:
        records = listed(record, document)
        if records is NOTHING or records is UNCLEAR:
            return records
        rows = [read_row(fields, each, document) for each in document.placed(records)]
        if any(row.unknown for row in rows):
            return UNCLEAR
        return [row.fields for row in rows] or NOTHING

    return get


def _pairs(listed: Get, key: Get, value: Get) -> Get:
    """Of two with one name the first; an element without a name or a value is not a pair."""

    def get(record: Any, document: Document) -> Any:
        records = listed(record, document)
        if records is NOTHING or records is UNCLEAR:
            return records
        pairs: dict[str, Any] = {}
        for each in records:
            name, said = key(each, document), value(each, document)
            if name is UNCLEAR or said is UNCLEAR:
                return UNCLEAR
            if name is not NOTHING and said is not NOTHING:
                pairs.setdefault(str(name), said)
        return pairs or NOTHING

    return get
