"""Suppliers' spreadsheets from a file to stored records, on each database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import history, records, suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.connectors.sources.sheets.grid import Refused
from bobusang.flows.sheets import previewing, receiving, starting
from bobusang.flows.sheets.previewing import Wish
from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.stages.collect import archive, files, runs
from bobusang.stages.collect.intake_tables import FileState
from bobusang.testing.workbook import Sheet, workbook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.stages.collect.files import SupplierFile
    from bobusang.testing.yard import Yard

HEAD = ["상품코드", "상품명", "브랜드", "공급가", "색상", "사이즈", "재고"]


def goods(count: int, *, price: int = 10_000) -> list[list[Any]]:
    return [[f"P{at:04}", f"코트 {at}", "나이키", price + at, "와인", "M", at % 7 + 1] for at in range(count)]


def book(rows: Sequence[Sequence[Any]], *, title: bool = True) -> bytes:
    top: list[list[Any]] = [["2026년 봄 단가표"], []] if title else []
    return workbook(Sheet("단가표", [*top, HEAD, *rows, [], ["합계", None, None, 1_234_567]]))


async def add_supplier(yard: Yard, name: str = "acme") -> None:
    await yard.db.transact(lambda tx: suppliers.put(tx, Supplier(name, SupplierKind.EXCEL)))


async def sent(yard: Yard, data: bytes, name: str = "list.xlsx", wish: Wish | None = None) -> SupplierFile:
    file, _ = await receiving.receive(yard.app.collector, "acme", name, data, by="test")
    return (await previewing.preview(yard.app.collector, file.id, wish))[0]


async def imported(yard: Yard, data: bytes, wish: Wish | None = None) -> SupplierFile:
    file = await sent(yard, data, wish=wish)
    begun = await yard.db.transact(lambda tx: starting.start(tx, yard.app.engine, yard.app.collector, file.id))
    assert begun.job_id is not None
    await yard.ended(begun.job_id)
    async with yard.db.read() as tx:
        return await files.get(tx, file.id)


async def test_a_file_becomes_records_with_the_cell_of_each_value(any_yard: Yard) -> None:
    await add_supplier(any_yard)

    file = await imported(any_yard, book([*goods(3), ["P0001", "코트 1", "나이키", 10_001, "와인", "L", 0]]))

    assert (file.state, file.rows, file.accepted, file.refused) == (FileState.DONE, 4, 3, 0)
    assert file.report["import"]["state"] == "PROVED"
    stored = await any_yard.records("acme")
    assert stored["P0001"] == {
        "name": "코트 1",
        "brand": "나이키",
        "price": 10_001,
        "currency": "KRW",
        "options": [
            {"code": "와인 / M", "color": "와인", "size": "M", "stock": 2, "available": True},
            {"code": "와인 / L", "color": "와인", "size": "L", "stock": 0, "available": False},
        ],
    }
    async with any_yard.db.read() as tx:
        ids = await records.find(tx, "acme", ["P0001"])
        origin = await history.origin(tx, ids["P0001"], "price")
        assert origin.raw_id is not None
        page = await archive.page(tx, origin.raw_id)
    assert page.sha256 == file.sha256
    assert archive.cell_of(page, "P0001", "price") == "단가표!D5"
    assert await any_yard.app.collector.blobs.get(file.sha256) == book(
        [*goods(3), ["P0001", "코트 1", "나이키", 10_001, "와인", "L", 0]]
    )


async def test_the_same_file_again_is_the_same_and_changes_nothing(yard: Yard) -> None:
    await add_supplier(yard)
    first = await imported(yard, book(goods(5)))

    again, is_new = await receiving.receive(yard.app.collector, "acme", "copy.xlsx", book(goods(5)), by="test")

    assert (again, is_new) == (first, False)
    with pytest.raises(Conflict, match="is DONE"):
        await previewing.preview(yard.app.collector, first.id)


async def test_a_list_that_returns_to_what_it_was_is_imported_again(any_yard: Yard) -> None:
    """A supplier raised its prices and took them back: the old list was known, and the raised prices stayed."""
    await add_supplier(any_yard)
    first = await imported(any_yard, book(goods(3)))
    await imported(any_yard, book(goods(3, price=11_000)))
    raised = {key: fields["price"] for key, fields in (await any_yard.records("acme")).items()}

    again = await imported(any_yard, book(goods(3)))
    same, is_new = await receiving.receive(any_yard.app.collector, "acme", "x.xlsx", book(goods(3)), by="test")

    assert again.id != first.id
    assert (again.sha256, again.state) == (first.sha256, FileState.DONE)
    assert raised == {"P0000": 11_000, "P0001": 11_001, "P0002": 11_002}
    assert {key: fields["price"] for key, fields in (await any_yard.records("acme")).items()} == {
        "P0000": 10_000,
        "P0001": 10_001,
        "P0002": 10_002,
    }
    assert (same.id, is_new) == (again.id, False), "it is the last word now"


async def test_half_the_products_missing_does_not_delist_them(any_yard: Yard) -> None:
    await add_supplier(any_yard)
    await imported(any_yard, book(goods(40)))

    states = []
    for price in (20, 30, 40):  # each file is another one
        half = await imported(
            any_yard, book([*goods(19), ["P0019", "코트 19", "나이키", 10_000 + price, "와인", "M", 6]])
        )
        states.append((half.report["import"]["missed"], half.report["import"]["absent"], half.report["import"]["held"]))

    stored = await any_yard.records("acme")
    assert [one for one in stored.values() if one.get("listed") is False] == []
    assert states == [(20, 0, 0), (0, 0, 20), (0, 0, 20)]
    assert len(stored) == 40


async def test_one_product_missing_in_two_files_is_gone(yard: Yard) -> None:
    await add_supplier(yard)
    await imported(yard, book(goods(60)))

    once = await imported(yard, book(goods(59)))
    between = (await yard.records("acme"))["P0059"].get("listed")
    twice = await imported(yard, book([*goods(58), ["P0058", "코트 58", "나이키", 10_059, "와인", "M", 3]]))

    assert (once.report["import"]["missed"], once.report["import"]["absent"], between) == (1, 0, None)
    assert twice.report["import"]["absent"] == 1
    assert (await yard.records("acme"))["P0059"]["listed"] is False


async def test_a_file_that_holds_only_some_products_says_nothing_of_the_others(yard: Yard) -> None:
    await add_supplier(yard)
    await imported(yard, book(goods(30)))

    told = [
        (await imported(yard, book(goods(2, price=10_000 + at)), wish=Wish(complete=False))).report["import"]
        for at in range(3)
    ]

    assert [(one["state"], one["missed"], one["absent"]) for one in told] == [("UNPROVED", 0, 0)] * 3
    assert [one.get("listed") for one in (await yard.records("acme")).values()] == [None] * 30


async def test_columns_that_were_renamed_are_found_by_what_was_settled(yard: Yard) -> None:
    await add_supplier(yard)
    rows = [["A-1", "코트", "129,000원"], ["A-2", "바지", "₩59,000"]]
    odd = workbook(Sheet("1", [["우리번호", "이름표", "받는값"], *rows]))

    file = await sent(yard, odd)
    assert (file.report["lacking"], file.report["headings"]) == (
        ["key", "name", "price"],
        ["우리번호", "이름표", "받는값"],
    )
    with pytest.raises(Invalid, match="no column was chosen for key, name, price"):
        await yard.db.transact(lambda tx: starting.start(tx, yard.app.engine, yard.app.collector, file.id))
    columns = {"key": "우리번호", "name": "이름표", "price": "받는값"}
    await imported(yard, odd, Wish(columns=columns))
    moved = workbook(
        Sheet("1", [["받는값", "우리 번호*", "상품명"], *([price, key, name] for key, name, price in rows[:1])])
    )
    again = await sent(yard, moved)

    assert again.report["columns"] == {"key": "우리 번호*", "name": "상품명", "price": "받는값"}
    assert {key: one["price"] for key, one in (await yard.records("acme")).items()} == {"A-1": 129_000, "A-2": 59_000}


async def test_files_that_cannot_be_read_are_refused_and_kept(yard: Yard) -> None:
    await add_supplier(yard)
    file, _ = await receiving.receive(yard.app.collector, "acme", "cut.xlsx", book(goods(3))[:-200], by="test")

    with pytest.raises(Refused, match="cut off or broken"):
        await previewing.preview(yard.app.collector, file.id)

    async with yard.db.read() as tx:
        found = await files.get(tx, file.id)
    assert (found.state, found.report["error"]) == (FileState.FAILED, "the file is cut off or broken")
    with pytest.raises(Conflict, match="was not looked through yet"):
        await yard.db.transact(lambda tx: starting.start(tx, yard.app.engine, yard.app.collector, file.id))
    gone = await receiving.discard(yard.app.collector, file.id, by="test")
    assert gone.state is FileState.DISCARDED
    with pytest.raises(Missing):
        await yard.app.collector.blobs.get(file.sha256)


async def test_nobody_elses_supplier_takes_files(yard: Yard) -> None:
    await yard.db.transact(lambda tx: suppliers.put(tx, Supplier("api", SupplierKind.API)))

    with pytest.raises(Missing, match="there is no supplier 'nobody'"):
        await receiving.receive(yard.app.collector, "nobody", "a.xlsx", b"x", by="test")
    with pytest.raises(Invalid, match="does not send spreadsheets"):
        await receiving.receive(yard.app.collector, "api", "a.xlsx", b"x", by="test")


async def test_prices_that_all_jump_are_held(yard: Yard) -> None:
    await add_supplier(yard)
    await imported(yard, book(goods(30)))

    wild = await imported(yard, book(goods(30, price=100_000)))

    assert wild.report["import"]["held"] == 30
    assert {one["price"] for one in (await yard.records("acme")).values()} == set(range(10_000, 10_030))
    async with yard.db.read() as tx:
        run = (await runs.recent(tx, source="acme"))[0]
    assert (run.held, run.listed) == (30, 30)
