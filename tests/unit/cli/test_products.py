"""`bobusang product`: what it asks of the API, what it says, and files in and out."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.cli import product_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.cli.conftest import Result
    from tests.unit.cli.stub import Stub

PRODUCT = {"id": 7, "mall": "okmall", "product_id": "4711", "locked": ["price"]}


def test_a_product_is_named_by_mall_and_id(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products", {"items": [{"id": 7}], "next": None})
    stub.on("PATCH /products/7", PRODUCT)

    found = run("product", "change", "okmall/4711", "--input", "price=119000")

    assert (found.code, found.out) == (0, "product 7 was changed; locked: price\n")
    assert [(one.method, one.query, one.body) for one in stub.asked] == [
        ("GET", {"mall": ["okmall"], "product_id": ["4711"], "fields": ["id"], "limit": ["1"]}, None),
        ("PATCH", {}, {"price": 119_000}),
    ]


def test_what_is_no_product_is_said(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products", {"items": [], "next": None})

    unknown, wrong = run("product", "show", "okmall/1"), run("product", "show", "okmall")

    assert (unknown.code, unknown.err.splitlines()[0]) == (3, "okmall has no product '1'")
    assert (wrong.code, wrong.err.splitlines()[0]) == (2, "'okmall' is no product")


def test_products_are_added_unlocked_deleted_and_restored(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("POST /products", PRODUCT, status=201)
    stub.on("POST /products/7/unlock", PRODUCT | {"locked": []})
    stub.on("DELETE /products/7", "", status=204)
    stub.on("POST /products/7/restore", PRODUCT)

    said = [
        run("product", "add", "--input", "mall=okmall", "--input", 'product_id="4711"'),
        run("product", "unlock", "7", "price", "--lang", "ko"),
        run("product", "delete", "7"),
        run("product", "delete", "7", "--yes", "--json"),
        run("product", "restore", "7"),
        run("product", "add"),
    ]

    assert [(one.code, one.out) for one in said] == [
        (0, "product 7 is okmall/4711\n"),
        (0, "상품 7의 잠금을 풀었습니다. 잠긴 항목: -\n"),
        (2, ""),
        (0, '{"id": 7, "deleted": true}\n'),
        (0, "product 7 is back\n"),
        (2, ""),
    ]
    assert stub.asked[1].body == {"fields": ["price"]}


def test_products_begin_anew_by_sku_number_or_mall_and_id(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products", {"items": [{"id": 7}], "next": None})
    stub.on("POST /products/7/renew", {"product_id": 7, "sku": "okmall-4711", "listings": 1, "again": False})
    stub.problem("POST /products/8/renew", 409, "conflict", "nothing says so")
    said = "product {} begins anew: what the market has of it is closed, and the next FULL lists it"

    one = run("product", "renew", "okmall-4711", "--why", "by size now")
    two = run("product", "renew", "7", "8", "--why", "by size now")
    ways = [run("product", "renew", *which, "--why", "x") for which in ((), ("7", "--held", "axes_changed"))]

    assert (one.code, one.out) == (0, said.format("okmall-4711") + "\n")
    assert (two.code, two.out, two.err) == (5, said.format("7") + "\n", "8: nothing says so\n")
    assert [(way.code, way.err.splitlines()[0]) for way in ways] == [(2, "which products?")] * 2
    assert [(asked.method, asked.path, asked.body) for asked in stub.asked] == [
        ("GET", "/products", None),
        ("POST", "/products/7/renew", {"why": "by size now"}),
        ("POST", "/products/7/renew", {"why": "by size now"}),
        ("POST", "/products/8/renew", {"why": "by size now"}),
    ]


def test_all_that_are_held_for_one_reason_are_settled_once_somebody_agrees(
    stub: Stub, run: Callable[..., Result]
) -> None:
    stub.on("GET /conversions/held", {"items": [{"product_id": 7}, {"product_id": 9}], "next": None})
    for act in ("renew", "relabel"):
        for number in (7, 9):
            stub.on(f"POST /products/{number}/{act}", {"product_id": number})

    unasked = run("product", "renew", "--held", "axes_changed", "--why", "x")
    asked = run("product", "relabel", "--held", "option_relabeled", "--why", "x", "--limit", "9", "--yes")
    stub.on("GET /conversions/held", {"items": [], "next": None})
    none = run("product", "renew", "--held", "axes_changed", "--why", "x", "--yes")

    question = "close for good what the market has of 2 products held as axes_changed, and list them anew?"
    assert (unasked.code, unasked.err.splitlines()[0]) == (2, question)
    assert (asked.code, asked.out.splitlines()) == (
        0,
        [f"the options of product {number} are what its mall calls them now" for number in (7, 9)],
    )
    assert (none.code, none.err.splitlines()[0]) == (3, "no product is held as axes_changed")
    assert [(one.path, one.query) for one in stub.asked if one.method == "GET"][1] == (
        "/conversions/held",
        {"why": ["option_relabeled"], "limit": ["9"]},
    )


def test_a_list_takes_its_filters(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products", {"items": [], "next": None})

    found = run("product", "list", "--brand", "NIKE", "--lacks", "picture", "--sort", "price", "--limit", "9", "--json")

    assert (found.code, found.document) == (0, {"items": [], "next": None})
    assert stub.asked[0].query == {"brand": ["NIKE"], "lacks": ["picture"], "sort": ["price"], "limit": ["9"]}


def test_products_are_exported_to_a_file(stub: Stub, run: Callable[..., Result], tmp_path: Path) -> None:
    stub.on("GET /products/export", "id,name\r\n1,패딩\r\n")
    target = tmp_path / "products.csv"

    found = run("product", "export", "--to", str(target), "--mall", "okmall")

    assert (found.code, found.out) == (0, f"{target} was written, 19 bytes\n")
    assert target.read_text("utf-8") == "id,name\n1,패딩\n"
    assert stub.asked[0].query == {"format": ["csv"], "mall": ["okmall"]}


def test_products_are_imported_from_csv_and_what_fails_is_told(
    stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    file = tmp_path / "products.csv"
    file.write_text(
        "id,mall,product_id,name,price,in_stock,image,locked\n"
        "1,okmall,4711,'=패딩,129000,true,https://x.example/1.jpg,price\n"
        "2,okmall,4712,,x,,,\n",
        "utf-8-sig",
    )
    lines = [{"line": 1, "id": 7, "result": "new"}, {"line": 2, "error": {"code": "invalid", "detail": "price: no"}}]
    stub.on("POST /products/bulk", "\n".join(json.dumps(one) for one in lines))

    found = run("product", "import", str(file))

    assert (found.code, found.out) == (5, "1 new, 0 changed, 0 the same, 1 failed\n")
    assert found.err == "2: price: no\n"
    assert [json.loads(line) for line in stub.asked[0].body.splitlines()] == [
        {
            "mall": "okmall",
            "product_id": "4711",
            "name": "=패딩",
            "price": 129_000,
            "in_stock": True,
            "images": ["https://x.example/1.jpg"],
        },
        {"mall": "okmall", "product_id": "4712", "price": "x"},
    ]
    assert run("product", "import", str(tmp_path / "none.csv")).code == 2


@pytest.mark.parametrize(
    ("name", "begin"), [("goods.ndjson", ""), ("goods.csv", "product_id,name\n")], ids=["ndjson", "csv"]
)
def test_a_file_is_sent_while_the_rest_of_it_is_not_even_written(
    stub: Stub, run: Callable[..., Result], tmp_path: Path, name: str, begin: str
) -> None:
    stub.on("POST /products/bulk", '{"line": 1, "id": 7, "result": "new"}\n')
    file, waited = tmp_path / name, list[bool]()
    os.mkfifo(file)

    def line(n: int) -> str:
        return f"{n},패딩\n" if name.endswith("csv") else json.dumps({"product_id": f"{n}"}) + "\n"

    def write() -> None:
        with file.open("w", encoding="utf-8") as pipe:
            pipe.write(begin + "".join(map(line, range(3 * product_files.AT_ONCE))))
            pipe.flush()
            waited.append(stub.was_asked.wait(30))
            pipe.write(line(1) * 2)

    writer = threading.Thread(target=write)
    writer.start()
    found = run("product", "import", str(file))
    writer.join()

    assert (found.code, waited) == (0, [True])
    assert [len(one.body.splitlines()) for one in stub.asked] == [*([product_files.AT_ONCE] * 3), 2]


def test_long_lines_go_in_smaller_parts_and_too_long_ones_are_cut(
    stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    stub.on("POST /products/bulk", "")
    long, longer = "x" * product_files.LONGEST, "y" * (5 * product_files.LONGEST)
    (tmp_path / "goods.ndjson").write_text("\r\n".join([*([long] * 40), longer, "last"]), "utf-8")

    found = run("product", "import", "goods.ndjson")

    assert found.code == 0
    sent = [one.body.splitlines() for one in stub.asked]
    assert [len(part) for part in sent] == [32, 10]
    assert [sent[0][-1] == long, len(sent[1][8]), sent[1][9]] == [True, product_files.LONGEST + 2, "last"]


def test_a_file_that_is_not_utf_8_to_its_end_changes_nothing(
    stub: Stub, run: Callable[..., Result], tmp_path: Path
) -> None:
    text = "product_id,name\n" + "1,패딩\n" * (product_files.AT_ONCE + 1)
    (tmp_path / "goods.csv").write_bytes(text.encode() + "2,코트\n".encode("euc-kr"))
    (tmp_path / "bits.csv").write_text(f"product_id,name\n1,{'x' * 200_000}\n")

    said = [run("product", "import", file) for file in ("goods.csv", "bits.csv")]

    assert [(one.code, one.err.splitlines()[0]) for one in said] == [
        (2, "goods.csv is not UTF-8"),
        (2, "bits.csv is no CSV: field larger than field limit (131072)"),
    ]
    assert stub.asked == []


def test_a_program_is_told_of_the_first_lines_that_failed_and_how_many(
    stub: Stub, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product_files, "MOST_TOLD", 1)
    wrong = [{"line": n, "error": {"code": "invalid", "detail": "no"}} for n in (1, 2)]
    stub.on("POST /products/bulk", "\n".join(json.dumps(one) for one in wrong))
    (tmp_path / "goods.ndjson").write_text("{}\n{}\n")

    found = run("product", "import", "goods.ndjson", "--json")

    assert (found.code, found.document) == (5, {"new": 0, "changed": 0, "same": 0, "failed": 2, "errors": wrong[:1]})


def test_why_a_product_is_not_on_sale_is_said(stub: Stub, run: Callable[..., Result]) -> None:
    stub.on("GET /products/7/standing", {"where": "source_sold_out", "said": "", "why": None, "at": None})

    found = run("product", "why", "7")

    assert (found.code, found.out.splitlines()[0]) == (0, "where\tsource_sold_out")
    assert stub.asked[0].query == {"market": ["buyma"]}
