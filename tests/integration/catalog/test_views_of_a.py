"""Who knows the tables of the first conveyor finds the same data under their names, whole rows of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.catalog import images, products
from bobusang.catalog.images import ProductImage
from bobusang.catalog.tables.images import ImageState
from bobusang.kit import json
from bobusang.kit.money import won, yen
from bobusang.kit.sql import Statement
from bobusang.stages.convert import store as conversions
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result
from bobusang.stages.image import store as files
from bobusang.stages.image.look import Look
from bobusang.stages.image.model import Derivative, File
from bobusang.stages.price import quotes, watch
from bobusang.stages.price.model import Offer, Quote, Rival, Search
from bobusang.stages.price.model import Reason as PriceReason
from bobusang.stages.price.model import Wanted as Priced
from bobusang.stages.price.quotes import Quoted
from bobusang.stages.price.watch import Market, Searched
from bobusang.testing.catalog import collect, reading
from bobusang.testing.clock import NOON
from tests.integration.catalog.looking import rows
from tests.integration.convert.test_store import READY
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

COAT: dict[str, Any] = {
    "name": "울 코트",
    "brand": "ACME",
    "brand_ko": "아크미",
    "model": "AB-123",
    "category": ["여성", "코트"],
    "price": 129_000,
    "list_price": 200_000,
    "currency": "KRW",
    "sold_out": False,
    "url": "https://mall.example/1",
}
BUYMA = Market("buyma", "JPY")
HELD = Held((Reason(Why.BRAND_BLOCKED, "막힘", "brand"),))


async def shown(db: Database, view: str) -> list[dict[str, Any]]:
    """The rows of a view by column, instants and truths as one database gives them."""
    async with db.read() as tx:
        found = await tx.fetch(Statement(f"select * from {view} order by id"))
        names = [list(dict(row)) for row in found]  # type: ignore[call-overload]
    values = await rows(db, f"select * from {view} order by id")
    return [dict(zip(*one, strict=True)) for one in zip(names, values, strict=True)]


async def test_what_was_scraped(db: Database, clock: ManualClock) -> None:
    _, written = await collect(db, reading("A1", **COAT), reading("B2", name="모름"), reading("C3", sold_out=True))
    edited = clock.advance(hours=1)
    await db.transact(lambda tx: products.edit(tx, written.ids[0], {"name": "코트"}))

    first, second, third = await shown(db, "raw_scraped_data")

    assert json.loads(first.pop("raw_json_data")) == COAT
    assert first == {
        "id": written.ids[0],
        "source_site": "okmall",
        "mall_product_id": "A1",
        "brand_name_en": "ACME",
        "brand_name_kr": "아크미",
        "product_name": "코트",
        "model_id": "AB-123",
        "category_path": "여성 > 코트",
        "original_price": 200_000,
        "raw_price": 129_000,
        "stock_status": "in_stock",
        "product_url": "https://mall.example/1",
        "created_at": NOON,
        "updated_at": edited,
    }
    assert [second["stock_status"], third["stock_status"]] == [None, "out_of_stock"]


async def test_a_product_from_its_conversion_to_the_market(db: Database, clock: ManualClock) -> None:
    _, written = await collect(db, reading("A1", **COAT), reading("B2", name="막힘"), reading("C3", **COAT))
    ids = written.ids
    results = [Result(ids[0], 1, READY), Result(ids[1], 1, HELD), Result(ids[2], 1, READY)]
    await db.transact(lambda tx: conversions.save(tx, "buyma", results))
    await db.transact(lambda tx: conversions.save(tx, "buyma", [Result(ids[2], 2, HELD)]))
    picture = ProductImage("https://mall.example/1.jpg", "x", ImageState.READY, "a" * 64)
    await db.transact(lambda tx: images.put(tx, {ids[0]: [picture]}))
    rival = Rival(Search.FOUND, yen(30_000), "other", "コート", 1, 1, NOON)
    wanted = Priced(ids[0], "okmall/A1", "buyma", "main", won(129_000), model="AB-123")
    priced = Quote(yen(22_400), PriceReason.UNDERCUT, yen(20_000), yen(40_000), ())
    await db.transact(lambda tx: quotes.write(tx, [Quoted(wanted, priced, rival, "JPY")]))
    later = clock.advance(hours=1)
    desk, other = await Desk.opened(db), await Desk.opened(db, name="second")
    await desk.go(replace(WANTED, product_id=ids[0], sku="okmall/A1"))
    await desk.told()
    await other.go(replace(WANTED, product_id=ids[0], sku="okmall/A1"))
    (listing,) = await desk.rows(f"select * from listings where account_id = {desk.account.id}")

    first, third = await shown(db, "ace_products")

    assert first == {
        "id": ids[0],
        "raw_data_id": ids[0],
        "source_site": "okmall",
        "reference_number": listing["reference"],
        "buyma_product_id": "100",
        "buyma_registered_at": later,
        "model_no": "",
        "control": "publish",
        "status": "LIVE",
        "name": "ACME コート",
        "comments": "コート",
        "brand_id": 0,
        "brand_name": "ACME",
        "category_id": 3306,
        "original_price_krw": 200_000,
        "purchase_price_krw": 129_000,
        "price": 22_500,
        "buyma_lowest_price": 30_000,
        "is_lowest_price": 1,
        "margin_calculated_at": NOON,
        "available_until": (NOON + timedelta(days=89)).date().isoformat(),
        "buying_area_id": "2002003000",
        "shipping_area_id": "2002003000",
        "buying_shop_name": "OKMALL",
        "duty": "included",
        "season_id": None,
        "size_unit": None,
        "source_product_url": "https://mall.example/1",
        "source_model_id": "AB-123",
        "source_original_price": 200_000,
        "source_sales_price": 129_000,
        "is_image_uploaded": 1,
        "is_ready_to_publish": 1,
        "is_published": 1,
        "is_active": 1,
        "created_at": NOON,
        "updated_at": NOON,
    }
    missing = ("reference_number", "status", "control", "price", "is_lowest_price", "is_ready_to_publish")
    assert (third["id"], *(third[name] for name in missing)) == (ids[2], None, None, "draft", None, None, 0)


async def test_pictures_in_their_places(db: Database) -> None:
    original, made = "a" * 64, "b" * 64
    file = File(original, "image/png", 600, 600, 9, Look("0" * 16, "0" * 54))
    derivative = Derivative(original, "square-1200-jpeg85-v1", made, "image/jpeg", 600, 600, 9)
    await db.transact(lambda tx: files.keep(tx, [file], [derivative]))
    pictures = [
        ProductImage("https://mall.example/1.jpg", "x", ImageState.READY, original),
        ProductImage("https://mall.example/2.jpg", "y", ImageState.READY, "c" * 64),
        ProductImage("https://mall.example/3.jpg", "z", ImageState.REFUSED, "d" * 64, "배너"),
    ]
    await db.transact(lambda tx: images.put(tx, {7: pictures}))

    names = (
        *("id", "ace_product_id", "position", "source_image_url", "cloudflare_image_url"),
        *("is_uploaded", "upload_error", "updated_at"),
    )
    assert await shown(db, "ace_product_images") == [
        dict(zip(names, values, strict=True))
        for values in (
            (701, 7, 1, "https://mall.example/1.jpg", f"/media/{made}", 1, None, NOON),
            (702, 7, 2, "https://mall.example/2.jpg", f"/media/{'c' * 64}", 1, None, NOON),
            (703, 7, 3, "https://mall.example/3.jpg", None, 0, "배너", NOON),
        )
    ]


async def test_the_lowest_prices_of_the_market(db: Database, clock: ManualClock) -> None:
    offers = (Offer(yen(40_000), yen(500), "other", model="AB-123", title="コート AB-123"),)
    elsewhere = replace(BUYMA, name="other")
    await db.transact(lambda tx: watch.record(tx, elsewhere, [Searched("AB-123", ())]))
    await db.transact(lambda tx: watch.record(tx, BUYMA, [Searched("AB-123", offers)]))
    failed = clock.advance(hours=1)
    await db.transact(lambda tx: watch.record(tx, BUYMA, [Searched("AB-123", None)]))

    (row,) = await shown(db, "buyma_lowest_prices")

    assert row.pop("next_check_at") > failed
    assert row == {
        "id": row["id"],
        "model_id": "AB123",
        "lowest_price": 40_500,
        "lowest_price_seller": "other",
        "lowest_price_title": "コート AB-123",
        "competitor_count": 1,
        "price_data_json": "{}",
        "last_result": "FAILED",
        "last_checked_at": failed,
        "updated_at": NOON,
    }
