"""A watched folder: files are taken once they no longer grow, each content once, and imported where that is safe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.flows.sheets import inbox
from bobusang.flows.sheets.inbox import Inbox
from bobusang.kit.errors import Invalid
from bobusang.platform import alerting
from bobusang.stages.collect import files
from bobusang.testing.workbook import Sheet, workbook

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bobusang.testing.yard import Yard

HEAD = ["상품코드", "상품명", "공급가"]
SETTLED = {"columns": {"key": ["상품코드"], "name": ["상품명"], "price": ["공급가"]}}


def book(*rows: Sequence[Any], head: Sequence[str] = HEAD) -> bytes:
    return workbook(Sheet("1", [head, *rows]))


async def watching(yard: Yard, tmp_path: Path, **settings: Any) -> tuple[Inbox, Path]:
    given = {"inbox": "inbox/*.xlsx", **settings}
    await yard.db.transact(lambda tx: suppliers.put(tx, Supplier("acme", SupplierKind.EXCEL, settings=given)))
    folder = tmp_path / "watched" / "inbox"  # not the home of the application, which watches its own
    folder.mkdir(parents=True)
    return Inbox(yard.app.engine, yard.app.collector, tmp_path / "watched"), folder


async def states(yard: Yard) -> list[tuple[str, str, str]]:
    async with yard.db.read() as tx:
        found = await files.listed(tx, "acme")
    return [(one.name, one.state.value, one.created_by) for one in found]


async def all_imported(yard: Yard) -> None:
    async with yard.db.read() as tx:
        jobs = [one.job_id for one in await files.listed(tx, "acme") if one.job_id is not None]
    async with yard.working():
        for job in jobs:
            await yard.ended(job)


async def alerts(yard: Yard) -> list[tuple[str, str, str]]:
    async with yard.db.read() as tx:
        found = await alerting.open_alerts(tx)
    return [(one.key, one.title, one.text) for one in found if one.rule == "supplier_file"]


async def test_a_file_is_taken_when_it_no_longer_grows_and_never_twice(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)
    data = book(["A", "코트", 1000])
    (folder / "list.xlsx").write_bytes(data[:300])

    looks = [await watched.look()]
    (folder / "list.xlsx").write_bytes(data)
    looks += [await watched.look(), await watched.look(), await watched.look()]
    await all_imported(idle)
    (folder / "copy.xlsx").write_bytes(data)
    again = [await watched.look(), await watched.look(), await watched.look()]
    anew = Inbox(idle.app.engine, idle.app.collector, tmp_path / "watched")
    again += [await anew.look(), await anew.look(), await anew.look(), await anew.look()]

    assert (looks, again) == ([0, 0, 1, 0], [0, 1, 0, 0, 1, 1, 0])
    assert await states(idle) == [("list.xlsx", "DONE", "inbox")]


async def test_a_list_that_returns_is_taken_again_and_one_that_stayed_is_not(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)

    async def put(name: str, price: int, *, ago: float = 0) -> None:
        path = folder / name
        path.write_bytes(book(["A", "코트", price]))
        at = idle.db.clock.now().timestamp() - ago
        os.utime(path, (at, at))

    async def looked(inbox: Inbox) -> None:
        for _ in range(4):
            await inbox.look()
            await all_imported(idle)

    await put("monday.xlsx", 1000, ago=60)
    await looked(watched)
    await put("tuesday.xlsx", 1100, ago=30)
    await looked(watched)
    await looked(Inbox(idle.app.engine, idle.app.collector, tmp_path / "watched"))
    stayed = await states(idle)
    await put("wednesday.xlsx", 1000)
    await looked(watched)
    await looked(Inbox(idle.app.engine, idle.app.collector, tmp_path / "watched"))

    assert stayed == [("tuesday.xlsx", "DONE", "inbox"), ("monday.xlsx", "DONE", "inbox")]
    assert await states(idle) == [("wednesday.xlsx", "DONE", "inbox"), *stayed]
    assert (await idle.records("acme"))["A"]["price"] == 1000


async def test_columns_that_nobody_settled_wait_for_a_person(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path)
    (folder / "list.xlsx").write_bytes(book(["A", "코트", 1000]))

    assert [await watched.look(), await watched.look()] == [0, 1]

    assert await states(idle) == [("list.xlsx", "PREVIEWED", "inbox")]
    why = "nobody has said yet which column is what: look at its preview"
    assert await alerts(idle) == [("supplier_file:acme", "acme: list.xlsx waits for a person", why)]


async def test_a_price_under_another_name_is_not_guessed(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)
    (folder / "list.xlsx").write_bytes(book(["A", "코트", 1000], head=["상품코드", "상품명", "판매가"]))

    assert [await watched.look(), await watched.look()] == [0, 1]

    assert await states(idle) == [("list.xlsx", "PREVIEWED", "inbox")]


async def test_a_broken_file_is_told_and_left_where_it_is(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)
    (folder / "bad.xlsx").write_bytes(book(["A", "코트", 1000])[:-40])

    assert [await watched.look(), await watched.look(), await watched.look()] == [0, 1, 0]

    assert await states(idle) == [("bad.xlsx", "FAILED", "inbox")]
    assert (folder / "bad.xlsx").exists()
    why = "the file is cut off or broken (save it again, or have it sent again)"
    assert await alerts(idle) == [("supplier_file:acme", "acme: bad.xlsx could not be taken", why)]


async def test_nothing_is_taken_from_outside(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)
    other = tmp_path / "secret.xlsx"
    other.write_bytes(book(["A", "코트", 1000]))
    (folder / "link.xlsx").symlink_to(other)
    (folder / "~$list.xlsx").write_bytes(b"x")

    assert [await watched.look(), await watched.look()] == [0, 0]
    for wrong in ("/etc/*", "../*.xlsx", "inbox/../../x", "~/x", ""):
        with pytest.raises(Invalid, match="is no place below the home folder"):
            inbox.place(wrong)


async def test_files_of_one_supplier_come_one_after_the_other(idle: Yard, tmp_path: Path) -> None:
    watched, folder = await watching(idle, tmp_path, sheet=SETTLED)
    for at in range(3):
        (folder / f"{at}.xlsx").write_bytes(book(["A", "코트", 1000 + at], ["B", "바지", 500]))
        os.utime(folder / f"{at}.xlsx", (1_000_000 + at, 1_000_000 + at))

    first = [await watched.look() for _ in range(4)]
    for _ in range(3):
        await all_imported(idle)
        await watched.look()

    assert first == [0, 1, 0, 0]
    assert await states(idle) == [(f"{at}.xlsx", "DONE", "inbox") for at in (2, 1, 0)]
    assert (await idle.records("acme"))["A"]["price"] == 1002
