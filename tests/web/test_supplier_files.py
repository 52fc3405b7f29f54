"""Suppliers' spreadsheets on the screen: sent, looked through cell by cell, columns chosen, imported, thrown away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bobusang.connectors.sources.sheets.grid import LARGEST_FILE
from bobusang.testing.workbook import Sheet, workbook
from bobusang.testing.workshop import Workshop
from tests.web.furnishing import price_list
from tests.web.test_safety import live

if TYPE_CHECKING:
    from tests.web.screen import Page, Screen

NAME = "단가표.xlsx"
SUPPLIER = "/suppliers/hanbit"
FILES = f"{SUPPLIER}/files"


async def add_supplier(screen: Screen) -> None:
    await screen.admin.post("/suppliers/new", on="/suppliers/new", name="hanbit", kind="excel")


async def sent(screen: Screen, data: bytes, name: str = NAME) -> Page:
    await add_supplier(screen)
    return await screen.operator.send(FILES, SUPPLIER, name, data)


def filled(page: Page) -> dict[str, str]:
    """The form of columns as a browser would send it back."""
    found = {
        one.attributes["name"] or "": one.attributes.get("value") or ""
        for one in page.tree.css("#columns input[name]")
        if one.attributes.get("type") != "checkbox" or "checked" in one.attributes
    }
    for one in page.tree.css("#columns select"):
        chosen = [*one.css("option[selected]"), *one.css("option")][0]
        found[one.attributes["name"] or ""] = chosen.attributes.get("value") or ""
    return {name: value for name, value in found.items() if name != "csrf"}


def path_of(page: Page) -> str:
    return page.url.partition("/ui")[2]


async def test_a_file_is_looked_through_before_anything_is_stored(screen: Screen) -> None:
    page = await sent(screen, price_list())

    assert (page.text("h1"), page.text(".said")) == (NAME, "It was looked through; nothing is stored yet.")
    assert page.texts("#counts strong") == ["2", "3", "1", "2"]
    assert page.texts("#problems details tbody th") == ["C3", "A4"]
    assert page.texts("#problems details tbody td") == [
        *("Price that we pay", "문의", "an amount of won is expected, as 12,900"),
        *("Product code", "–", "there is no code"),
    ]
    assert page.texts("#rows td.flaw") == ["문의 an amount of won is expected, as 12,900"]
    assert "Columns that are not read: 담당" in page.text("#rows")
    assert (await screen.viewer.get(SUPPLIER)).texts("#files tbody th") == [NAME]
    assert (await screen.viewer.get("/products", mall="hanbit")).texts("tbody th") == []


async def test_who_sent_it_stands_in_the_audit(screen: Screen) -> None:
    page = await sent(screen, price_list())
    await screen.operator.post(f"{path_of(page)}/import", on=path_of(page), **filled(page))

    told = (await screen.viewer.get("/audit", actor="the operator")).text("main table")
    assert "supplier_file.receive" in told
    assert "supplier_file.import" in told


async def test_the_columns_are_chosen_imported_and_kept_for_the_next_file(screen: Screen) -> None:
    head = ["우리번호", "이름", "받는값"]
    page = await sent(screen, workbook(Sheet("1", [head, ["A1", "코트", 9_000], ["A2", "모자", 5_000]])))
    path = path_of(page)
    assert "for: Product code, Product name, Price that we pay." in page.text("#lacking")
    assert page.texts("#columns button") == ["Look it through again"]

    chosen = {"column.key": "우리번호", "column.name": "이름", "column.price": "받는값"}
    page = await screen.operator.post(f"{path}/preview", on=path, **filled(page) | chosen)
    assert page.texts("#counts strong") == ["2", "2", "0", "0"]
    page = await screen.operator.post(f"{path}/import", on=path, **filled(page))
    assert "imports it. The columns are kept for the next file." in page.text(".said")
    assert page.texts("main .pill") == ["being imported"]

    again = await screen.operator.send(
        FILES, SUPPLIER, "next.xlsx", workbook(Sheet("1", [head, ["A1", "코트", 9_500]]))
    )
    assert filled(again)["column.price"] == "받는값"


async def test_what_was_not_looked_through_is_not_imported(screen: Screen) -> None:
    head = ["상품코드", "상품명", "공급가", "행사가"]
    page = await sent(screen, workbook(Sheet("1", [head, ["A1", "코트", 9_000, "미정"]])))
    path = path_of(page)

    seen = await screen.operator.post(f"{path}/import", on=path, **filled(page) | {"column.price": "행사가"})
    assert "You have chosen something else." in seen.text(".said")
    assert (seen.texts("main .pill"), seen.texts("#counts strong")) == (["looked through"], ["1", "1", "0", "1"])

    begun = await screen.operator.post(f"{path}/import", on=path, **filled(seen))
    assert begun.texts("main .pill") == ["being imported"]


async def test_of_another_sheet_the_columns_are_found_anew(screen: Screen) -> None:
    old = Sheet("작년", [["상품코드", "상품명", "공급가"], ["A1", "코트", 9_000]])
    new = Sheet("올해", [["품번", "품명", "단가"], ["B1", "모자", 5_000], ["B2", "양말", 900]])
    page = await sent(screen, workbook(old, new))
    path = path_of(page)

    page = await screen.operator.post(f"{path}/preview", on=path, **filled(page) | {"sheet": "올해"})

    assert page.texts("#counts strong") == ["2", "2", "0", "0"]
    assert filled(page)["column.key"] == "품번"


async def test_a_file_that_cannot_be_read_says_why_and_is_thrown_away(screen: Screen) -> None:
    page = await sent(screen, b"%PDF-1.7 not a table", "list.xlsx")
    path = path_of(page)

    assert page.texts("main .pill") == ["failed"]
    assert page.texts("#columns button") == ["Look it through again"]
    gone = await screen.operator.post(f"{path}/discard", on=path)
    assert (gone.text("h1"), gone.text(".said")) == ("hanbit", "list.xlsx was thrown away.")


async def test_the_same_file_again_is_the_same(screen: Screen) -> None:
    page = await sent(screen, price_list())
    await screen.operator.post(f"{path_of(page)}/import", on=path_of(page), **filled(page))

    again = await screen.operator.send(FILES, SUPPLIER, "copy.xlsx", price_list())

    assert (path_of(again), again.text(".said")) == (path_of(page), "This file was sent before.")


async def test_without_a_file_and_with_too_large_a_one_the_page_says_so(screen: Screen) -> None:
    nothing = await sent(screen, b"", "")
    assert nothing.text(".said") == "no file was chosen (choose one first)"

    # Refused by what it says of itself: nothing of it is read.
    headers = {"content-length": str(LARGEST_FILE * 2), "referer": f"https://shop.test/ui{SUPPLIER}"}
    large = await screen.operator.client.post(f"/ui{FILES}", content=b"x", headers=headers, follow_redirects=True)
    assert "the file has more than 64 MB (split it)" in large.text


async def test_a_viewer_sees_the_file_and_may_not_send_one(screen: Screen) -> None:
    path = path_of(await sent(screen, price_list()))

    seen = await screen.viewer.get(path)
    body = await screen.viewer.client.get(f"/ui{path}/body")
    refused = await screen.viewer.send(FILES, SUPPLIER, "x.csv", b"a,b")

    assert (seen.status, body.content, refused.status) == (200, price_list(), 403)
    assert (await screen.viewer.get(FILES)).texts("tbody th") == [NAME]


async def test_an_imports_progress_is_drawn_and_the_page_renewed_when_it_ends(screen: Screen) -> None:
    page = await sent(screen, price_list())
    page = await screen.operator.post(f"{path_of(page)}/import", on=path_of(page), **filled(page))
    file_id = path_of(page).rpartition("/")[2]
    assert page.tree.css("[data-topic]")[0].attributes["data-topic"] == f"supplier-file:{file_id}"

    async with live(screen, screen.viewer) as socket:
        await socket.send(json.dumps([f"supplier-file:{file_id}"]))
        told = [json.loads(await socket.recv())["parts"]["file-progress"]]
        async with Workshop(screen.app.engine).running():
            while 'data-stale="IMPORTING"' in told[-1]:
                told.append(json.loads(await socket.recv())["parts"]["file-progress"])

    assert ("<progress" in told[0], "Its rows are put together" in told[0]) == (True, True)
    assert ("<progress" in told[-1], 'data-stale="DONE"' in told[-1]) == (False, True)
    done = await screen.viewer.get(f"/supplier-files/{file_id}")
    assert (done.texts("main .pill"), done.texts("#imported strong")) == (["done"], ["2", "2", "2", "0", "0", "0"])
