"""Search: as people type, narrowed by facets, and straight to what has exactly this name."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from bobusang.entry.web.search import marked
from bobusang.flows.conveyor import watching
from bobusang.flows.conveyor.watching import BatchFilter
from bobusang.flows.indexing import asking
from bobusang.kit.sql import Statement
from bobusang.stages.register.model import State
from bobusang.views import listing_lists, products
from bobusang.views.listing_lists import Narrowed

if TYPE_CHECKING:
    from tests.web.screen import Screen

EVIL = "<img src=x onerror=alert(1)> 나이키"


@pytest.fixture
async def found(screen: Screen) -> Screen:
    """The screen on a shop whose index is made."""
    await screen.app.finder.rebuilding.heal()
    return screen


@pytest.mark.parametrize("typed", ["나이키", "ㄴㅇㅋ", "nike", "skdlzl", "나이기"])
async def test_a_brand_is_found_however_it_is_typed(found: Screen, typed: str) -> None:
    page = await found.viewer.get("/search", q=typed)

    assert page.status == 200
    assert len(page.texts(".hits li")) > 10
    assert all("NIKE" in text for text in page.texts(".hits li p:first-of-type"))


async def test_what_was_found_is_marked_counted_and_narrowed(found: Screen) -> None:
    page = await found.viewer.get("/search", q="나이키")
    mall = next(href for href in page.links(".facet a") if "mall=" in href).removeprefix("/ui")
    narrowed = await found.viewer.get(mall)
    widened = await found.viewer.get(narrowed.links(".facet a[aria-current]")[0].removeprefix("/ui"))

    assert set(page.texts(".hits mark")) >= {"나이키"}
    assert page.texts(".narrow h2") == ["Brand", "Mall", "Stock", "Category", "Prices"]
    assert {text.split("-")[0] for text in narrowed.texts(".hits .quiet")} == {narrowed.text(".facet a[aria-current]")}
    assert widened.text(".hits") == page.text(".hits")


async def test_order_and_prices(found: Screen) -> None:
    page = await found.viewer.get("/search", q="나이키", sort="price")
    prices = [int(text[1:].replace(",", "")) for text in page.texts(".hits strong")]
    middle = prices[len(prices) // 2]
    cheap = await found.viewer.get("/search", q="나이키", sort="-price", max_price=str(middle), min_price="nonsense")

    assert prices == sorted(prices)
    assert cheap.texts(".hits strong") == [f"₩{price:,}" for price in prices[::-1] if price <= middle]


async def test_pages_follow_each_other(found: Screen) -> None:
    seen: list[str] = []
    path = "/search?go=0&sort=newest&min_price=1"
    while path:
        page = await found.viewer.get(path)
        seen += page.links(".hits h3 a")
        path = next(iter(page.links("a[rel=next]")), "").removeprefix("/ui")

    assert len(seen) == len(set(seen)) > 60


async def test_an_empty_box_shows_how_to_type(found: Screen) -> None:
    page = await found.viewer.get("/search")
    hint = await found.viewer.get(page.links(".empty a")[0].removeprefix("/ui"))
    nothing = await found.viewer.get("/search", q="qqqqzzzz없는말")
    narrowed = await found.viewer.get("/search", q="나이키", max_price="1")

    assert page.texts(".empty a") == ["ㄴㅇㅋ", "나이키 패딩", "나이기", "skdlzl", "CW2288"]
    assert len(hint.texts(".hits li")) > 10
    assert nothing.texts(".empty p")[0] == narrowed.texts(".empty p")[0] == "Nothing was found."
    assert narrowed.texts(".empty a") == ["Search without filters"]


async def test_an_exact_name_leads_straight_there(found: Screen) -> None:
    async with found.app.engine.db.read() as tx:
        (batch, *_) = await watching.listed(tx, BatchFilter(), None, 1)
        listing = (await listing_lists.part(tx, Narrowed(state=State.LIVE), None, 1)).lines[0]
        product = await products.one(tx, listing.product_id)
    own = f"https://shop.test/ui/products/{product.id}"
    ways = {
        batch.batch_id: f"https://shop.test/ui/runs/{batch.batch_id}",
        f"#{product.id}": own,
        product.sku: own,
        str(product.url): own,
        str(listing.market_id): f"https://shop.test/ui/listings/{quote(listing.sku)}",
    }

    assert {typed: (await found.viewer.get("/search", q=typed)).url for typed in ways} == ways
    stays = await found.viewer.get("/search", q=product.sku, sort="relevance")
    assert stays.links(".said.note a") == [f"/ui/products/{product.id}"]
    for typed in ("20200101_01", "#999999999", "okmall-nothing", "http://nowhere.test/", "#0"):
        assert (await found.viewer.get("/search", q=typed)).url.startswith("https://shop.test/ui/search"), typed


async def test_what_a_mall_writes_is_never_run(found: Screen) -> None:
    name = Statement("update products set name = :name where id = (select min(id) from products)")
    await found.app.engine.db.transact(lambda tx: tx.execute(name, name=EVIL))
    await found.app.engine.db.transact(asking.ask)
    await found.app.finder.rebuilding.heal()

    page = await found.viewer.get("/search", q="나이키")

    assert page.tree.css(".hits img") == []
    assert any(text.startswith("<img src=x onerror=alert(1)> 나이키") for text in page.texts(".hits h3"))


def test_marked_texts_are_always_the_text_itself() -> None:
    item = {"name": "«진짜» 나이키 나이", "marked": {"name": "«진짜» «나이»키 «나이»"}}
    other = {"name": "another", "marked": {"name": "«나이»키"}}

    assert marked(item, "name") == [(False, "«진짜» "), (True, "나이"), (False, "키 "), (True, "나이")]
    assert marked(other, "name") == [(False, "another")]
    assert marked(item, "brand") == []
