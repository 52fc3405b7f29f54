"""Rows of a spreadsheet as a list's pages: rows of one key are one product, each of them perhaps one of its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.model import Snapshot
from bobusang.connectors.sources.declared import cells
from bobusang.connectors.sources.declared.cells import Table
from bobusang.connectors.sources.declared.expression import Format, parse
from bobusang.connectors.sources.declared.field import Row, compile_field, compile_fields, read_row
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw
from bobusang.connectors.sources.declared.options import Variants, read_options
from bobusang.connectors.sources.declared.requesting import NAME
from bobusang.connectors.sources.declared.stream import Stream
from bobusang.kit.errors import Drifted
from bobusang.stages.collect.source import Extent, Kind, Reads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bobusang.connectors.sources.declared.contract import Contract
    from bobusang.connectors.sources.declared.field import Field
    from bobusang.connectors.sources.declared.known import Get
    from bobusang.connectors.sources.declared.section import Section
    from bobusang.connectors.sources.declared.shop import Declared
    from bobusang.stages.collect.source import Page

KIND = "excel"
AUTO = "auto"
KEY = "key"
OPTION = "option."
LONGEST_KEY = 200
MOST_HEADER = 1000
BY = ("color", "size", "option")
"""What an option is called by, where nothing says its code."""


@dataclass(frozen=True, slots=True)
class Files:
    """How the files of a shop are read."""

    path: str = ""
    """Where they appear by themselves, below the home folder, as in `inbox/*.xlsx`."""
    header_row: int = 0
    """As the spreadsheet counts; 0: it is found."""
    sheet: str | int | None = None
    """By name, or by number among the visible ones from 0; None: the first with something in it."""
    complete: bool = True
    """Whether a file lists all that the supplier has; then what two of them lack is gone."""
    encoding: str = ""


class Rows(msgspec.Struct, frozen=True):
    """A page of a sheet: some of its columns, and rows whose first value is their number."""

    sheet: str
    headings: list[str]
    """Of the columns that are here."""
    columns: list[int]
    """Where these stand in the sheet, counted from 0."""
    rows: list[list[Any]]
    job: int = 0
    """Whose page it is: another job keeps its own."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of one product, and of which rows."""

    key: str
    row: Row
    numbers: tuple[int, ...]
    contradicted: tuple[str, ...] = ()
    """Fields of which its rows say different things."""


def compile_files(intake: Section) -> Files:
    """The intake of a shop that is read from spreadsheets."""
    row, sheet = intake.anything("header_row"), intake.anything("sheet")
    if row not in (None, AUTO) and (type(row) is not int or not 1 <= row <= MOST_HEADER):
        intake.refuse("header_row", f"auto, or a row from 1 to {MOST_HEADER}, is expected")
        row = None
    if sheet is not None and (isinstance(sheet, bool) or not isinstance(sheet, str | int)):
        intake.refuse("sheet", "the name of a sheet, or its number from 0, is expected")
        sheet = None
    path = intake.text("path", most=500) or ""
    if path.startswith(("/", "~", "\\")) or ".." in path.split("/") or ":" in path:
        intake.refuse("path", "a place below the home folder is expected", 'as in "inbox/*.xlsx"')
    return Files(
        path=path,
        header_row=row if isinstance(row, int) else 0,
        sheet=sheet if isinstance(sheet, str | int) else None,
        complete=intake.flag("complete", default=True),
        encoding=str(intake.values.get("encoding") or ""),
    )


def compile_sheets(shop: Section, contract: Contract, currency: str) -> tuple[Stream, ...]:
    """The streams of a shop that is read from spreadsheets: one."""
    shop.required("streams")
    section = shop.inner("streams")
    if section is None:
        return ()
    if len(section.values) != 1:
        shop.refuse("streams", f"a spreadsheet has one stream, not {len(section.values)}")
        return ()
    name = next(iter(section.values))
    inner = section.inner(name)
    if not NAME.fullmatch(name):
        section.refuse(name, "a stream is named by letters, digits and _")
    return () if inner is None else (compile_sheet(inner, name, contract, currency),)


def compile_sheet(section: Section, name: str, contract: Contract, currency: str) -> Stream:
    """The one stream of a shop that is read from spreadsheets."""
    section.required("key", "fields")
    specs = section.mapping("fields") or {}
    fields = compile_fields(section.notes, section.at("fields"), specs, Format.SHEET, page=False, terms=contract.terms)
    variants = section.inner("variants")
    places = () if variants is None else _variants(variants)
    section.choice("emits", {"product": "product"}, "product", what="kind of record")
    found = Stream(
        name=name,
        kind=Kind.LIST,
        format=Format.SHEET,
        key=_get(section, "key"),
        skip=_get(section, "skip"),
        fields=fields,
        variants=places,
        currency=currency if any(each.name == "price" for each in fields) else "",
        cells=_named(section, specs, variants),
    )
    section.refuse_others()
    return found


def _variants(section: Section) -> tuple[Variants, ...]:
    section.required("fields")
    specs = section.mapping("fields") or {}
    fields = compile_fields(section.notes, section.at("fields"), specs, Format.SHEET, page=False, terms={})
    key = _get(section, "key") or _called(fields)
    complete = section.flag("complete", default=True)
    section.refuse_others()
    return (Variants(lambda record, _: record, lambda each, table: cells.code_of(key(each, table)), fields, complete),)


def _called(fields: tuple[Field, ...]) -> Get:
    """An option without a code is called by what tells it apart, as it was read."""
    told = [each.get for name in BY for each in fields if each.name == name]

    def get(record: Any, table: Any) -> Any:
        said = [each(record, table) for each in told]
        if UNCLEAR in said:
            return UNCLEAR
        return " / ".join(str(each) for each in said if each is not NOTHING) or NOTHING

    return get


def _get(section: Section, name: str) -> Get | None:
    spec = section.values.get(name)
    section.words(name)
    if not isinstance(spec, str | list):
        return None
    return compile_field(section.notes, section.at(name), spec, Format.SHEET, page=False)


def _named(
    section: Section, specs: Mapping[str, Any], variants: Section | None
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """For each field the headings that it is read under, tried in turn; an option's are `option.size`."""
    found = {KEY: _headings(section.values.get("key"))}
    found |= {name.removesuffix("?"): _headings(spec) for name, spec in specs.items()}
    if section.values.get("skip") is not None:
        found["skip"] = _headings(section.values["skip"])
    if variants is not None:
        inner = variants.values.get("fields")
        found |= {f"{OPTION}key": _headings(variants.values.get("key"))}
        found |= {
            f"{OPTION}{name.removesuffix('?')}": _headings(spec)
            for name, spec in (inner.items() if isinstance(inner, dict) else ())
        }
    return {name: headings for name, headings in found.items() if headings}


def _headings(spec: object) -> tuple[tuple[str, ...], ...]:
    texts = spec if isinstance(spec, list) else spec.get("together", []) if isinstance(spec, dict) else [spec]
    found = []
    for text in texts if isinstance(texts, list) else ():
        try:
            parsed = parse(text, Format.SHEET) if isinstance(text, str) else None
            if parsed is not None and parsed.engine == "cell":
                found.append(cells.alternatives(parsed.what))
        except Flaw:
            continue  # it was noted where it was compiled
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Looked:
    """A page of rows as it was read: what it says, and where each of that stands."""

    table: Table
    rows: Rows
    found: list[Reads]
    """How far the list goes, and its products."""
    first: dict[str, int]
    """By key: the first row of each product."""


def read(shop: Declared, stream: Stream, page: Page) -> list[Reads]:
    """What a page of rows says."""
    return looked(shop, stream, page).found


def looked(shop: Declared, stream: Stream, page: Page) -> Looked:
    """The same with the places of what it says."""
    table, rows = opened(shop, page)
    given = page.ask.given
    first: dict[str, int] = {}
    found: list[Reads] = []
    for one in products(stream, table, rows.rows):
        first[one.key] = one.numbers[0]
        found.append(snapshot(shop, stream, one, page))
    extent = Extent(tuple(first), given.get("total"), int(given.get("page", 1)), bool(given.get("last")))
    return Looked(table, rows, [extent, *found], first)


def opened(shop: Declared, page: Page) -> tuple[Table, Rows]:
    """The rows of a page, and which column is which."""
    try:
        rows = msgspec.json.decode(page.body, type=Rows)
    except msgspec.MsgspecError as error:
        raise Drifted("the rows of the file cannot be read", hint=str(error)[:200]) from error
    return table_of(shop, page, rows.headings), rows


def table_of(shop: Declared, page: Page, headings: Iterable[str]) -> Table:
    """Columns by their headings; a row begins with its number."""
    return Table(page, shop.base, ["", *headings])


def key_of(stream: Stream, row: list[Any], table: Table) -> str | None:
    """The key of a row; empty where there is none, None where there is one that cannot be read with certainty."""
    assert stream.key is not None
    found = cells.code_of(stream.key(row, table))
    if found is UNCLEAR:
        return None
    key = "" if found is NOTHING else str(found)
    return key if len(key) <= LONGEST_KEY and key.isprintable() else None


def products(stream: Stream, table: Table, rows: Iterable[list[Any]]) -> Iterator[Read]:
    """Products in the order in which they begin."""
    groups: dict[str, list[list[Any]]] = {}
    for row in rows:
        key = key_of(stream, row, table)
        if key:
            groups.setdefault(key, []).append(row)
    for key, group in groups.items():
        yield product(stream, table, key, group)


def product(stream: Stream, table: Table, key: str, group: list[list[Any]]) -> Read:
    """One product of its rows. What they say alike, or only some of them say, stands; what they say differently is
    not certain."""
    row, wrong = read_row(stream.fields, group[0], table), tuple[str, ...]()
    if len(group) > 1:
        row, wrong = _combined([row, *(read_row(stream.fields, each, table) for each in group[1:])])
    if stream.variants:
        options = read_options(stream.variants, group, table)
        if options.listed is None:
            row = Row(row.fields, (*row.unknown, "options"), complete=False)
        else:
            row = Row({**row.fields, "options": options.listed}, row.unknown, complete=options.complete)
    return Read(key, row, tuple(each[0] for each in group), wrong)


def _combined(rows: list[Row]) -> tuple[Row, tuple[str, ...]]:
    known: dict[str, Any] = {}
    wrong: list[str] = []
    for row in rows:
        for name, value in row.fields.items():
            if known.setdefault(name, value) != value and name not in wrong:
                wrong.append(name)
    lacking = {name for row in rows for name in row.unknown if name not in known}
    for name in wrong:
        del known[name]
    return Row(known, tuple(dict.fromkeys((*sorted(lacking), *wrong)))), tuple(wrong)


def snapshot(shop: Declared, stream: Stream, one: Read, page: Page) -> Snapshot:
    """A product as the catalog takes it."""
    fields = one.row.fields
    if stream.currency and fields.get("price") is not None:
        fields["currency"] = stream.currency
    if stream.after is not None:
        fields = stream.after(fields, page)
    return Snapshot(shop.name, one.key, fields, one.row.unknown, shop.policy.type, one.row.complete)
