"""What the conveyor asks for each batch of products is found by index: a shop with more goods is no slower."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.catalog.tables import mall_brands, products
from bobusang.flows.conveyor import goods, lookup, marking, picturing, sifting, unseen
from bobusang.flows.market import alarms
from bobusang.kit.sql import Bulk, Dialect, Statement
from bobusang.stages.convert.tables import translation_memory
from bobusang.stages.image import revisits
from bobusang.stages.image.tables import image_revisits
from bobusang.stages.register import claims, closing, listings, mirroring, reopening
from bobusang.stages.register.tables import listing_claims
from bobusang.stages.register.tables import listings as rows_of_listings
from bobusang.testing.clock import NOON

if TYPE_CHECKING:
    from bobusang.kit.db import Database

MANY = 4000
BRANDS = 400
GROWING = ("products", "listings", "listing_claims", "mall_brands", "translation_memory", "image_revisits")
EXPLAIN = {Dialect.SQLITE: "explain query plan ", Dialect.POSTGRES: "explain ", Dialect.MARIADB: "explain "}
ANALYZE = Statement("analyze", mariadb=f"analyze table {', '.join(GROWING)}")
SOME = list(range(1, 6))
KEYS = [str(number) for number in SOME]
SIFTED = {"mall": "okmall", "market": "buyma", "stamps": ["", "x"], "now": NOON}

PRODUCTS = Bulk(
    products,
    (
        *("id", "mall", "product_id", "brand", "brand_ko", "name", "price", "currency", "url", "in_stock", "listed"),
        *("version", "created_at", "updated_at"),
    ),
)
LISTINGS = Bulk(
    rows_of_listings,
    ("id", "account_id", "product_id", "sku", "reference", "market_id", "state", "created_at", "updated_at"),
)
MALL_BRANDS = Bulk(
    mall_brands,
    (
        *("mall_name", "mall_brand_no", "mall_brand_name_en", "mall_brand_name_ko", "is_mapped"),
        *("last_seen_at", "created_at", "updated_at"),
    ),
)
MEMORY = Bulk(
    translation_memory,
    ("source_lang", "target_lang", "source_hash", "source_text", "target_text", "origin", "created_at"),
)
REVISITS = Bulk(image_revisits, ("product_id", "refresh", "asked_at"))
CLAIMS = Bulk(listing_claims, ("account_id", "goods", "product_id", "mall", "claimed_at"))


@pytest.fixture
async def full(db: Database) -> Database:
    """One mall's products, all of them on the market for one account."""
    every = range(1, MANY + 1)
    async with db.begin() as tx:
        rows = [
            (
                *(n, "okmall", str(n), f"B{n % BRANDS}", f"비{n % BRANDS}", "N", 1, "KRW", f"https://mall/{n}"),
                *(True, n % 2 == 0, 1, NOON, NOON),
            )
            for n in every
        ]
        brands = [("okmall", str(n), f"B{n}", f"비{n}", False, NOON, NOON, NOON) for n in range(BRANDS)]
        await tx.insert(MALL_BRANDS, brands)
        await tx.insert(PRODUCTS, rows)
        await tx.insert(LISTINGS, [(n, 1, n, f"okmall-{n}", f"r{n}", f"m{n}", "LIVE", NOON, NOON) for n in every])
        await tx.insert(MEMORY, [("ko", "ja", str(n), f"말 {n}", f"語 {n}", "model", NOON) for n in every])
        await tx.insert(REVISITS, [(n, False, NOON) for n in every])
        await tx.insert(CLAIMS, [(1, f"g{n}", n, "okmall", NOON) for n in every])
    if db.dialect is not Dialect.SQLITE:  # which studies nothing by itself, so that it must do without
        async with db.read() as tx:
            await tx.fetch(ANALYZE)
    return db


ASKED: dict[str, tuple[Statement, dict[str, Any]]] = {
    "a stage: its products": (goods.KNOWN, {"mall": "okmall", "keys": KEYS}),
    "a stage: what has changed of words": (lookup.CHANGED, {"market": "buyma", "mall": "mustit"}),
    "sift, FULL": (sifting.EVERY, {**SIFTED, "keys": KEYS}),
    "sift, PARTIAL": (sifting.LISTED, {**SIFTED, "keys": KEYS, "accounts": [1], "states": ["LIVE"]}),
    "plan: what its list lacks": (
        sifting.ABSENT,
        {"mall": "okmall", "brand": "7", "market": "buyma", "no": False, "accounts": [1]},
    ),
    "plan: what is known of a brand": (sifting.OF_BRAND, {"mall": "okmall", "brand": "7"}),
    "IMAGE: what is shown already": (picturing.PUBLISHED, {"accounts": [1], "ids": SOME}),
    "IMAGE: what a person has asked for": (revisits.ASKED, {"ids": SOME}),
    "REGISTER: their listings": (listings.OF_PRODUCTS, {"account": 1, "products": SOME}),
    "REGISTER: who else sells them": (
        claims.CLAIMED,
        {"account": 1, "goods": [f"g{n}" for n in SOME], "products": SOME},
    ),
    "REGISTER: what was taken": (listings.STANDING, {"account": 1, "products": SOME}),
    "REGISTER: how long they stay": (marking.ENDS, {"accounts": [1], "ids": SOME}),
    "webhooks, by reference": (listings.BY_REFERENCE, {"references": [f"r{n}" for n in SOME]}),
    "webhooks, by the market's id": (listings.BY_MARKET_ID, {"account": 1, "ids": [f"m{n}" for n in SOME]}),
    "what a person closed": (
        closing.STILL_LIVE,
        {"account": 1, "never": closing.NEVER, "abandoned": NOON, "limit": 50},
    ),
    "what is for sale again": (reopening.UNDONE, {"account": 1, "since": NOON}),
    "what nobody has seen": (unseen.TOLD, {"account": 1, "never": closing.NEVER}),
    "alerts: what nobody has seen": (alarms.UNSEEN, {"account": 1, "never": closing.NEVER, "most": 10}),
    "alerts: what ends": (alarms.ENDING, {"account": 1, "until": "2026-01-01", "most": 10}),
    "alerts: what needs a person": (alarms.COUNTS, {"account": 1, "most": 10}),
    "alerts: what sells at a loss": (
        alarms.BELOW,
        {"account": 1, "market": "buyma", "name": "main", "yes": True, "most": 10},
    ),
    "webhooks: the catalog's copy": (mirroring.LISTED, {"accounts": [1], "products": SOME}),
}


async def test_a_batch_reads_its_own_rows_alone(full: Database) -> None:
    found: dict[str, list[str]] = {}
    for name, (statement, params) in ASKED.items():
        text, arguments = statement.bind(full.dialect, params)
        async with full.read() as tx:
            plan = await tx._fetch(EXPLAIN[full.dialect] + text, arguments)
        found[name] = walked(full.dialect, [dict(row) for row in plan])  # type: ignore[call-overload]

    assert found == {name: [] for name in ASKED}


def walked(dialect: Dialect, plan: list[dict[str, Any]]) -> list[str]:
    """The steps of a plan that read all that a mall or an account has."""
    match dialect:
        case Dialect.SQLITE:
            wide = ("(mall=?)", "(account_id=?)", "market_id>?)", "(refusal_cause=?)")
            steps = [row["detail"] for row in plan]
            return [
                one for one in steps if one.endswith(wide) or one.startswith(("SCAN l", "SCAN p", "SCAN c", "SCAN tr"))
            ]
        case Dialect.POSTGRES:
            return [row["QUERY PLAN"] for row in plan if "Seq Scan on" in row["QUERY PLAN"] and _grows(row)]
        case Dialect.MARIADB:
            return [str(row) for row in plan if int(row["rows"] or 0) >= MANY // 2]


def _grows(row: dict[str, Any]) -> bool:
    return any(f"Seq Scan on {name} " in row["QUERY PLAN"] for name in GROWING)
