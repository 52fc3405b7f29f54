"""The main job over real HTTP on each database: FULL lists what the malls sell, PARTIAL sends what changed, no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import products
from bobusang.flows.conveyor.model import Mode, Stage
from bobusang.kit import json
from bobusang.kit.sql import Statement
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.world import World
from bobusang.testing.crawl import Visiting, visit
from bobusang.testing.shop import Shop
from tests.integration.flows.selling import BRANDS, MUSTIT, NO_DOUBLES, OKMALL, PORT, calls, doubles, shelves

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import AsyncIterator
    from pathlib import Path

SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}
BRANDS_BY_MALL = {OKMALL.mall: OKMALL.name, MUSTIT.mall: MUSTIT.name}
STOCK_TYPES = {"to_order": "purchase_for_order", "out": "out_of_stock"}
Told = dict[str, Any]


@pytest.fixture
def world() -> World:
    return World(seed=5, size=20, brands=1, pictures=2)


@pytest.fixture
async def any_shop(tmp_path: Path, world: World, database_url: str) -> AsyncIterator[Shop]:
    """On each database, working, its brands listed."""
    said: Told = {"world": world, "sandbox": SANDBOX, "database_url": database_url}
    async with Shop.opened(tmp_path, **said) as shop, shop.yard.working():
        assert await shop.run(Mode.FULL, BRANDS) == "COMPLETED"
        yield shop


@pytest.fixture
async def shop(tmp_path: Path, world: World) -> AsyncIterator[Shop]:
    """On SQLite, working, with nothing listed."""
    async with Shop.opened(tmp_path, world=world, sandbox=SANDBOX) as found, found.yard.working():
        yield found


async def sold(shop: Shop) -> dict[str, Told]:
    """By our name for it, all that the malls have to sell now."""
    return {
        f"{mall}-{one['key']}": one
        for mall, brand in BRANDS_BY_MALL.items()
        for one in (await shop.door.truth(mall, brand=brand))["items"]
        if one["listed"] and not one["sold_out"]
    }


async def confirmed(shop: Shop) -> dict[str, Told]:
    """What we believe that the market shows, in the market's words."""
    rows = await shop.yard.rows("select sku, confirmed from listings where state = 'LIVE' order by sku")
    return {row["sku"]: in_their_words(json.loads(PORT.sub("host", row["confirmed"]))) for row in rows}


def in_their_words(draft: Told) -> Told:
    words = {(one["axis"], one["code"]): one["market_text"] for one in draft["options"]}
    return {
        "status": "public",
        "name": draft["name"],
        "model": (draft["style_numbers"] or [""])[0],
        "price": draft["price"],
        "variants": [
            {
                "options": [
                    {"type": axis, "value": words[axis, variant[axis]]}
                    for axis in ("color", "size")
                    if (axis, variant[axis]) in words
                ],
                "stock_type": STOCK_TYPES[variant["stock"]],
            }
            for variant in draft["variants"]
        ],
        "order_quantity": draft["order_quantity"],
        "images": draft["images"],
        "available_until": draft["available_until"].replace("-", "/"),
    }


async def held(shop: Shop) -> set[str]:
    rows = await shop.yard.rows("""
        select p.mall, p.product_id from conversions c join products p on p.id = c.product_id
        where c.state = 'HELD'""")
    return {f"{row['mall']}-{row['product_id']}" for row in rows}


async def control(shop: Shop) -> dict[tuple[str, str], tuple[str, int]]:
    """The rows of the last batch."""
    rows = await shop.yard.rows("""
        select mall_name, stage, status, item_count from pipeline_control
        where batch_id = (select max(batch_id) from pipeline_control) order by id""")
    return {(row["mall_name"], row["stage"]): (row["status"], row["item_count"]) for row in rows}


async def sent(shop: Shop, mode: Mode) -> tuple[list[tuple[str, str]], Counter[str]]:
    """Run, and tell which calls it made for which products, and what it asked of the market's doors."""
    [before] = await shop.yard.rows("select coalesce(max(id), 0) as id from market_calls")
    asked = await calls(shop.door)
    assert await shop.run(mode, BRANDS) == "COMPLETED"
    rows = await shop.yard.rows(
        """select l.sku, c.kind, c.state from market_calls c join listings l on l.id = c.listing_id
            where c.id > :id order by l.sku""",
        id=before["id"],
    )
    assert {row["state"] for row in rows} <= {"CONFIRMED"}
    return [(row["sku"], row["kind"]) for row in rows], await calls(shop.door) - asked


async def come(shop: Shop, sku: str) -> None:
    """Let the hour come at which the pages of a product are looked at again."""
    await shop.yard.db.transact(
        lambda tx: tx.execute(
            Statement("""update source_seen set interval_seconds = 0 where record_id in
                (select product_id from listings where sku = :sku)"""),
            sku=sku,
        )
    )


@pytest.mark.timeout(300)
async def test_full_lists_what_the_malls_sell_and_a_second_one_sends_nothing(any_shop: Shop) -> None:
    shop = any_shop
    there, wanted = await sold(shop), await shelves(shop)
    rows = await control(shop)

    assert len(wanted) > 25
    assert wanted.keys() == there.keys() - await held(shop)
    assert wanted == await confirmed(shop)
    assert {row[0] for row in rows.values()} == {"DONE"}
    assert {mall: rows[mall, "REGISTER"][1] for mall in BRANDS_BY_MALL} == await converted(shop)
    offered = {
        sku: sum(one["stock_type"] != "out_of_stock" for one in shown["variants"]) for sku, shown in wanted.items()
    }
    assert offered == {sku: sum(one["available"] for one in there[sku]["options"]) or 1 for sku in wanted}
    assert (await shop.door.market(limit=0))["fetched_again"] == 0

    assert [await sent(shop, mode) for mode in (Mode.FULL, Mode.PARTIAL)] == [([], {}), ([], {})]
    assert (await shelves(shop), await doubles(shop.door)) == (wanted, NO_DOUBLES)


async def converted(shop: Shop) -> dict[str, int]:
    """How many products of each mall could be told to the market."""
    rows = await shop.yard.rows("""
        select p.mall, count(*) as n from conversions c join products p on p.id = c.product_id
        where c.state = 'READY' group by p.mall""")
    return {row["mall"]: row["n"] for row in rows}


@pytest.mark.timeout(300)
async def test_partial_sends_what_changed_and_nothing_else(any_shop: Shop) -> None:
    shop, door = any_shop, any_shop.door
    there, listed = await sold(shop), sorted(await shelves(shop))
    okmall, mustit = ([sku for sku in listed if sku.startswith(mall)] for mall in ("okmall", "mustit"))
    cheaper, out, gone = okmall[0], okmall[1], okmall[2]
    fewer = next(sku for sku in mustit if sum(one["available"] for one in there[sku]["options"]) > 1)
    code = next(one["code"] for one in there[fewer]["options"] if one["available"])

    await door.override("okmall", there[cheaper]["key"], price=there[cheaper]["price"] * 9 // 10)
    await door.override("okmall", there[out]["key"], sold_out=True)
    await door.override("okmall", there[gone]["key"], gone=True)
    await door.override("mustit", there[fewer]["key"], stocks={code: 0})
    await come(shop, fewer)

    assert await sent(shop, Mode.PARTIAL) == ([(fewer, "STOCK"), (cheaper, "EDIT")], {"products": 1, "variants": 1})
    # A list without a product may mean anything; the next run asks for its own page.
    assert await sent(shop, Mode.PARTIAL) == ([(out, "CLOSE"), (gone, "CLOSE")], {"variants": 2})
    assert await sent(shop, Mode.PARTIAL) == ([], {})
    after = await shelves(shop)
    assert {sku for sku, one in after.items() if one["status"] != "public"} == {out, gone}
    assert after == await confirmed(shop) | {sku: after[sku] for sku in (out, gone)}

    # What is on the list again has its own page looked at now, not when it would be due.
    for sku in (out, gone):
        await door.override("okmall", there[sku]["key"], fate=True)
    assert await sent(shop, Mode.PARTIAL) == ([(out, "REVIVE"), (gone, "REVIVE")], {"products": 2})
    assert (await shelves(shop), await doubles(door)) == (await confirmed(shop), NO_DOUBLES)


async def test_partial_takes_nothing_new(shop: Shop) -> None:
    assert await shop.run(Mode.FULL, BRANDS, limit=4) == "COMPLETED"
    before = await shelves(shop)

    assert len(before) <= 8
    assert await sent(shop, Mode.PARTIAL) == ([], {})
    assert await shelves(shop) == before
    assert {stage for _, stage in await control(shop)} == {"COLLECT", "PRICE", "REGISTER"}


async def test_the_same_goods_of_two_malls_are_on_sale_once(shop: Shop) -> None:
    assert await shop.run(Mode.FULL, [OKMALL]) == "COMPLETED"
    assert await shop.run(Mode.FULL, [MUSTIT], stages=[Stage.COLLECT]) == "COMPLETED"
    ours = await shelves(shop)
    sold_by = {one["model"]: sku for sku, one in ours.items() if one["model"]}
    # MustIt names no model numbers: here a person has, after the goods in its titles.
    there = await sold(shop)
    twins = {sku: one for sku, one in there.items() if sku.startswith("mustit") and one["model"] in sold_by}
    for sku, one in twins.items():
        [row] = await shop.yard.rows("select id from products where product_id = :key", key=sku.split("-")[1])
        await shop.yard.db.transact(lambda tx, row=row, one=one: products.edit(tx, row["id"], {"model": one["model"]}))  # type: ignore[misc]

    assert await shop.run(Mode.FULL, [MUSTIT]) == "COMPLETED"

    rows = await shop.yard.rows("""
        select l.sku, l.state, h.reason from listing_holds h join listings l on l.id = h.listing_id order by l.sku""")
    waiting = {row["sku"]: (row["state"], row["reason"]) for row in rows}
    assert waiting == {
        sku: ("NEW", f"same goods as {sold_by[one['model']]} of okmall")
        for sku, one in twins.items()
        if sku not in await held(shop)
    }
    assert len(waiting) > 5
    assert (await shelves(shop)).keys() == there.keys() - await held(shop) - waiting.keys()


async def test_others_are_registered_while_one_is_still_collected(shop: Shop) -> None:
    visit(shop.yard.app, {"okmall": Visiting(timeout=60.0)})
    await shop.door.fault("okmall", "detail", "stall", count=1, seconds=8)

    assert await shop.run(Mode.FULL, [OKMALL], limit=4) == "COMPLETED"

    registered = (await shop.door.log(mall="buyma", endpoint="products"))[0]["at"]
    collected = (await shop.door.log(mall="okmall", endpoint="detail"))[-1]["at"]
    assert registered < collected
    assert (await control(shop))["okmall", "COLLECT"] == ("DONE", 4)
