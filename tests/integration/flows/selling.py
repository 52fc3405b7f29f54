"""What the conveyor leaves behind, here and at the market: whole values, without numbers and times that no two runs
share."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from bobusang.flows.conveyor.model import Brand
from bobusang.kit import json

if TYPE_CHECKING:
    from bobusang.testing.sandbox import Door
    from bobusang.testing.shop import Shop

OKMALL, MUSTIT = Brand("okmall", "나이키(NIKE)"), Brand("mustit", "NIKE")
BRANDS = (OKMALL, MUSTIT)
PORT = re.compile(r"127\.0\.0\.1:\d+")
SHOWN = ("status", "name", "model", "price", "variants", "order_quantity", "images", "available_until")

STATE = {
    "control": """select mall_name, stage, status, error_msg from pipeline_control
        where batch_id = (select max(batch_id) from pipeline_control) order by id""",
    "products": """select mall, product_id, brand, name, model, price, list_price, url, image, in_stock, listed,
        category from products order by mall, product_id""",
    # Not why one is held: the first of a category that nobody knows finds it unknown, the next finds it proposed.
    "conversions": """select p.mall, p.product_id, c.generation, c.state, c.data from conversions c
        join products p on p.id = c.product_id order by p.mall, p.product_id""",
    "pictures": """select p.mall, p.product_id, i.position, i.source_url, i.sha256, i.state, i.reason
        from product_images i join products p on p.id = i.product_id order by p.mall, p.product_id, i.position""",
    "files": """select made_from, recipe, sha256, media, width, height, bytes from image_files
        order by made_from, recipe""",
    "quotes": """select sku, decision, reason, detail, price, floor, ceiling, confirmed, currency from price_quotes q
        where id = (select max(id) from price_quotes o where o.sku = q.sku) order by sku""",
    "listings": """select sku, state, confirmed, drift, open_call, refusal_words, available_until from listings
        order by sku""",
    "open": "select kind, state from market_calls where state <> 'CONFIRMED' order by id",
    "marks": """select p.mall, p.product_id, m.model from conveyor_marks m join products p on p.id = m.product_id
        order by p.mall, p.product_id""",
    "held": "select guard, reason from listing_holds order by id",
    "dead": "select reason_class, error from dead_letters order by 1, 2",
}


async def state(shop: Shop) -> dict[str, Any]:
    """All that is stored; alike on all databases."""
    found = {name: await shop.yard.rows(text) for name, text in STATE.items()}
    return {name: [plain(row) for row in rows] for name, rows in found.items()}


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row without the ports of this run, its JSON read."""
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = PORT.sub("host", value)
    return _sorted(json.loads(text)) if text.startswith(("{", "[")) else text


def _sorted(value: Any) -> Any:
    """Measurements in one order: theirs is that of the mall's words, which PostgreSQL does not keep."""
    if isinstance(value, list):
        return [_sorted(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: sorted(one, key=str) if name == "details" else _sorted(one) for name, one in value.items()}


async def shelves(shop: Shop) -> dict[str, dict[str, Any]]:
    """What the market shows, by our own names for it."""
    names = {row["reference"]: row["sku"] for row in await shop.yard.rows("select reference, sku from listings")}
    listings = (await shop.door.market())["listings"]
    return {
        names[one["reference"]]: json.loads(PORT.sub("host", json.dumps({name: one[name] for name in SHOWN})))
        for one in sorted(listings, key=lambda one: names[one["reference"]])
    }


async def doubles(door: Door) -> dict[str, Any]:
    """What the market has had to make or do twice: nothing, when all is well."""
    found = await door.market(limit=0)
    uids = await door.effects()
    return {
        "made again": found["made_again"],
        "same reference": found["same_reference"],
        "effects": {uid: one["effects"] for uid, one in uids.items() if one["effects"] > 1},
        "broken": found["broken"],
    }


NO_DOUBLES: dict[str, Any] = {"made again": {}, "same reference": [], "effects": {}, "broken": []}


async def outcomes(door: Door) -> Counter[str]:
    """How often requests to the market did what."""
    return Counter((await door.market(limit=0))["outcomes"])


async def calls(door: Door) -> Counter[str]:
    """How often the market was called, by the kind of call."""
    found = (await door.counts())["requests"]
    return Counter({one["endpoint"]: one["count"] for one in found if one["mall"] == "buyma"})


def unlike(found: Any, expected: Any, place: str = "") -> dict[str, tuple[Any, Any]]:
    """Where two states differ, each place with what is found and what is expected: all of a state is too much to
    read."""
    if isinstance(found, dict) and isinstance(expected, dict):
        pairs = [(str(key), found.get(key), expected.get(key)) for key in sorted(found.keys() | expected)]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = [(str(at), *both) for at, both in enumerate(zip(found, expected, strict=True))]
    else:
        return {} if found == expected else {place: (found, expected)}
    return {at: both for key, one, other in pairs for at, both in unlike(one, other, f"{place}/{key}").items()}
