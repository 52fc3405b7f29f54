"""Wanted against confirmed: the smallest call that makes the listing right, or none.

What the market froze stays as it is registered, and so does the spelling of every option: the market knows an option by
nothing else. An option that vanished is out of stock, not gone; stock nobody knows is what it was.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

import msgspec

from bobusang.stages.register.drafting import grid
from bobusang.stages.register.model import Axis, Draft, Listing, Option, Policy, State, Stock, Variant

if TYPE_CHECKING:
    from datetime import date, datetime

    from bobusang.stages.register.market import Abilities


class Kind(StrEnum):
    """What a call is for."""

    CREATE = "CREATE"
    EDIT = "EDIT"
    STOCK = "STOCK"
    CLOSE = "CLOSE"
    REVIVE = "REVIVE"
    EXTEND = "EXTEND"

    @property
    def by_stock(self) -> bool:
        return self in (Kind.STOCK, Kind.CLOSE)


class Way(StrEnum):
    """How a change is told to the market: the refusal of one way says nothing of the others."""

    EDIT = "edit"  # a product with all that is new of it
    WHOLE = "whole"  # a product as it is registered, but for its stock or its end date
    STOCK = "stock"  # stock alone


class Urgency(IntEnum):
    """Who goes first when calls are scarce."""

    STOCK_OUT = 0
    PRICE_DOWN = 1
    PRICE_UP = 2
    CONTENT = 3
    NEW = 4


@dataclass(frozen=True, slots=True)
class Step:
    """One call that could be made."""

    kind: Kind
    target: Draft
    urgency: Urgency
    changed: tuple[str, ...] = ()
    is_whole: bool = False
    """Sent as a product with all its fields though stock alone would do."""
    offers: bool = False
    """A stock call by which more is for sale than is confirmed, whatever else it takes away."""

    @property
    def by_stock(self) -> bool:
        return self.kind.by_stock and not self.is_whole

    @property
    def way(self) -> Way:
        return way_of(self.kind, by_stock=self.by_stock)


def way_of(kind: Kind, *, by_stock: bool) -> Way:
    """How a call of a kind is told; `by_stock`: by the stock call."""
    if by_stock:
        return Way.STOCK
    return Way.WHOLE if kind.by_stock or kind is Kind.EXTEND else Way.EDIT


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing is sent, and why."""

    reason: str
    is_refused: bool = False
    """Not because all is well: the market would refuse it again."""
    until: datetime | None = None
    """When that is over by itself."""


_ADDRESS = re.compile(r"[0-9a-f]{64}")
STOCK_FIELDS = frozenset({"variants", "order_quantity"})
CLOSED = {
    State.DELETED: "it was deleted at the market: `bobusang product renew` lists it anew",
    State.REMOVED: "the market removed it: where it may be sold, `bobusang product renew` lists it anew",
    State.BLOCKED: "the market suspended it: a person decides",
    State.IN_REVIEW: "the market is reviewing it",
}


def steps(
    wanted: Draft, listing: Listing, abilities: Abilities, policy: Policy, day: date, *, is_fresh: bool = True
) -> tuple[Step, ...] | Idle:
    """The calls to choose from, best first: the others are for when a guard stops the first. `is_fresh`: the mall was
    looked at after the market last spoke; if not, what the market has less of may have been sold since."""
    if listing.confirmed is None or not listing.market_id:
        return _first(wanted)
    if listing.state in CLOSED:
        return Idle(CLOSED[listing.state])
    target = aligned(wanted, listing.confirmed, abilities)
    if not is_fresh and listing.state is State.SOLD_OUT:
        return Idle("the market sold the last one, and the mall was not looked at since")
    if not is_fresh and listing.state is State.LIVE:
        target = unraised(target, listing.confirmed)
    if target.is_sold_out:
        return _closing(target, listing)
    if listing.state is State.LIVE:
        return _editing(target, listing.confirmed, policy, day)
    return _reviving(wanted, target, listing)


def _first(wanted: Draft) -> tuple[Step, ...] | Idle:
    """Only what can be sold is registered, and what never was there is never closed (940 refusals at a peer)."""
    if not _sellable(wanted):
        return Idle("nothing of it is known to be in stock, and the market does not have it")
    settled = msgspec.structs.replace(wanted, variants=tuple(_settled(variant, None) for variant in wanted.variants))
    return (Step(Kind.CREATE, settled, Urgency.NEW),)


def _closing(target: Draft, listing: Listing) -> tuple[Step, ...] | Idle:
    assert listing.confirmed is not None
    if listing.state is not State.LIVE:
        return Idle("sold out, and not for sale anyway")
    return (Step(Kind.CLOSE, only_stock(target, listing.confirmed), Urgency.STOCK_OUT, ("variants",)),)


def _reviving(wanted: Draft, target: Draft, listing: Listing) -> tuple[Step, ...] | Idle:
    """An edit brings a suspended listing back under its own id; the stock call is refused for one."""
    assert listing.confirmed is not None
    changed = differing(target, listing.confirmed)
    if listing.state is State.NOT_APPROVED and not set(changed) - STOCK_FIELDS:
        return Idle("the market did not approve it, and its content is the same")
    if not _sellable(wanted):
        return Idle("nothing of it is known to be in stock")
    return (Step(Kind.REVIVE, target, Urgency.CONTENT, ("state", *changed)),)


def _sellable(draft: Draft) -> bool:
    return any(variant.stock in (Stock.IN_HAND, Stock.TO_ORDER) for variant in draft.variants)


def _editing(target: Draft, confirmed: Draft, policy: Policy, day: date) -> tuple[Step, ...] | Idle:
    changed, extended = differing(target, confirmed), _extending(target, confirmed, policy, day)
    if not changed:
        return extended or Idle("as confirmed")
    stock = only_stock(target, confirmed)
    # Where only new options are left, the registered ones alone are a listing that nobody can buy: that is closing it,
    # and is counted as such.
    kind = Kind.CLOSE if stock.is_sold_out else Kind.STOCK
    fields, offers = tuple(sorted(STOCK_FIELDS & set(changed))), offers_more(stock, confirmed)
    by_stock = Step(kind, stock, _stock_urgency(stock, confirmed), fields, offers=offers)
    if set(changed) <= STOCK_FIELDS:
        return (by_stock, *extended)
    edit = Step(Kind.EDIT, target, min(_edit_urgency(target, confirmed), _stock_urgency(target, confirmed)), changed)
    return (edit, by_stock, *extended) if differing(stock, confirmed) else (edit, *extended)


def _extending(target: Draft, confirmed: Draft, policy: Policy, day: date) -> tuple[Step, ...]:
    """As it is registered, with a new end date, when the old one is near: what is faulty, refused or held must not let
    a listing lapse. One that offers what is not to be sold is not extended."""
    if confirmed.available_until - day > timedelta(days=policy.extend) or offers_more(confirmed, target):
        return ()
    images = target.images if _compared(target, "images") == _compared(confirmed, "images") else confirmed.images
    as_it_is = msgspec.structs.replace(confirmed, available_until=target.available_until, images=images)
    return (Step(Kind.EXTEND, as_it_is, Urgency.CONTENT, ("available_until",)),)


def differing(target: Draft, confirmed: Draft) -> tuple[str, ...]:
    """The fields that are not the same; the end date is not compared, it is extended when it is time, and pictures are
    compared by what they show, not by where they lie."""
    names = [name for name in Draft.__struct_fields__ if name != "available_until"]
    return tuple(name for name in names if _compared(target, name) != _compared(confirmed, name))


def _compared(draft: Draft, name: str) -> object:
    return tuple(content_of(url) for url in draft.images) if name == "images" else getattr(draft, name)


def frozen_differences(wanted: Draft, confirmed: Draft, abilities: Abilities) -> tuple[str, ...]:
    """What we would like otherwise and the market does not let us change: shown, never sent."""
    return tuple(sorted(name for name in abilities.frozen if getattr(wanted, name) != getattr(confirmed, name)))


def _edit_urgency(target: Draft, confirmed: Draft) -> Urgency:
    if target.price < confirmed.price:
        return Urgency.PRICE_DOWN
    return Urgency.PRICE_UP if target.price > confirmed.price else Urgency.CONTENT


def _stock_urgency(target: Draft, confirmed: Draft) -> Urgency:
    """Whatever can no longer be delivered is urgent; more of something is not."""
    gone = offered(confirmed) - offered(target)
    return Urgency.STOCK_OUT if gone or target.order_quantity < confirmed.order_quantity else Urgency.CONTENT


def offers_more(draft: Draft, wish: Draft) -> bool:
    """Whether a draft has something for sale that is not to be, or more of it."""
    return bool(offered(draft) - offered(wish)) or draft.order_quantity > wish.order_quantity


def offered(draft: Draft) -> set[tuple[str, str]]:
    """The cells that are for sale."""
    return {(variant.color, variant.size) for variant in draft.variants if variant.stock is not Stock.OUT}


# --- as registered --------------------------------------------------------------------------------------------------


def aligned(wanted: Draft, confirmed: Draft, abilities: Abilities) -> Draft:
    """What is wanted, in the words that are registered."""
    names = registered_keys(wanted.options, confirmed.options)
    new = tuple(option for option in wanted.options if (option.axis, option.key) not in names)
    options = tuple(_refreshed(option, wanted.options, names) for option in confirmed.options) + new
    before = {(variant.color, variant.size): variant for variant in confirmed.variants}
    named = [_renamed(variant, names) for variant in wanted.variants]
    settled = tuple(_settled(variant, before.get((variant.color, variant.size))) for variant in named)
    variants = grid(options, settled)
    frozen = {name: getattr(confirmed, name) for name in abilities.frozen}
    return msgspec.structs.replace(
        wanted,
        **frozen,
        options=options,
        variants=variants,
        order_quantity=_quantity(wanted, confirmed, variants),
    )


def unraised(target: Draft, confirmed: Draft) -> Draft:
    """The target with no more of anything than the market has now."""
    before = {(variant.color, variant.size): variant.count for variant in confirmed.variants}
    variants = tuple(_unraised(variant, before.get((variant.color, variant.size))) for variant in target.variants)
    quantity = min(target.order_quantity, confirmed.order_quantity or target.order_quantity)
    return msgspec.structs.replace(target, variants=variants, order_quantity=quantity)


def _unraised(variant: Variant, count: int | None) -> Variant:
    if variant.count is None or count is None or variant.count <= count:
        return variant
    return msgspec.structs.replace(variant, count=count)


def only_less(step: Step, confirmed: Draft) -> Step | None:
    """The part of a stock call by which nothing more is for sale; None where nothing is gone, or nothing would be left:
    that is closing, and not asked for."""
    before = {(variant.color, variant.size): variant for variant in confirmed.variants}
    less = unraised(step.target, confirmed)
    variants = tuple(_unopened(variant, before.get((variant.color, variant.size))) for variant in less.variants)
    less = msgspec.structs.replace(less, variants=variants)
    if less.is_sold_out or not differing(less, confirmed):
        return None
    return replace(step, target=less, urgency=Urgency.STOCK_OUT, offers=False)


def _unopened(variant: Variant, before: Variant | None) -> Variant:
    return before if before is not None and before.stock is Stock.OUT else variant


def content_of(url: str) -> str:
    """What a picture is, wherever it lies: its content's address. A shop that moves its pictures has changed none."""
    found = _ADDRESS.findall(url)
    return found[-1] if found else url


def _quantity(wanted: Draft, confirmed: Draft, variants: tuple[Variant, ...]) -> int:
    if all(variant.stock is Stock.OUT for variant in variants):
        return 0
    return wanted.order_quantity or max(1, confirmed.order_quantity)


def registered_keys(wanted: tuple[Option, ...], registered: tuple[Option, ...]) -> dict[tuple[Axis, str], str]:
    """By axis and wanted key, the key it is registered with: found by code, then by text, each at most once."""
    found: dict[tuple[Axis, str], str] = {}
    free = list(registered)
    for same in (_same_code, _same_text):
        for option in wanted:
            if (option.axis, option.key) in found:
                continue
            match = next((known for known in free if known.axis is option.axis and same(known, option)), None)
            if match is not None:
                found[option.axis, option.key] = match.key
                free.remove(match)
    return found


def _same_code(known: Option, option: Option) -> bool:
    return bool(option.code) and known.code == option.code


def _same_text(known: Option, option: Option) -> bool:
    """Two codes that differ are two options, whatever they are called."""
    return not (known.code and option.code) and bool(option.text) and known.text == option.text


def _refreshed(registered: Option, wanted: tuple[Option, ...], names: dict[tuple[Axis, str], str]) -> Option:
    """Measurements may be edited; identity and spelling stay."""
    for option in wanted:
        if option.axis is registered.axis and names.get((option.axis, option.key)) == registered.key:
            return msgspec.structs.replace(registered, details=option.details)
    return registered


def _renamed(variant: Variant, names: dict[tuple[Axis, str], str]) -> Variant:
    color = names.get((Axis.COLOR, variant.color), variant.color)
    size = names.get((Axis.SIZE, variant.size), variant.size)
    return msgspec.structs.replace(variant, color=color, size=size)


def _settled(variant: Variant, before: Variant | None) -> Variant:
    """Unknown is not sold out: it stays what it was; what never was there is not offered."""
    if variant.stock is not Stock.UNKNOWN:
        return variant
    return before or msgspec.structs.replace(variant, stock=Stock.OUT, count=None)


def only_stock(target: Draft, confirmed: Draft) -> Draft:
    """The confirmed listing with the target's stock, over the registered grid and no other."""
    known = {(variant.color, variant.size): variant for variant in target.variants}
    variants = tuple(known.get((old.color, old.size)) or old for old in confirmed.variants)
    offered = any(variant.stock is not Stock.OUT for variant in variants)
    return msgspec.structs.replace(confirmed, variants=variants, order_quantity=target.order_quantity if offered else 0)


def whole(stock: Step, options: tuple[Option, ...], until: date, images: tuple[str, ...]) -> Step:
    """A stock call as a product call, over a grid that the market may not have: a stock call with a hole is refused,
    and what is gone would stay for sale. All else is as registered, but for a date and pictures that are good today."""
    target = msgspec.structs.replace(
        stock.target,
        options=options,
        variants=grid(options, stock.target.variants),
        available_until=until,
        images=images or stock.target.images,
    )
    return replace(stock, target=target, is_whole=True)
