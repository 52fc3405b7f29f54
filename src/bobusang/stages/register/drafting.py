"""The draft of a wanted listing: what the product says, what the account adds, and never more stock than the policy."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec

from bobusang.kit.errors import Invalid
from bobusang.kit.money import Money
from bobusang.stages.register.model import Axis, Draft, Stock, Variant

if TYPE_CHECKING:
    from datetime import datetime

    from bobusang.stages.register.market import Abilities
    from bobusang.stages.register.model import Account, Option, Wanted


def today(abilities: Abilities, now: datetime) -> date:
    """The market's own day: its dates are not ours before nine in the morning."""
    return now.astimezone(ZoneInfo(abilities.zone)).date()


def drafted(wanted: Wanted, account: Account, abilities: Abilities, day: date) -> Draft:
    """The listing as it should be. No price is 0, which no guard lets out."""
    _same_currency(wanted, account, abilities)
    cells = grid(wanted.options, wanted.variants)
    return Draft(
        name=wanted.name,
        comments=wanted.comments,
        brand_id=wanted.brand_id,
        category_id=wanted.category_id,
        price=0 if wanted.price is None else wanted.price.amount_minor,
        available_until=last_day(account, abilities, day),
        buying_area=account.buying_area,
        shipping_area=account.shipping_area,
        shipping_methods=account.shipping_methods,
        images=wanted.images,
        options=wanted.options,
        variants=tuple(_counted(cell) for cell in cells),
        order_quantity=quantity(cells, account.policy.most),
        brand_name=wanted.brand_name,
        shop_name=account.shop_name,
        duty=account.duty,
        style_numbers=wanted.style_numbers,
        size_unit=wanted.size_unit,
        notes=wanted.notes,
    )


def last_day(account: Account, abilities: Abilities, day: date) -> date:
    """Until when something that is told to the market today is offered there."""
    return day + timedelta(days=min(account.policy.days, abilities.longest_days))


def _same_currency(wanted: Wanted, account: Account, abilities: Abilities) -> None:
    """A price in won is refused, and so are its bounds: a ceiling in won would let ten times the yen through."""
    for name, money in (("price", wanted.price), ("floor", wanted.floor), ("ceiling", wanted.ceiling)):
        if isinstance(money, Money) and money.currency != abilities.currency:
            raise Invalid(
                f"{wanted.sku}: the {name} {money} is not in {abilities.currency}",
                hint=f"quote it for {account.market}",
                field=name,
            )


def grid(options: tuple[Option, ...], variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    """Every colour with every size, in the order of the options; a cell nobody offers is out of stock."""
    colors, sizes = (axis_keys(options, axis) for axis in (Axis.COLOR, Axis.SIZE))
    known = {(variant.color, variant.size): variant for variant in variants}
    return tuple(
        known.get((color, size)) or Variant(color, size, Stock.OUT)
        for color in colors or ("",)
        for size in sizes or ("",)
    )


def _counted(variant: Variant) -> Variant:
    """A count is told only of what we hold; for the rest the market has no place, and a changed one is no news."""
    return variant if variant.stock is Stock.IN_HAND else msgspec.structs.replace(variant, count=None)


def axis_keys(options: tuple[Option, ...], axis: Axis) -> tuple[str, ...]:
    return tuple(option.key for option in options if option.axis is axis)


def quantity(variants: tuple[Variant, ...], most: int) -> int:
    """How many may be ordered: what is counted, never above the policy, 0 when nothing is there."""
    sold = [variant for variant in variants if variant.stock in (Stock.IN_HAND, Stock.TO_ORDER)]
    if not sold:
        return 0
    counted = [variant.count for variant in sold]
    return most if None in counted else min(most, max(1, sum(count or 0 for count in counted)))
