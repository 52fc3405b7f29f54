"""Workbooks for tests and benches: the smallest XLSX that spreadsheets write, with what readers stumble over."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_EPOCH = date(1899, 12, 30)
_DAY_STYLE = 1

STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
)


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula with the value that the spreadsheet computed."""

    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: rows of texts, numbers, truths, days, formulas; None is an empty cell."""

    name: str
    rows: Iterable[Sequence[Any]]
    merged: Sequence[str] = ()
    """Ranges as `A2:A4`."""
    hidden: bool = False


def workbook(*sheets: Sheet) -> bytes:
    """The bytes of an XLSX file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as packed:
        _write(packed, "[Content_Types].xml", _types(len(sheets)))
        _write(packed, "_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        _write(packed, "xl/workbook.xml", _book(sheets))
        targets = [("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)]
        _write(packed, "xl/_rels/workbook.xml.rels", _relations([*targets, ("styles", "styles.xml")]))
        _write(packed, "xl/styles.xml", STYLES)
        for at, sheet in enumerate(sheets, 1):
            with packed.open(_named(f"xl/worksheets/sheet{at}.xml"), "w") as file:
                for part in _sheet(sheet):
                    file.write(part.encode())
    return out.getvalue()


def _write(packed: zipfile.ZipFile, name: str, text: str) -> None:
    packed.writestr(_named(name), text)


def _named(name: str) -> zipfile.ZipInfo:
    """Without the time: the same sheets are the same bytes."""
    found = zipfile.ZipInfo(name)
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def column(at: int) -> str:
    """The letters of a column, counted from 0."""
    letters = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _sheet(sheet: Sheet) -> Iterable[str]:
    yield f'<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="{_MAIN}"><sheetData>'
    for number, row in enumerate(sheet.rows, 1):
        cells = "".join(_cell(f"{column(at)}{number}", value) for at, value in enumerate(row) if value is not None)
        yield f'<row r="{number}">{cells}</row>'
    yield "</sheetData>"
    if sheet.merged:
        ranges = "".join(f'<mergeCell ref="{one}"/>' for one in sheet.merged)
        yield f"<mergeCells>{ranges}</mergeCells>"
    yield "</worksheet>"


def _cell(place: str, value: Any) -> str:
    match value:
        case Formula():
            inner = value.value
            kind = ' t="str"' if isinstance(inner, str) else ""
            return f'<c r="{place}"{kind}><f>{escape(value.text)}</f><v>{escape(str(inner))}</v></c>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        case int() | float():
            return f'<c r="{place}"><v>{value!r}</v></c>'
        case datetime():
            days = (value.date() - _EPOCH).days + (value.hour * 3600 + value.minute * 60 + value.second) / 86400
            return f'<c r="{place}" s="{_DAY_STYLE}"><v>{days!r}</v></c>'
        case date():
            return f'<c r="{place}" s="{_DAY_STYLE}"><v>{(value - _EPOCH).days}</v></c>'
    text = escape(str(value)).replace("\r", "_x000D_")
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _book(sheets: Sequence[Sheet]) -> str:
    states = {True: ' state="hidden"', False: ""}
    named = "".join(
        f'<sheet name="{escape(sheet.name)}" sheetId="{at}" r:id="rId{at}"{states[sheet.hidden]}/>'
        for at, sheet in enumerate(sheets, 1)
    )
    return f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}</sheets></workbook>'


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    named = "".join(
        f'<Relationship Id="rId{at}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{named}</Relationships>'


def _types(sheets: int) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    parts += [(f"/xl/worksheets/sheet{at}.xml", "worksheet") for at in range(1, sheets + 1)]
    named = "".join(f'<Override PartName="{part}" ContentType="{kind}.{what}+xml"/>' for part, what in parts)
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{named}</Types>'
    )
