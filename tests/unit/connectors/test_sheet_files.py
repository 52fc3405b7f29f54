"""Spreadsheet files: what is read of good ones, and how bad ones are refused."""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.connectors.sources.sheets import heading, packed
from bobusang.connectors.sources.sheets.grid import MOST_CELLS, MOST_ROWS, Grid, Refused, letters
from bobusang.connectors.sources.sheets.opening import opened
from bobusang.connectors.sources.sheets.texts import Texts
from bobusang.testing.workbook import Formula, Sheet, column, workbook

if TYPE_CHECKING:
    from collections.abc import Sequence

FILES = Path(__file__).parent / "old"
OLD = (FILES / "list.xls").read_bytes()
DIMENSIONS = struct.pack("<HHIIHHH", 0x200, 14, 0, 5, 0, 5, 0)
ENDLESS = struct.pack("<HHIIHHH", 0x200, 14, 0, 0xFFFFFFF0, 0, 0xFFFF, 0)
"""A sheet's extent as it is declared; with this one the reader's process ends at once."""
NUMBER = struct.pack("<HHHH", 0x203, 14, 4, 2)
CORNER = struct.pack("<HHHH", 0x203, 14, 0xFFFF, 0xFF)
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def read(data: bytes, name: str = "list.xlsx", **said: Any) -> list[list[Any]]:
    return [cells for _, cells in opened(data, name, **said).rows()]


def with_sheet(xml: str | bytes, **others: str | bytes) -> bytes:
    """A workbook whose sheet is this XML."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(Sheet("1", [["a"]])))) as good,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            bad.writestr(name, xml if name.endswith("sheet1.xml") else others.get(name, good.read(name)))
    return out.getvalue()


def sheet_xml(cells: str) -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'


def test_values_come_as_they_were_meant() -> None:
    row = [
        8801234567890,
        12.5,
        " 코트 ",
        True,
        date(2026, 3, 1),
        datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
        Formula("A1*2", 24.0),
    ]

    assert read(workbook(Sheet("1", [row, ["", None, "끝"]]))) == [
        [8801234567890, 12.5, "코트", True, "2026-03-01", "2026-03-01 09:30:00", 24],
        [None, None, "끝", None, None, None, None],
    ]


def test_a_merged_cell_says_the_same_in_all_its_places() -> None:
    rows: list[list[Any]] = [
        ["코드", "이름", "가격"],
        ["A", "코트", 1],
        [None, None, 2],
        [None, None, 3],
        ["B", "바지", 4],
    ]

    found = opened(workbook(Sheet("1", rows, merged=["A2:A4", "B2:B4"])), "a.xlsx")

    assert [cells for _, cells in found.rows()] == [
        ["코드", "이름", "가격"],
        ["A", "코트", 1],
        ["A", "코트", 2],
        ["A", "코트", 3],
        ["B", "바지", 4],
    ]


def test_an_old_file_is_read_as_a_new_one() -> None:
    found = opened(OLD, "list.xls")

    assert (found.sheet, found.kind, found.sheets, found.height, found.width) == ("단가표", "xls", ("단가표",), 5, 5)
    assert [cells for _, cells in found.rows()] == [
        ["2026년 봄 단가표"] * 5,
        ["상품코드", "상품명", "공급가", "합계", "입고일"],
        ["P1", "울 코트", 12_000, 24_000, "2026-03-01"],
        ["P2", "니트", 8_000.5, None, None],
        ["P2", "니트 2", 8801234567890, None, None],
    ]
    assert list(found.rows()) == list(found.rows()), "each call begins anew"
    assert read(OLD, "list.xls", sheet="비밀") == [["x"]]


def test_a_heading_over_several_columns_names_the_first() -> None:
    grid = opened(workbook(Sheet("1", [["코드", None, "이름"], ["A", "x", "코트"]], merged=["A1:B1"])), "a.xlsx")

    assert heading.found(grid, {"코드", "이름"}).columns == ((0, "코드"), (2, "이름"))


def test_hidden_and_empty_sheets_are_passed_over_and_found_by_name() -> None:
    data = workbook(Sheet("비밀", [["x"]], hidden=True), Sheet("빈", []), Sheet("단가", [["코드"], ["A"]]))

    assert opened(data, "a.xlsx").sheet == "단가"
    assert opened(data, "a.xlsx").sheets == ("빈", "단가")
    assert opened(data, "a.xlsx", sheet="비밀").sheet == "비밀"
    assert opened(data, "a.xlsx", sheet=1).sheet == "단가"
    with pytest.raises(Refused, match="there is no sheet '없음'"):
        opened(data, "a.xlsx", sheet="없음")


@pytest.mark.parametrize(
    ("codec", "delimiter"),
    [("utf-8", ","), ("utf-8-sig", ";"), ("cp949", ","), ("euc-kr", "\t"), ("utf-16", "\t"), ("cp949", "|")],
)
def test_text_files_in_any_encoding_and_with_any_sign_between(codec: str, delimiter: str) -> None:
    lines = [["상품코드", "상품명", "가격"], ["0012", "코트, 겨울용", "129,000"], ["0013", "바지", "9,000"]]
    quoted = "\r\n".join(delimiter.join(f'"{cell}"' for cell in line) for line in lines)

    found = opened(quoted.encode(codec), "list.csv")

    assert [cells for _, cells in found.rows()] == lines
    assert found.delimiter == delimiter


def test_a_cell_may_hold_a_whole_page_and_other_readers_keep_their_limit() -> None:
    page, before = "p" * 200_000, csv.field_size_limit()

    assert read(f"code,detail\n1,{page}\n".encode(), "list.csv") == [["code", "detail"], ["1", page]]
    assert csv.field_size_limit() == before


def test_codes_that_were_kept_from_a_spreadsheet_by_a_formula() -> None:
    assert read('코드,이름\n="00123",코트\n'.encode(), "a.csv") == [["코드", "이름"], ["00123", "코트"]]


@pytest.mark.parametrize(
    ("rows", "row", "names"),
    [
        ([["단가표"], [], ["상품코드", "상품명", "공급가"], ["A", "코트", 1]], 3, ("상품코드", "상품명", "공급가")),
        ([["Code*", "Name", "Price (원)"], ["A", "coat", 1]], 1, ("Code*", "Name", "Price (원)")),
        ([["가나", "다라"], ["A", "코트"], ["B", "바지"]], 1, ("가나", "다라")),
        (
            [["담당", "김", "tel", "02-123-4567"], ["품번", "품명", "단가", "가격"], ["A", "b", 1, 2]],
            2,
            ("품번", "품명", "단가", "가격"),
        ),
        ([["가격", "코드", "가격"], [1, "A", 2]], 1, ("가격#1", "코드", "가격#2")),
    ],
)
def test_the_header_is_found(rows: list[list[Any]], row: int, names: tuple[str, ...]) -> None:
    found = heading.found(opened(workbook(Sheet("1", rows)), "a.xlsx"), {"품번", "품명", "단가", "상품코드", "상품명"})

    assert (found.row, found.names) == (row, names)


def lying(data: bytes, name: str, size: int) -> bytes:
    """The same archive with another declared size of a part, in both of its places."""
    out = bytearray(data)
    at = data.index(b"PK\x01\x02")
    while out[at : at + 4] == b"PK\x01\x02":
        length, extra, comment = struct.unpack("<HHH", out[at + 28 : at + 34])
        if out[at + 46 : at + 46 + length] == name.encode():
            out[at + 24 : at + 28] = struct.pack("<I", size)
            local = struct.unpack("<I", out[at + 42 : at + 46])[0]
            out[local + 22 : local + 26] = struct.pack("<I", size)
        at += 46 + length + extra + comment
    return bytes(out)


def bomb() -> bytes:
    return with_sheet(sheet_xml(ROWS * (40 << 16)))


def elsewhere(target: str, xml: str, name: str = "") -> bytes:
    """A workbook whose sheet lies where its relations say, perhaps packed under a name that only looks otherwise."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(Sheet("1", [["a"]])))) as good,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for part in good.namelist():
            if part.endswith("sheet1.xml"):
                bad.writestr(name or f"xl/{target}", xml)
            else:
                bad.writestr(part, good.read(part).replace(b"worksheets/sheet1.xml", target.encode()))
    return out.getvalue()


def with_part(name: str, data: bytes) -> bytes:
    """A good workbook with one part more."""
    out = io.BytesIO(workbook(Sheet("1", [["코드"], ["A"]])))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as found:
        found.writestr(name, data)
    return out.getvalue()


ROWS = '<row r="1"></row>'
FAR = sheet_xml('<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>')
CELL_OF_LAUGHS = '<row><c t="str"><v>&b;</v></c></row>'
LAUGHS = f'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>{sheet_xml(CELL_OF_LAUGHS)}'
HOSTILE: list[tuple[str, bytes, str]] = [
    (
        "far right",
        with_sheet(sheet_xml('<row r="1"><c r="A1"><v>1</v></c><c r="BDWGN1"><v>1</v></c></row>')),
        "columns",
    ),
    (
        "last corner",
        with_sheet(
            sheet_xml('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
        ),
        "columns",
    ),
    (
        "far down",
        with_sheet(
            sheet_xml('<row r="1"><c r="A1"/><c r="L1"><v>1</v></c></row><row r="9"><c r="A1048576"><v>1</v></c></row>')
        ),
        "cells",
    ),
    ("below its end", with_sheet(sheet_xml('<row r="1"><c r="A99999999"><v>1</v></c></row>')), "rows"),
    (
        "single quotes",
        with_sheet(sheet_xml("<row r='1'><c r='A1'><v>1</v></c><c r='XFD1'><v>1</v></c></row>")),
        "columns",
    ),
    (
        "hidden by a tab",
        with_sheet(sheet_xml('<row r="1"><c r="A1"><v>1</v></c><c\tr="XFD1"><v>1</v></c></row>')),
        "columns",
    ),
    (
        "hidden in a sign",
        with_sheet(sheet_xml("""<row r="1"><c t=">" r='XFD1'><v>1</v></c><c><v> r="A1"</v></c></row>""")),
        "columns",
    ),
    ("a million without places", with_sheet(sheet_xml("<row>" + "<c><v>1</v></c>" * 1_000_000 + "</row>")), "columns"),
    ("a sheet of another name", elsewhere("worksheets/data.bin", FAR), "columns"),
    ("a sheet in a folder below", elsewhere("worksheets/deep/er.xml", FAR), "columns"),
    ("a sheet by a bent slash", elsewhere("worksheets/a.xml", FAR, "xl\\WorkSheets\\a.xml"), "columns"),
    ("a sheet among charts", elsewhere("chartsheets/a.xml", FAR), "columns"),
    ("a sheet among macros", elsewhere("worksheets/vbaProject.bin", FAR), "columns"),
    ("entities in a sheet of another name", elsewhere("worksheets/data", LAUGHS), "defines entities"),
    ("a bomb of another name", elsewhere("worksheets/data", ROWS * (40 << 16)), "unpacks to far more"),
    ("a bomb beside the sheets", with_part("xl/printerSettings.bin", b"\0" * (32 << 20)), "unpacks to far more"),
    ("entities", with_sheet(LAUGHS), "defines entities"),
    ("cut off", workbook(Sheet("1", [["a"] * 50] * 50))[:-100], "cut off or broken"),
    ("cut in its middle", workbook(Sheet("1", [["a"] * 50] * 50))[:600], "cut off or broken"),
    ("another archive", b"PK\x03\x04" + b"\0" * 50, "cut off or broken"),
    (
        "locked",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le"),
        "protected by a password",
    ),
    ("broken old one", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "cannot be read|is broken"),
    ("an old one that asks for all memory", OLD.replace(DIMENSIONS, ENDLESS), "is broken, or would take more memory"),
    ("an old one with its last corner", OLD.replace(NUMBER, CORNER), "cells are read|would take more memory"),
    ("an old one before Unicode", (FILES / "cp949.xls").read_bytes(), "a code page that cannot be read"),
    ("a web page", b"<html><table><tr><td>1</td></tr></table></html>", "is a web page"),
    ("a picture", b"\x89PNG\r\n\x1a\n\0\0", "is no spreadsheet"),
    ("nothing", b"\r\n  \n", "is empty"),
    ("no text", bytes(range(256)) * 20, "neither a spreadsheet nor text"),
    ("no sheet", workbook(Sheet("1", [])), "no sheet with anything in it"),
    ("broken sheet", with_sheet("<worksheet><sheetData><row><c r="), "cannot be read|no sheet|is broken"),
    ("garbage for a sheet", with_sheet(b"\xff\xfe\0garbage"), "cannot be read|no sheet|is broken"),
    ("wide text", ("a," * 2_000 + "\n").encode(), "columns"),
]


LONG = "긴" * 10_000
COPIES = (512 << 20) // len(LONG.encode()) + 1
"""Cells that name it, and are too many."""


def sharing(cells: Sequence[str], *texts: str, decoy: bool = False) -> bytes:
    """A workbook whose cells, one a row, name texts that it keeps apart."""
    xml = sheet_xml("".join(f'<row r="{at}">{cell}</row>' for at, cell in enumerate(cells, 1)))
    kept = f"<sst>{''.join(f'<si><t>{text}</t></si>' for text in texts)}</sst>"
    out = io.BytesIO(with_sheet(xml))
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as found:
        if decoy:
            found.writestr("xl/others.xml", f"<sst>{'<si/>' * (len(texts) + 1)}</sst>")
        found.writestr("xl/sharedStrings.xml", kept)
    return out.getvalue()


def naming(number: int, count: int, cell: str = '<c t="s"><v>{}</v></c>') -> list[str]:
    return [cell.format(number)] * count


@pytest.mark.parametrize(
    "data",
    [
        sharing(naming(1, COPIES), "코드", LONG),
        sharing(naming(0, COPIES), LONG, decoy=True),
        sharing(naming(0, COPIES, "<c t='s'><v>{}</v></c>"), LONG),
        sharing(naming(0, COPIES, '<c\tt\n=\t"s" ><f>1</f><v> {}\n</v></c>'), LONG),
        sharing(naming(0, COPIES, '<x:c t="s"><x:v><!-- -->{}</x:v></x:c>'), LONG),
    ],
    ids=["plainly", "beside another part", "in single quotes", "with odd blanks", "in odd tags"],
)
def test_a_long_text_that_many_cells_name_is_refused_before_it_is_copied(data: bytes) -> None:
    assert len(data) < 1 << 20
    with pytest.raises(Refused, match="texts of the sheet come to more than 512 MB"):
        opened(data, "list.xlsx")


def test_a_long_text_beside_many_short_ones_is_read() -> None:
    data = sharing(['<c t="s"><v>1</v></c>', *naming(0, COPIES), "<c><v>1</v></c>"], "짧다", LONG)

    assert read(data) == [[LONG], *[["짧다"]] * COPIES, [1]]


def test_more_texts_than_a_sheet_has_cells_are_refused() -> None:
    with pytest.raises(Refused, match=f"more than {MOST_CELLS:,} texts"):
        Texts().see(b"<si/>" * (MOST_CELLS + 2))


@pytest.mark.parametrize(("data", "why"), [one[1:] for one in HOSTILE], ids=[one[0] for one in HOSTILE])
def test_hostile_files_are_refused_in_plain_words(data: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        opened(data, "list.xlsx")


def test_bombs_are_refused_by_what_they_declare_and_by_what_they_are() -> None:
    honest = bomb()
    small = lying(honest, "xl/worksheets/sheet1.xml", 1_000)
    boasting = lying(workbook(Sheet("1", [["a"]])), "xl/worksheets/sheet1.xml", 1 << 31)

    for data in (honest, small, boasting):
        with pytest.raises(Refused, match="unpacks to far more"):
            opened(data, "list.xlsx")


def test_a_locked_part_and_other_formats_are_named() -> None:
    for name, why in (("xl/workbook.bin", "XLSB"), ("content.xml", "ODS"), ("a.txt", "an archive")):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as found:
            found.writestr(name, "x")
        with pytest.raises(Refused, match=why):
            opened(out.getvalue(), "list.xlsx")


def test_macros_are_not_looked_at() -> None:
    out = io.BytesIO(workbook(Sheet("1", [["코드"], ["A"]])))
    with zipfile.ZipFile(out, "a") as found:
        found.writestr("xl/vbaProject.bin", b"\xff" * 1000)

    assert read(out.getvalue(), "list.xlsm") == [["코드"], ["A"]]


@pytest.mark.parametrize("name", ["xl/media/photo.bmp", "xl/vbaProject.bin"])
def test_what_is_never_unpacked_is_not_weighed(name: str) -> None:
    assert read(with_part(name, b"\0" * (32 << 20))) == [["코드"], ["A"]]


def test_the_extension_says_nothing() -> None:
    data = workbook(Sheet("1", [["코드"], ["A"]]))

    assert read(data, "list.csv") == read(data, "list.xls") == [["코드"], ["A"]]
    assert read("코드,이름\nA,코트\n".encode("cp949"), "list.xlsx") == [["코드", "이름"], ["A", "코트"]]


@given(st.integers(0, 20_000))
def test_columns_have_the_letters_that_spreadsheets_give_them(at: int) -> None:
    assert letters(at) == column(at)
    assert packed._number(letters(at).encode()) == at + 1


@given(columns=st.integers(0, 800), other=st.integers(1, 20_000), row=st.integers(1, 2_000_000))
def test_places_beyond_are_found_and_no_others(columns: int, other: int, row: int) -> None:
    most = min(MOST_ROWS, MOST_CELLS // max(columns, 1))
    text = f'<c r="{letters(other - 1)}{row}">'.encode()

    assert (packed._beyond(columns).search(text) is not None) is (other > columns or row > most)


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), max_size=20).map(
    str.strip
)
CELL = st.one_of(
    st.none(),
    st.integers(-(2**50), 2**50),
    st.booleans(),
    st.dates(date(1950, 1, 1), date(2100, 1, 1)),
    TEXT.map(lambda text: text or None),
    st.floats(allow_nan=False, allow_infinity=False, width=32).filter(lambda one: not one.is_integer()),
)


def told(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, date) else cell


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=8))
def test_any_table_written_as_xlsx_reads_back(rows: list[list[Any]]) -> None:
    rows = [["x", "y", "z"], *rows, ["끝", "끝", "끝"]]

    assert read(workbook(Sheet("1", rows))) == [[told(cell) for cell in row] for row in rows]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(TEXT, min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from([",", "\t", ";"]))
def test_any_table_written_as_csv_reads_back(rows: list[list[str]], delimiter: str) -> None:
    head = [["상품코드", "상품명", "가격"], ["A1", "코트", "1"]]
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([*head, *rows])

    found: Grid = opened(text.getvalue().encode("utf-8-sig"), "list.csv")

    assert [cells for _, cells in found.rows()] == [[cell or None for cell in row] for row in [*head, *rows]]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_damaged_workbook_is_read_or_refused_and_never_worse(data: st.DataObject) -> None:
    good = bytearray(workbook(Sheet("1", [["상품코드", "상품명"], ["A", "코트"], ["B", 12.5]])))
    for _ in range(data.draw(st.integers(1, 6))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))

    try:
        list(opened(bytes(good), "list.xlsx").rows())
    except Refused:
        pass
