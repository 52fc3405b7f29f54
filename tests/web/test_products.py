"""Products: the list with prices and margins, what is held and why, the export, and what is done to many."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from bobusang.entry.web.lists import PAGE
from bobusang.entry.web.product_words import WHY, worth
from bobusang.views import conversions, product_lists, product_shelf
from bobusang.views.product_lists import ProductFilter, Sort

if TYPE_CHECKING:
    from bobusang.views.product_shelf import OnShelf
    from tests.web.screen import Screen

HEAD = [
    *("Choose", "Product", "Mall", "Source price", "Selling price", "Margin", "Stock", "Market state", "Last seen"),
    *("Changed", "Quality"),
]
NAMES = "tbody th > a"


async def shelf(screen: Screen, limit: int = PAGE, sort: Sort = Sort.NEWEST, **wanted: str) -> list[OnShelf]:
    async with screen.app.engine.db.read() as tx:
        found = await product_lists.listed(tx, ProductFilter(**wanted), sort, None, limit)  # type: ignore[arg-type]
        return await product_shelf.shelf(tx, found.lines, "buyma")


async def test_a_line_says_what_it_costs_sells_for_and_leaves(screen: Screen) -> None:
    rows = await shelf(screen)
    place, live = next((place, row) for place, row in enumerate(rows) if row.listing and row.selling)
    product, selling = live.product, live.selling
    assert selling is not None
    assert selling.margin is not None

    page = await screen.viewer.get("/products")

    assert page.texts("thead th") == HEAD
    assert len(page.texts("tbody tr")) == PAGE
    line = page.tree.css("tbody tr")[place]
    cells = [" ".join(cell.text().split()) for cell in line.css("td")]
    assert cells[2:8] == [
        product.mall,
        worth(product.price, "KRW"),
        worth(selling.price, "JPY"),
        f"{selling.margin * 100:.1f}%",
        "in stock",
        "on sale",
    ]
    assert page.links("tbody tr:nth-child(1) th a")[0] == f"/ui/products/{rows[0].product.id}"


async def test_pictures_of_a_list_come_on_one_sheet_and_from_nowhere_else(screen: Screen) -> None:
    rows = await shelf(screen)

    page = await screen.viewer.get("/products")

    pictures = list(dict.fromkeys(row.picture for row in rows if row.picture))
    assert len(pictures) > 10
    (sheet,) = [one.attributes["href"] for one in page.tree.css("image")]
    assert sheet == f"/ui/pictures/small?of={'.'.join(pictures)}"
    assert page.tree.css("img") == []


async def test_filters_order_and_columns_stand_in_the_address_and_are_remembered(screen: Screen) -> None:
    cheap = await shelf(screen, mall="okmall", sort=Sort.PRICE)

    page = await screen.viewer.get("/products", mall="okmall", sort="price", columns="price,model")
    again = await screen.viewer.get("/products")

    assert page.texts(NAMES) == again.texts(NAMES) == [row.product.name for row in cheap]
    assert again.url == "https://shop.test/ui/products?mall=okmall&sort=price&columns=price%2Cmodel"
    assert page.texts("thead th") == ["Choose", "Product", "Source price ↑", "Model"]
    heading = page.tree.css_first("th[aria-sort]")
    assert heading is not None
    assert heading.attributes["aria-sort"] == "ascending"
    assert page.links("th[aria-sort] a") == ["/ui/products?mall=okmall&sort=-price&columns=price%2Cmodel"]


async def test_pages_follow_each_other_without_gaps(screen: Screen) -> None:
    rows = await shelf(screen, 200)
    found, page = [], await screen.viewer.get("/products", clear="1")
    while True:
        found += page.texts(NAMES)
        following = page.links('.pager a[rel="next"]')
        if not following:
            break
        page = await screen.viewer.get(following[0].removeprefix("/ui"))

    assert found == [row.product.name for row in rows]


async def test_what_is_wrong_in_the_address_is_said(screen: Screen) -> None:
    for query in ({"sort": "wrong"}, {"min_price": "cheap"}, {"held": "1", "why": "nothing"}, {"cursor": "x"}):
        page = await screen.viewer.get("/products", **query)
        assert page.status == 422, query


async def test_what_cannot_be_listed_is_shown_with_its_reason_and_what_mends_it(screen: Screen) -> None:
    async with screen.app.engine.db.read() as tx:
        held = await conversions.held(tx, "buyma", None, after=None, limit=100)
        counts = await conversions.reasons(tx, "buyma")
    first = held[0]
    why = first.reasons[0].why

    page = await screen.viewer.get("/products", held="1")
    only = await screen.viewer.get("/products", held="1", why=why)
    after = await screen.viewer.get("/products")

    assert page.texts(NAMES) == [one.name for one in held]
    said = WHY[why].text % {"brand": first.brand, "category": first.category}
    assert page.texts("tbody li")[0].startswith(f"{said} {WHY[why].action}")
    assert page.links("tbody li a")[0] == f"/ui{WHY[why].href}"
    assert [text.rpartition(" ")[2] for text in page.texts(".pill strong")] == [str(one.products) for one in counts]
    assert only.texts(NAMES) == [one.name for one in held if why in {reason.why for reason in one.reasons}]
    assert after.url == "https://shop.test/ui/products"


async def test_the_export_has_what_the_filters_let_through(screen: Screen) -> None:
    rows = await shelf(screen, 200, mall="mustit")

    answer = await screen.viewer.client.get("/ui/products/export", params={"mall": "mustit", "sort": "price"})

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="products.csv"'
    lines = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert sorted(int(line["id"]) for line in lines) == sorted(row.product.id for row in rows)


async def test_many_are_deleted_after_a_look_at_how_many(screen: Screen) -> None:
    rows = await shelf(screen, 200)
    free = next(row.product for row in rows if row.listing is None)
    sold = next(row.product for row in rows if row.listing and row.listing.state == "LIVE")

    asked = await screen.operator.post("/products/delete", on="/products", ids=[free.id, sold.id])
    assert asked.text("section p") == "1 of 2 lines would be changed."
    assert asked.texts("section li") == [f"{free.brand} · {free.name}"]
    assert [row.product.id for row in await shelf(screen, 200)] == [row.product.id for row in rows]

    done = await screen.operator.post("/products/delete", on="/products", sure="1", ids=[free.id, sold.id])
    assert done.text(".said.refused").startswith(
        f"1 products were deleted. 1 were refused: product {sold.id} is on a market: listing "
    )
    assert {row.product.id for row in rows} - {row.product.id for row in await shelf(screen, 200)} == {free.id}


async def test_all_that_match_are_meant_when_nothing_is_ticked_one_by_one(screen: Screen) -> None:
    rows = await shelf(screen, 200, mall="okmall")
    free = [row for row in rows if row.listing is None]

    asked = await screen.operator.post("/products/delete", on="/products", all="1", mall="okmall")
    nothing = await screen.operator.post("/products/delete", on="/products")

    assert asked.text("section p") == f"{len(free)} of {len(rows)} lines would be changed."
    assert nothing.text(".said.refused") == "Nothing is ticked. (tick products first)"
