"""Listings in words: what a refusal means and what to do about it, why nothing is sent, what steps and fields are
called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.entry.web.languages import N_
from bobusang.flows.conveyor.previewing import AS_CONFIRMED
from bobusang.kit.errors import BobusangError
from bobusang.kit.money import Money
from bobusang.stages.register.market import Cause

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Told:
    """A cause of refusals: its short name, what it means, what to do, and where."""

    label: str
    means: str
    do: str
    href: str = ""
    action: str = ""


CAUSES = {
    Cause.DATA: Told(
        N_("something wrong in the data"),
        N_("The market found something wrong in what we sent."),
        N_(
            "Correct the product (name, text, pictures, options). As soon as what is sent changes, it is tried again "
            "by itself."
        ),
        "/products/%(product)s",
        N_("Open the product"),
    ),
    Cause.MAPPING: Told(
        N_("wrong mapping"),
        N_("A brand, category, colour, size or delivery code means something else to the market."),
        N_("Correct the mapping, or import the market's newest lists. The next run tries it again by itself."),
        "/held/brands",
        N_("Open the mappings"),
    ),
    Cause.OUTAGE: Told(
        N_("fault of the market"),
        N_("The market could not work on it: a fault of theirs, or our pictures could not be fetched."),
        N_(
            "Nothing needs to be done, it is tried again by itself. If it stays so, check that our pictures can be "
            "reached from outside."
        ),
        "/alerts",
        N_("Open the alerts"),
    ),
    Cause.PERMANENT: Told(
        N_("not wanted"),
        N_("The market does not want this product, or does not let it be changed."),
        N_("Leave it as it is. Only another name, brand or category lets it be tried again."),
        "/products/%(product)s",
        N_("Open the product"),
    ),
}
READ = (
    N_("BUYMA could not fetch a picture: check that its address is public"),
    N_("BUYMA had a fault of its own"),
    N_("BUYMA does not let this product be deleted"),
    N_("BUYMA does not let this product be edited"),
    N_("the field is frozen once published: send it as registered"),
    N_("BUYMA has no product with this id"),
    N_("BUYMA has no such product, or it is suspended"),
    N_("the brand is not in BUYMA's list, or may not be sold: review its mapping"),
    N_("BUYMA does not take the brand's name: review its mapping"),
    N_("the category is not in BUYMA's list: review its mapping"),
    N_("a character that BUYMA does not take: Hangul, or an invisible one"),
    N_("a measurement that the category does not know: review its keys"),
    N_("the colour or size is not in BUYMA's list: review its mapping"),
    N_("the grid of colours and sizes has a hole, or another spelling"),
    N_("the account's buying area is not in BUYMA's list"),
    N_("the account's shipping area is not in BUYMA's list"),
    N_("the account does not have this shipping method"),
    N_("BUYMA does not take this value"),
    N_("BUYMA refused it without a reason that we can read"),
)
"""What the connector reads out of refusals; catalogues find it by these very words."""
STEPS = {
    "seen": N_("seen at the mall"),
    "changed": N_("change noticed"),
    "decided": N_("price decided"),
    "intended": N_("intent written"),
    "sent": N_("sent"),
    "accepted": N_("accepted by the market"),
    "confirmed": N_("confirmed by the market"),
    "read back": N_("read back"),
}
FIELDS = {
    "name": N_("Product name"),
    "comments": N_("Description"),
    "brand_id": N_("Brand number"),
    "brand_name": N_("Brand"),
    "category_id": N_("Category number"),
    "price": N_("Price"),
    "available_until": N_("On sale until"),
    "buying_area": N_("Buying area"),
    "shipping_area": N_("Shipping area"),
    "shipping_methods": N_("Shipping methods"),
    "images": N_("Pictures"),
    "options": N_("Options"),
    "variants": N_("Stock of the options"),
    "order_quantity": N_("Quantity"),
    "shop_name": N_("Shop name"),
    "duty": N_("Duty"),
    "style_numbers": N_("Style numbers"),
    "size_unit": N_("Size unit"),
    "notes": N_("Notes"),
}
WHY = (
    (AS_CONFIRMED, N_("The market has it exactly as it should be.")),
    ("it has no pictures yet", N_("It has no pictures yet.")),
    ("the market has not judged the last call yet", N_("The market has not judged the last call yet.")),
    ("its price is held: ", N_("Its price is held: %(said)s")),
    ("held: ", N_("A guard would hold it: %(said)s")),
    ("the market would refuse it: ", N_("The market would refuse it: %(said)s")),
    ("refused (", N_("The market has refused it, and nothing about it has changed since.")),
)


def why(text: str, say: Callable[..., str]) -> str:
    """Why nothing would be sent, in the visitor's language as far as it is ours."""
    for begins, told in WHY:
        if text.startswith(begins):
            return say(told, said=text.removeprefix(begins)) if "%(said)s" in told else say(told)
    return text


def field(name: str) -> str:
    """What a field of a listing is called, to be translated; one that has no name of ours as it is."""
    return FIELDS.get(name, name) or "–"


def refused(text: str, say: Callable[..., str]) -> list[str]:
    """A refusal as it is kept (`field: words; field: words`), each in the visitor's language."""
    parts = [part.partition(": ") for part in text.split("; ")]
    return [f"{say(field(name))}: {say(told)}" if told else say(name) for name, _, told in parts]


def legible(text: str | None) -> str:
    """What went over the wire as a person reads it; what is no JSON as it is."""
    try:
        return msgspec.json.format(text or "", indent=2)
    except msgspec.DecodeError:
        return text or ""


def moved(before: Any, after: Any) -> tuple[list[str], list[str]]:
    """What goes and what comes: of lists only the parts that differ."""
    old, new = (msgspec.to_builtins(one) for one in (before, after))
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        gone = [_text(one) for one in old if one not in new]
        come = [_text(one) for one in new if one not in old]
        return (gone, come) if gone or come else ([_text(old)], [_text(new)])
    return ([] if old is None else [_text(old)]), ([] if new is None else [_text(new)])


def worth(amount: int | None, currency: str) -> str:
    """Minor units as people write them; of a currency that nobody knows, the bare number."""
    if amount is None:
        return "–"
    try:
        return str(Money(amount, currency or "KRW"))
    except BobusangError:
        return f"{amount:,}"


def is_web(address: object) -> bool:
    """Whether an address may become a link: whatever runs something else stays text."""
    return isinstance(address, str) and address.lower().startswith(("https://", "http://"))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return " · ".join(str(one) for one in value.values() if one not in (None, "", 0, [], ()))
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
