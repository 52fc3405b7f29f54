"""What PRICE and REGISTER are asked for a product: the stages' own data, mapped from what the others know. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog.tables.variants import StockKind
from bobusang.catalog.variants import Goods
from bobusang.kit.money import Money
from bobusang.stages.convert import customs, restocking, stock
from bobusang.stages.convert.materials import Part
from bobusang.stages.convert.naming import folded
from bobusang.stages.convert.restocking import Restocked
from bobusang.stages.price import model as price
from bobusang.stages.price.rivals import model_key
from bobusang.stages.register import model as register
from bobusang.stages.register.tables import GOODS_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.catalog.variants import Variant
    from bobusang.flows.conveyor.goods import Known
    from bobusang.stages.convert.model import Converted
    from bobusang.stages.register.model import Account, Listing

CURRENCY = "KRW"
"""What malls ask for unless they say otherwise."""
KINDS = {
    "shoes": ("신발", "슈즈", "스니커즈", "부츠", "샌들", "로퍼", "구두", "shoes"),
    "bags": ("가방", "백팩", "지갑", "토트", "크로스백", "bag"),
}
"""What duty tells apart, by words of the mall's category; anything else is just clothing or goods."""
DUTY_INCLUDED = {"included": True, "refundable": True, "none": False}
"""What an account's word of duty means for the price; what is refunded is ours too. Without a word nothing is told."""
ONLY = "only"
"""The code of the one colour or size where the mall has no choice of it: on the market it is an option like others.
REGISTER would know it by its words, cells do not."""


def kind_of(fields: Mapping[str, Any]) -> str:
    """The kind of goods by its category, the last step first: shoes may stand under a mall's clothes."""
    said = fields.get("category")
    steps = [str(part) for part in said] if isinstance(said, list | tuple) else str(said or "").split(" > ")
    for step in reversed(steps):
        for kind, words in KINDS.items():
            if any(word in step.casefold() for word in words):
                return kind
    return ""


def material_of(materials: Sequence[Mapping[str, Any]]) -> str:
    """As customs ask, by the same main part as how it is made; empty where nobody knows."""
    return customs.material(msgspec.convert(materials, tuple[Part, ...]))


def stocked(known: Known, made: Converted) -> Restocked:
    """The grid that was made, with what the mall claims now; what is gone there is out everywhere."""
    if known.is_gone:
        return Restocked(Goods(made.goods.options, tuple(_out(one) for one in made.goods.variants)))
    return restocking.restocked(made.goods, known.options)


def _out(variant: Variant) -> Variant:
    return type(variant)(
        variant.key,
        variant.codes,
        variant.text,
        variant.color_key,
        variant.size_key,
        stock.OUT,
        variant.price,
        variant.filler,
    )


def purchase(known: Known, goods: Goods) -> Money | None:
    """What we pay: the mall's price, or that of its dearest option that can be had, since a buyer may choose it."""
    said = known.fields.get("price")
    prices = [said] if type(said) is int else []
    prices += [one.price for one in goods.variants if one.price is not None and one.stock.kind is not StockKind.OUT]
    return Money(max(prices), _currency(known)) if prices else None


def basis(known: Known, goods: Goods) -> str:
    """What its price is made of today, as far as the mall tells it; in words, which are handed on with the price."""
    paid, least = purchase(known, goods), resale_floor(known)
    return f"{paid or 'nothing'}" + (f" (sold on from {least})" if least else "")


def resale_floor(known: Known) -> Money | None:
    """The least price at which its supplier lets it be sold on, where he says one; 0 is none."""
    said = known.fields.get("minimum_resale_price")
    return Money(said, _currency(known)) if type(said) is int and said > 0 else None


def _currency(known: Known) -> str:
    said = known.fields.get("currency")
    return said if isinstance(said, str) and said else CURRENCY


def priced(
    known: Known,
    made: Converted,
    goods: Goods,
    account: Account,
    listing: Listing | None,
    *,
    currency: str,
    may_raise: bool,
) -> price.Wanted:
    """What PRICE is asked; `currency` is the market's, `listing` what the account has of it there."""
    weight = known.fields.get("weight_grams")
    return price.Wanted(
        known.id,
        known.sku,
        account.market,
        account.name,
        purchase(known, goods),
        tier=account.fee_tier,
        category=kind_of(known.fields),
        material=material_of(made.materials),
        construction="" if made.construction == "unknown" else made.construction,
        weight_grams=weight if type(weight) is int and weight > 0 else None,
        model=made.model,
        current=current_price(listing, currency),
        shipping=shipping(account, listing, currency),
        resale_floor=resale_floor(known),
        duty_included=DUTY_INCLUDED.get(account.duty),
        may_raise=may_raise,
    )


def is_there(listing: Listing | None) -> bool:
    """Whether the market has it, or once had it, from this account: PARTIAL touches nothing else. What was only
    planned, and held or refused, has a listing and no number of the market."""
    return listing is not None and bool(listing.market_id)


def current_price(listing: Listing | None, currency: str) -> Money | None:
    """What the market has confirmed."""
    if listing is None or listing.confirmed is None or not listing.confirmed.price:
        return None
    return Money(listing.confirmed.price, currency)


def shipping(account: Account, listing: Listing | None, currency: str) -> Money | None:
    """What buyers pay us beside the price: the market's own word of a listing that is sent as the account sends now,
    else what the account says; None where neither is known."""
    told = None if listing is None else listing.shipping_charge
    confirmed = None if listing is None else listing.confirmed
    is_now = confirmed is not None and confirmed.shipping_methods == account.shipping_methods
    charge = told if told is not None and (is_now or account.shipping_charge is None) else account.shipping_charge
    return None if charge is None else Money(charge, currency)


def asked_total(account: Account, listing: Listing, currency: str) -> Money | None:
    """What a buyer pays us for a listing, as others' offers are counted; None while the market has confirmed none."""
    price, beside = current_price(listing, currency), shipping(account, listing, currency)
    return price if price is None or beside is None else price + beside


def registered(
    known: Known,
    made: Converted,
    goods: Goods,
    images: Sequence[str],
    told: Mapping[str, Any],
    *,
    cap: int,
    seen_at: datetime | None,
    decided_at: datetime | None,
    outdated: str = "",
) -> register.Wanted:
    """What REGISTER is asked; `goods` is what can be had now, `told` what PRICE said: price, floor and ceiling with
    their currency."""
    currency = told["currency"]
    return register.Wanted(
        product_id=known.id,
        sku=known.sku,
        name=made.name,
        comments=made.comments,
        brand_id=made.brand_id,
        category_id=made.category_id,
        images=tuple(images),
        options=tuple(_option(one) for one in goods.options),
        variants=tuple(_variant(one, cap) for one in goods.variants),
        price=_money(told["price"], currency),
        floor=_money(told["floor"], currency),
        ceiling=_money(told["ceiling"], currency),
        brand_name=made.brand_name,
        style_numbers=(made.style_number,) if made.style_number else (),
        size_unit=made.size_unit or "",
        mall=known.mall,
        goods=goods_of(made),
        quote=told["reason"],
        seen_at=seen_at,
        changed_at=known.changed_at,
        decided_at=decided_at,
        outdated=outdated,
    )


def goods_of(made: Converted) -> str:
    """What the same goods have in common in every mall; without a model number nobody can tell."""
    model = model_key(made.model)
    brand = str(made.brand_id) if made.brand_id else folded(made.brand_name)
    return f"{brand[-GOODS_LENGTH + len(model) + 1 :]} {model}" if model and brand else ""


def _money(amount: int | None, currency: str) -> Money | None:
    return None if amount is None else Money(amount, currency)


def _option(one: Any) -> register.Option:
    """Its key is REGISTER's code: it stays when the mall spells the option anew (`convert/respelling.py`)."""
    details = tuple(register.Detail(str(detail["key"]), str(detail["value"])) for detail in one.details)
    axis = register.Axis(one.axis.value)
    return register.Option(axis, one.key or ONLY, one.text, one.market_text, one.master_id or 0, details)


def _variant(one: Variant, cap: int) -> register.Variant:
    """Nothing is in our hands: what the mall has can be ordered there, at most so many as it counts and we dare."""
    many = stock.sellable(one.stock, cap=cap)
    claim = register.Stock.UNKNOWN if many is None else register.Stock.TO_ORDER if many else register.Stock.OUT
    counted = many if one.stock.kind is StockKind.COUNT and many else None
    return register.Variant(one.color_key or ONLY, one.size_key or ONLY, claim, counted)
