"""What the screen shows of products, on all three databases: a line of a list, one product, its past and its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import images
from bobusang.catalog.images import ProductImage
from bobusang.catalog.tables.images import ImageState
from bobusang.kit.money import Money
from bobusang.kit.sql import Statement
from bobusang.stages.convert import store
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result
from bobusang.stages.convert.tables import State as Readiness
from bobusang.stages.image import store as pictures
from bobusang.stages.price import model as pricing
from bobusang.stages.price import quotes
from bobusang.stages.price.model import Decision, Quote, Rival, Search, Step, Wanted
from bobusang.stages.price.quotes import Quoted
from bobusang.stages.register.model import State
from bobusang.testing.catalog import collect, reading
from bobusang.views import conversions, product_lists, product_page, product_past, product_shelf, products
from bobusang.views.conversions import HeldReason, WhyHeld
from bobusang.views.product_past import Compared
from bobusang.views.product_shelf import OnMarket, Selling
from bobusang.views.product_standing import Standing, Where, standing
from tests.integration.api.goods import on_market

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

SHA = "a" * 64
OPTIONS = [
    {"code": "B1", "color": "Black", "size": "M", "available": True, "stock": 3},
    {"code": "B2", "color": "Black", "size": "L", "available": False},
]
ACCOUNT = Statement("""
    insert into market_accounts
      (id, market, name, buying_area, shipping_area, shipping_methods, policy, created_at, updated_at)
    values (1, 'buyma', 'main', '1', '1', '[]', '{}', :now, :now)""")
WHY = WhyHeld(why=Why.BRAND_UNREVIEWED, text="the brand is proposed", field="brand")


async def made(door: Door) -> int:
    """A product of two versions, held and priced, with a picture."""
    db = door.app.engine.db
    _, written = await collect(db, reading("1", name="패딩", price=1000, options=OPTIONS, sold_out=False))
    await collect(db, reading("1", name="롱패딩", price=1200, options=OPTIONS, sold_out=False), run=2)
    id = written.ids[0]

    async def work(tx: Tx) -> None:
        await store.save(tx, "buyma", [Result(id, 2, Held((Reason(WHY.why, WHY.text, WHY.field),)))])
        await images.put(tx, {id: [ProductImage("https://mall.example/1.jpg", "h", ImageState.READY, SHA)]})
        yen = [Money(amount, "JPY") for amount in (300, 200, 400)]
        steps = (Step("margin", None, None, "12.5% of revenue"),)
        wanted = Wanted(id, "okmall-1", "buyma", "main", Money(1200, "KRW"))
        priced = Quote(yen[0], pricing.Reason.NO_RIVAL, yen[1], yen[2], steps)
        await quotes.write(tx, [Quoted(wanted, priced, Rival(Search.EMPTY), "JPY")])

    await db.transact(work)
    return id


async def shown(door: Door, id: int) -> Any:
    async with door.app.engine.db.read() as tx:
        (line,) = await product_lists.some(tx, [id])
        (row,) = await product_shelf.shelf(tx, [line], "buyma")
        return row


async def test_a_line_has_picture_reasons_price_margin_and_listing(door: Door) -> None:
    id = await made(door)

    row = await shown(door, id)
    assert (row.picture, row.readiness, row.reasons, row.listing) == (SHA, Readiness.HELD, [WHY], None)
    assert row.selling == Selling(
        decision=Decision.QUOTE, reason=pricing.Reason.NO_RIVAL, price=300, currency="JPY", margin=0.125
    )
    assert row.seen_at is not None

    await door.app.engine.db.transact(_account)
    await on_market(door, {"id": id, "sku": "okmall-1"}, State.LIVE)
    assert (await shown(door, id)).listing == OnMarket(state=State.LIVE, price=None, is_open=False, refused=None)


async def _account(tx: Tx) -> None:
    await tx.execute(ACCOUNT, now=tx.now)


async def test_one_product_is_told_from_its_source_to_its_market(door: Door) -> None:
    id = await made(door)

    async with door.app.engine.db.read() as tx:
        page = await product_page.page(tx, id, "buyma")
        counted = await conversions.reasons(tx, "buyma", 10)
        none = await conversions.reasons(tx, "buyma", 0)
        ours = await pictures.ours(tx, [SHA])

    assert (page.version, page.said["name"], page.product.name) == (2, "롱패딩", "롱패딩")
    assert standing(page) == Standing(
        where=Where.HELD, said=WHY.text, why=WHY.why, field="brand", at=page.conversion.at if page.conversion else None
    )
    assert (len(page.matrix.cells), page.matrix.available) == (2, 1)
    assert page.price is not None
    assert (page.price.price, [step.step for step in page.price.steps]) == (300, ["margin"])
    assert (page.listings, page.holds, ours) == ([], [], set())
    assert (counted, none) == ([HeldReason(why=WHY.why, products=1)], [])


async def test_why_it_is_not_on_sale_is_told_by_the_api_too(door: Door) -> None:
    id = await made(door)
    found = await door.get(f"/products/{id}/standing")
    at = found.pop("at")

    assert found == {
        "where": "held",
        "said": WHY.text,
        "why": "brand_unreviewed",
        "field": "brand",
        "sku": "",
        "market_id": "",
    }
    assert at.endswith("Z")
    assert (await door.viewer.get("/products/999999/standing")).status_code == 404


async def test_its_past_has_what_changed_and_how_much_it_cost(door: Door) -> None:
    id = await made(door)

    async with door.app.engine.db.read() as tx:
        product = await products.one(tx, id)
        versions = await product_past.versions(tx, product, None, 10)
        older = await product_past.versions(tx, product, 2, 10)
        points = await product_past.series(tx, product)
        fields = await product_past.compared(tx, id, 1, 2, {})
        pages = await product_past.evidence(tx, product, 10)

    assert [(one.version, [change.field for change in one.changes]) for one in versions] == [
        (2, ["name", "price"]),
        (1, []),
    ]
    assert [one.version for one in older] == [1]
    assert [(one.price, one.available) for one in points] == [(1000, 1), (1200, 1)]
    assert fields[:2] == [
        Compared(field="name", old="패딩", new="롱패딩", changed=True),
        Compared(field="price", old=1000, new=1200, changed=True),
    ]
    assert [one.field for one in fields if not one.changed] == ["options", "sold_out"]
    assert [(one.version, one.reader, one.raw_id) for one in pages] == [(2, "okmall@1", None), (1, "okmall@1", None)]
