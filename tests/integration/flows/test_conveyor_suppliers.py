"""Wholesalers and spreadsheets on their way to the market: every choice that a supplier offers is one there, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog import suppliers
from bobusang.catalog.model import SupplierKind
from bobusang.catalog.suppliers import Supplier
from bobusang.flows.product_sync import register
from bobusang.flows.sheets import previewing, receiving, starting
from bobusang.kit import json
from bobusang.sandbox.buyma.account import Behaviour
from bobusang.sandbox.domeggook import goods as domeggook
from bobusang.sandbox.ledger import entries
from bobusang.sandbox.ownerclan import goods as ownerclan
from bobusang.sandbox.reviewed import mapping
from bobusang.sandbox.world import World
from bobusang.stages.convert import mastering, reviewing
from bobusang.testing.shop import Shop
from bobusang.testing.workbook import Sheet, workbook
from tests.integration.flows.selling import NO_DOUBLES, doubles, shelves

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bobusang.kit.db import Tx
    from bobusang.sandbox.product import Standing

MULTI = 99
"""What the market calls a colour that nobody has named."""
SANDBOX = {"behaviour": Behaviour(delay=0, retry_seconds=0.05)}
CONVERTED = """
    select p.mall, p.product_id, c.state, c.data, c.reasons from conversions c join products p on p.id = c.product_id"""


@pytest.fixture
def world() -> World:
    return World(seed=5, size=24, brands=1, pictures=2)


@pytest.fixture
async def shop(tmp_path: Path, world: World) -> AsyncIterator[Shop]:
    async with Shop.opened(tmp_path, world=world, sandbox=SANDBOX, unknown_color=MULTI) as found, found.yard.working():
        yield found


async def supply(shop: Shop, supplier: Supplier, mall: str = "") -> None:
    """A supplier whose brands and categories a person has accepted, named as a mall of the sandbox names them."""
    mall = mall or supplier.name
    told = mapping(1, (mall,)).replace(f",{mall},", f",{supplier.name},")

    async def work(tx: Tx) -> None:
        await suppliers.put(tx, supplier)
        await shop.yard.app.collector.enable(tx, supplier.name, why="our supplier", by="test")
        known = await mastering.current(tx, "buyma")
        await reviewing.imported(tx, reviewing.parsed(told, known))

    await shop.yard.db.transact(work)


async def synced(shop: Shop) -> None:
    engine = shop.yard.app.engine
    begun = await shop.yard.db.transact(lambda tx: register.start(tx, engine))
    assert await shop.yard.ended(begun.job_id, patience=60) == "SUCCESS"
    await shop.door.settle()


async def converted(shop: Shop) -> dict[str, Any]:
    """What CONVERT made of each product; None where it is held."""
    rows = await shop.yard.rows(CONVERTED)
    return {
        f"{row['mall']}-{row['product_id']}": json.loads(row["data"]) if row["state"] == "READY" else None
        for row in rows
    }


def chosen(made: dict[str, Any]) -> dict[tuple[str, str], int | None]:
    """The real cells of a product by their texts, with what each costs us."""
    texts = {(one["axis"], one["key"]): one["text"] for one in made["goods"]["options"]}
    return {
        (texts["color", one["color_key"]], texts["size", one["size_key"]]): one["price"]
        for one in made["goods"]["variants"]
        if not one.get("filler")
    }


def standing(world: World, mall: str) -> dict[int, Standing]:
    found = {one.no: world.standing(mall, one.no) for one in entries(world, mall) if not one.gone}
    return {no: one for no, one in found.items() if one is not None}


def usable(one: Standing) -> bool:
    return domeggook.usable(one.product) == "true"


def offered(shown: dict[str, Any]) -> int:
    return sum(one["stock_type"] != "out_of_stock" for one in shown["variants"])


async def test_ownerclan_is_listed_with_every_choice_whatever_its_attributes_are_called(
    shop: Shop, world: World
) -> None:
    await supply(shop, Supplier("ownerclan", SupplierKind.API))
    await synced(shop)
    made, shown = await converted(shop), await shelves(shop)
    there = {f"ownerclan-{ownerclan.key_of(no)}": one for no, one in standing(world, "ownerclan").items()}
    ready = {sku: one for sku, one in made.items() if one is not None}
    sold = {
        sku
        for sku in ready
        if ownerclan.status(there[sku].product, there[sku]) == "available"
        and ownerclan.sellable(there[sku].product)
        and not ownerclan.prohibited(there[sku].product)
    }

    assert any(there[sku].product.seed % ownerclan.OTHERWISE == 0 for sku in sold)
    assert {sku: len(chosen(one)) for sku, one in ready.items()} == {sku: len(there[sku].options) for sku in ready}
    assert shown.keys() == sold
    assert len(sold) > 8
    assert {sku: offered(shown[sku]) for sku in sold} == {
        sku: sum(left > 0 for left in there[sku].stocks) for sku in sold
    }
    assert await doubles(shop.door) == NO_DOUBLES


async def test_domeggook_is_listed_with_every_choice_and_the_dear_one_costs_more(shop: Shop, world: World) -> None:
    there = {f"domeggook-{no}": one for no, one in standing(world, "domeggook").items()}
    sellers = sorted({domeggook.seller(one.product)[0] for one in there.values()})
    await supply(shop, Supplier("domeggook", SupplierKind.API, settings={"targets": [f"seller:{s}" for s in sellers]}))
    await synced(shop)
    made, shown = await converted(shop), await shelves(shop)
    ready = {sku: one for sku, one in made.items() if one is not None}

    def wanted(one: Standing) -> dict[tuple[str, str], int | None]:
        product = one.product
        if product.single:
            return {("", "FREE"): None}
        plain = "/" not in domeggook.called(product, one.options[0])
        dear = any(domeggook.surcharge(product, option) for option in one.options)
        return {
            ("" if plain else option.color, option.size): one.price + domeggook.surcharge(product, option)
            if dear
            else None
            for option in one.options
        }

    told = {sku: {(color, size): price for (color, size), price in chosen(one).items()} for sku, one in ready.items()}
    found = {sku: wanted(there[sku]) for sku in ready}
    assert told == found
    assert any(domeggook.surcharge(there[sku].product, there[sku].options[-1]) for sku in shown)
    assert any("/" not in domeggook.called(there[sku].product, there[sku].options[0]) for sku in shown)
    assert len(shown) > 8
    ruled = {sku for sku, one in there.items() if not (one.product.seed % domeggook.LOTS and usable(one))}
    assert ruled
    assert ruled.isdisjoint(ready)
    assert {sku: offered(one) for sku, one in shown.items()} == {
        sku: sum(left > 0 for left in there[sku].stocks) for sku in shown
    }
    assert await doubles(shop.door) == NO_DOUBLES


HEAD = ["상품코드", "상품명", "브랜드", "카테고리", "공급가", "옵션", "재고", "이미지"]


async def test_a_supplier_s_sheet_with_a_column_of_options_is_listed_with_all_of_them(shop: Shop, world: World) -> None:
    await supply(shop, Supplier("hanbit", SupplierKind.EXCEL), "ownerclan")
    kind = next(one.product.kind for one in standing(world, "ownerclan").values() if one.product.kind.sizes == "top")
    picture = f"{shop.door.url}/ownerclan/image/1.jpg"

    def row(key: str, option: str, stock: int) -> list[Any]:
        path = " > ".join(kind.path)
        return [key, f"남성 나이키 {kind.ko}", "NIKE", path, 50_000, option, stock, picture]

    rows = [row("H1", size, stock) for size, stock in (("S", 3), ("M", 0), ("L", 2))]
    rows += [row("H2", color, 5) for color in ("블랙", "화이트")]
    data = workbook(Sheet("단가표", [HEAD, *rows]))
    collector, engine = shop.yard.app.collector, shop.yard.app.engine
    file, _ = await receiving.receive(collector, "hanbit", "list.xlsx", data, by="test")
    await previewing.preview(collector, file.id, None)
    begun = await shop.yard.db.transact(lambda tx: starting.start(tx, engine, collector, file.id))
    assert begun.job_id is not None
    await shop.yard.ended(begun.job_id)
    await synced(shop)

    made = await converted(shop)
    assert {sku: set(chosen(one)) for sku, one in made.items()} == {
        "hanbit-H1": {("", "S"), ("", "M"), ("", "L")},
        "hanbit-H2": {("블랙", "FREE"), ("화이트", "FREE")},
    }
    assert {sku: offered(one) for sku, one in (await shelves(shop)).items()} == {"hanbit-H1": 2, "hanbit-H2": 2}
