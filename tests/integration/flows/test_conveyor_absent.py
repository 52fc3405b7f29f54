"""Which products of a brand are told to the market though its list no longer shows them, on every database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.tables import mall_brands, products
from bobusang.flows.conveyor import marks, sifting
from bobusang.flows.conveyor.marks import Mark
from bobusang.kit.sql import Bulk
from bobusang.stages.register.tables import listings
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx

PRODUCTS = Bulk(
    products, ("id", "mall", "product_id", "brand", "brand_ko", "listed", "version", "created_at", "updated_at")
)
LISTINGS = Bulk(
    listings, ("id", "account_id", "product_id", "sku", "reference", "market_id", "state", "created_at", "updated_at")
)
BRANDS = Bulk(
    mall_brands,
    (
        *("mall_name", "mall_brand_no", "mall_brand_name_en", "mall_brand_name_ko", "is_mapped"),
        *("last_seen_at", "created_at", "updated_at"),
    ),
)
NAMES = {
    1: "told: its mark has its version",
    2: "it vanished since it was marked",
    3: "it has no mark",
    4: "it is known by the brand's Korean name alone",
    5: "it never was on the market",
    6: "its list shows it",
    7: "another brand's",
    8: "another market's account sells it",
    9: "it was sent and never confirmed",
    10: "its mark has its version, and an account has it on sale",
}


async def fill(tx: Tx) -> None:
    await tx.insert(BRANDS, [("okmall", "1", "NIKE", "나이키", False, NOON, NOON, NOON)])
    rows: dict[int, tuple[object, ...]]
    rows = {id: (id, "okmall", f"p{id}", "NIKE", "나이키", False, 3, NOON, NOON) for id in NAMES}
    rows[4] = (4, "okmall", "p4", None, "나이키", False, 3, NOON, NOON)
    rows[6] = (6, "okmall", "p6", "NIKE", "나이키", True, 3, NOON, NOON)
    rows[7] = (7, "okmall", "p7", "ASICS", "아식스", False, 3, NOON, NOON)
    await tx.insert(PRODUCTS, list(rows.values()))
    await tx.insert(
        LISTINGS,
        [
            (id, 2 if id == 8 else 1, id, f"s{id}", f"r{id}", None if id == 9 else f"m{id}", state, NOON, NOON)
            for id, state in ((id, "LIVE" if id in (2, 10) else "SUSPENDED") for id in NAMES)
            if id != 5
        ],
    )
    await marks.put(tx, "buyma", [Mark(1, 3, "", "", NOON), Mark(2, 2, "", "", NOON), Mark(10, 3, "", "", NOON)])
    await marks.put(tx, "other", [Mark(3, 3, "", "", NOON)])


async def test_what_vanished_and_was_not_told_is_found_with_a_mark_or_without(db: Database) -> None:
    await db.transact(fill)
    brand = {"mall": "okmall", "brand": "1"}
    async with db.read() as tx:
        absent = await tx.fetch(sifting.ABSENT, **brand, market="buyma", no=False, accounts=[1])
        every = await tx.fetch(sifting.OF_BRAND, **brand)

    assert [NAMES[row["id"]] for row in absent] == [NAMES[2], NAMES[3], NAMES[4], NAMES[10]]
    assert [row["product_id"] for row in every] == ["p1", "p2", "p3", "p4", "p5", "p6", "p8", "p9", "p10"]
