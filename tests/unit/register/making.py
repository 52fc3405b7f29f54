"""A coat in two colours and three sizes, as the tests want it, confirmed it, and change it."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec

from bobusang.kit.money import yen
from bobusang.stages.register.drafting import drafted
from bobusang.stages.register.market import Abilities
from bobusang.stages.register.model import Account, Axis, Draft, Listing, Option, State, Stock, Variant, Wanted

TODAY = date(2026, 3, 2)
COLORS = (Option(Axis.COLOR, "c1", "블랙", "ブラック", 1), Option(Axis.COLOR, "c2", "화이트", "ホワイト", 2))
SIZES = (Option(Axis.SIZE, "s1", "S", "S", 2), Option(Axis.SIZE, "s2", "M", "M", 3), Option(Axis.SIZE, "", "L", "L", 4))
OPTIONS = COLORS + SIZES
XL = Option(Axis.SIZE, "s9", "XL", "XL", 5)
ABILITIES = Abilities(
    currency="JPY",
    zone="Asia/Tokyo",
    longest_days=90,
    frozen=frozenset({"name", "brand_id", "brand_name", "category_id", "buying_area", "shop_name", "shipping_area"}),
    states={"public": State.LIVE, "buyer_suspended": State.SUSPENDED},
)
ACCOUNT = Account(
    id=1,
    market="buyma",
    name="main",
    buying_area="2002003000",
    shipping_area="2002003000",
    shipping_methods=(888,),
    shop_name="OKMALL",
    duty="included",
    token_ref="token",
    secret_ref="secret",
)


def stocks(stock: Stock = Stock.TO_ORDER, **cells: Stock) -> tuple[Variant, ...]:
    """The grid with one stock, except the cells named like `c1_s1`."""
    return tuple(
        Variant(color.key, size.key, cells.get(f"{color.key}_{size.key}", stock)) for color in COLORS for size in SIZES
    )


WANTED = Wanted(
    product_id=7,
    sku="okmall/7",
    name="ウールコート",
    comments="暖かいコートです。",
    brand_id=203,
    category_id=3064,
    images=("https://media.example/1.jpg", "https://media.example/2.jpg"),
    options=OPTIONS,
    variants=stocks(),
    price=yen(22_500),
    floor=yen(20_000),
    ceiling=yen(40_000),
    style_numbers=("AB-1234",),
)


def draft(**changes: Any) -> Draft:
    """The coat's draft with fields of the draft changed."""
    return msgspec.structs.replace(drafted(WANTED, ACCOUNT, ABILITIES, TODAY), **changes)


def listing(confirmed: Draft | None = None, state: State = State.LIVE, **changes: Any) -> Listing:
    """The coat on the market, as confirmed."""
    found: dict[str, Any] = {"id": 1, "account_id": 1, "product_id": 7, "sku": "okmall/7", "reference": "REF1"}
    found |= {"market_id": "100", "state": state, "confirmed": confirmed or draft()}
    return Listing(**(found | changes))
