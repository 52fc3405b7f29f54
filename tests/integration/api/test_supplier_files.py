"""Suppliers' spreadsheets over HTTP: sent, looked through, refused, thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.flows.sheets.register import install
from bobusang.testing.workbook import Sheet, workbook

if TYPE_CHECKING:
    from tests.integration.api.door import Door

ROWS: list[list[Any]] = [
    ["상품코드", "상품명", "공급가"],
    ["A1", "코트", "129,000원"],
    ["A2", "바지", "문의"],
    [None, "모자", 1000],
]


async def add_supplier(door: Door) -> None:
    await install(door.app.engine)
    await door.app.engine.db.transact(lambda tx: suppliers.put(tx, Supplier("acme", SupplierKind.EXCEL)))


async def send(door: Door, data: bytes, name: str = "봄 단가.xlsx") -> Any:
    return await door.operator.post("/suppliers/acme/files", content=data, params={"name": name})


async def test_a_file_is_looked_through_cell_by_cell_before_it_is_imported(small: Door) -> None:
    await add_supplier(small)

    sent = await send(small, workbook(Sheet("1", ROWS)))
    again = await send(small, workbook(Sheet("1", ROWS)), "other.xlsx")
    seen = await small.operator.post(f"/supplier-files/{sent.json()['id']}/preview")

    assert (sent.status_code, again.status_code, again.json()["id"]) == (201, 200, sent.json()["id"])
    assert sent.headers["location"] == f"/supplier-files/{sent.json()['id']}"
    report = seen.json()["report"]
    assert (seen.json()["state"], report["products"], report["refused"]) == ("PREVIEWED", 2, 1)
    assert report["problems"] == [
        {
            "row": 3,
            "column": "C",
            "field": "price",
            "value": "문의",
            "problem": "an amount of won is expected, as 12,900",
        },
        {"row": 4, "column": "A", "field": "key", "value": "", "problem": "there is no code"},
    ]
    body = await small.viewer.get(f"/supplier-files/{sent.json()['id']}/body")
    assert body.content == workbook(Sheet("1", ROWS))
    assert body.headers["content-disposition"] == "attachment; filename*=UTF-8''%EB%B4%84%20%EB%8B%A8%EA%B0%80.xlsx"
    begun = await small.operator.post(f"/supplier-files/{sent.json()['id']}/import")
    twice = await small.operator.post(f"/supplier-files/{sent.json()['id']}/import")
    assert (begun.status_code, begun.json()["state"]) == (202, "IMPORTING")
    assert twice.json()["job_id"] == begun.json()["job_id"]
    listed = await small.viewer.get("/suppliers/acme/files")
    assert [(one["name"], one["state"]) for one in listed.json()["items"]] == [("봄 단가.xlsx", "IMPORTING")]


async def test_what_cannot_be_is_refused_with_what_to_do(small: Door) -> None:
    await add_supplier(small)
    cut = (await send(small, workbook(Sheet("1", ROWS))[:-30])).json()

    broken = await small.operator.post(f"/supplier-files/{cut['id']}/preview")
    nobody = await small.operator.post("/suppliers/nobody/files", content=b"x")
    empty = await send(small, b"")
    unknown = await small.operator.post("/supplier-files/99/preview")
    good = (await send(small, workbook(Sheet("1", ROWS)))).json()
    column = await small.operator.post(f"/supplier-files/{good['id']}/preview", json={"columns": {"price": "값"}})
    field = await small.operator.post(f"/supplier-files/{good['id']}/preview", json={"columns": {"prise": "공급가"}})
    early = await small.operator.post(f"/supplier-files/{good['id']}/import")

    told = [(one.status_code, one.json()["code"], one.json()["detail"]) for one in (broken, nobody, empty, unknown)]
    assert told == [
        (422, "unreadable_file", "the file is cut off or broken"),
        (404, "missing", "there is no supplier 'nobody'"),
        (422, "unreadable_file", "the file is empty"),
        (404, "missing", "there is no file 99"),
    ]
    assert (column.status_code, column.json()["detail"]) == (422, "the sheet has no column '값'")
    assert (field.status_code, field.json()["detail"]) == (422, "there is no field 'prise'")
    assert (early.status_code, early.json()["detail"]) == (409, f"file {good['id']} was not looked through yet")
    gone = await small.operator.post(f"/supplier-files/{cut['id']}/discard")
    assert gone.json()["state"] == "DISCARDED"
    assert (await small.operator.post(f"/supplier-files/{cut['id']}/discard")).status_code == 409


async def test_a_file_that_is_too_large_is_refused_before_it_is_read(small: Door) -> None:
    await add_supplier(small)

    answer = await small.operator.post("/suppliers/acme/files", content=b"x" * ((64 << 20) + 1))
    other = await small.operator.post("/suppliers", content=b"x" * (3 << 20))

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert other.status_code == 413
