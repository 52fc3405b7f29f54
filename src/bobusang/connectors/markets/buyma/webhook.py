"""BUYMA's webhooks: signed raw bytes, a product at the root or the errors of a request, compared with what was sent."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.markets.buyma.body import STOCK_TYPES
from bobusang.connectors.markets.buyma.refusals import problems
from bobusang.kit import json
from bobusang.kit.clock import text
from bobusang.kit.errors import Invalid
from bobusang.stages.register.market import Difference, Notice, Word
from bobusang.stages.register.model import Axis, Draft, Stock, Variant

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

EVENT, SIGNATURE = "x-buyma-event", "x-buyma-hmac-sha256"
STANDS = frozenset({"product/create", "product/update"})
FAILED = frozenset({"product/fail_to_create", "product/fail_to_update"})
TOKYO = timezone(timedelta(hours=9))
COMPARED = ("name", "price", "brand_id", "category_id", "available_until", "order_quantity", "comments")
STOCKS = {word: stock for stock, word in STOCK_TYPES.items()}
NUMBERS = ("price", "list_price", "order_quantity")
MOST = 10**9
"""Of yen and of pieces nobody sells as much: what is more, or less than nothing, is no number of a product."""
LONGEST_ID = 40
YEARS = range(2000, 2100)
"""A time outside of them would be older or newer than all that the market will ever say of the product."""
Cells = dict[tuple[str, str], tuple[str, int | None]]


def genuine(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether the bytes were signed with the app's secret; without a secret nothing is genuine."""
    given = headers.get(SIGNATURE, "")
    expected = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest())
    return bool(secret) and hmac.compare_digest(expected, given.encode(errors="replace"))


def notice(headers: Mapping[str, str], body: bytes) -> Notice:
    """What it says, within bounds that everybody keeps who reads on; readers have met the product at the root and
    inside `product`."""
    event = headers.get(EVENT, "")[:100]
    if event not in STANDS | FAILED:
        return Notice(Word.OTHER, event)
    root = json.loads(body)
    if not isinstance(root, dict):
        raise Invalid(f"a webhook {event} without an object", field="body")
    if json.NUL.encode() in body:
        raise Invalid(f"a webhook {event} with a NUL character", field="body")
    inner = root.get("product")
    product = inner if isinstance(inner, dict) else root
    uid = _text(root.get("request_uid"))
    if event in FAILED:
        told = problems(root.get("errors"))
        return Notice(Word.FAILED, event, _text(product.get("id")), _reference(product), uid, problems=told)
    if not _text(product.get("id")) or not isinstance(product.get("status"), str):
        raise Invalid(f"a webhook {event} without id or status", field="body")
    _check(product, event)
    return Notice(
        Word.STANDS,
        event,
        _text(product["id"]),
        _reference(product),
        uid,
        product["status"],
        _instant(product.get("updated_at")),
        product,
        shipping_charge=_shipping_charge(product),
    )


def _check(product: Mapping[str, Any], event: str) -> None:
    """Refuse what no product of BUYMA says, and no database keeps."""
    if len(_text(product["id"])) > LONGEST_ID:
        raise Invalid(f"a webhook {event} with an id of more than {LONGEST_ID} characters", field="id")
    told = [(name, product.get(name)) for name in NUMBERS]
    told += [("stocks", one.get("stocks")) for one in _objects(product.get("variants"))]
    for name, value in told:
        if isinstance(value, int) and not 0 <= value <= MOST:
            raise Invalid(f"a webhook {event} with a {name} that nothing has", field=name)


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _shipping_charge(product: Mapping[str, Any]) -> int | None:
    """`list_price` is read-only: the price with the cheapest shipping."""
    price, total = product.get("price"), product.get("list_price")
    if type(price) is not int or type(total) is not int:
        return None
    return total - price if total >= price else None


def _text(value: object) -> str:
    return str(value)[:100] if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _reference(product: Mapping[str, Any]) -> str:
    return _text(product.get("reference_number"))


def _instant(value: object) -> str:
    """Two shapes are known: `2019-10-10 14:42:57 +0900` and ISO 8601; without a zone it is Tokyo's."""
    if not isinstance(value, str):
        return ""
    try:
        found = datetime.fromisoformat(value.replace(" +", "+"))
    except ValueError:
        return ""
    if found.year not in YEARS:
        raise Invalid(f"a webhook of the year {found.year}", field="updated_at")
    return text(found if found.tzinfo else found.replace(tzinfo=TOKYO).astimezone(UTC))


# --- against what was sent ------------------------------------------------------------------------------------------


def differences(body: str, stands: Mapping[str, Any]) -> tuple[Difference, ...]:
    """Field by field, among those that a request names; pictures get other addresses, so they are not compared."""
    sent = json.loads(body)["product"]
    found = [
        Difference(name, sent[name], stands.get(name))
        for name in COMPARED
        if name in sent and _plain(name, sent[name]) != _plain(name, stands.get(name))
    ]
    if "variants" in sent and _cells(sent["variants"]) != _cells(stands.get("variants")):
        found.append(Difference("variants", sent["variants"], stands.get("variants")))
    if sent.get("control") == "delete" and "deleted" not in str(stands.get("status")):
        found.append(Difference("status", "deleted", stands.get("status")))
    return tuple(found)


def _plain(name: str, value: object) -> object:
    if name == "available_until":
        return str(value).replace("-", "/")[:10]
    return value.strip() if isinstance(value, str) else value


def _cells(variants: object) -> Cells:
    """Colour and size → how it is sold, and the count where one is kept."""
    found: Cells = {}
    for variant in _objects(variants):
        if not isinstance(variant.get("options"), list):
            continue
        chosen = {str(one.get("type")): str(one.get("value")) for one in _objects(variant["options"])}
        kind = str(variant.get("stock_type"))
        count = variant.get("stocks") if kind == STOCK_TYPES[Stock.IN_HAND] else None
        found[chosen.get("color", ""), chosen.get("size", "")] = kind, count
    return found


def corrected(draft: Draft, stands: Mapping[str, Any]) -> Draft:
    """The market's own price, name, quantity, stock and end date: what it has is what is compared with next."""
    cells = _cells(stands.get("variants"))
    names = {(option.axis, option.key): option.market_text for option in draft.options}
    told: dict[str, Any] = {"variants": tuple(_corrected(variant, names, cells) for variant in draft.variants)}
    for name, kind in (("name", str), ("price", int), ("order_quantity", int)):
        if isinstance(stands.get(name), kind) and not isinstance(stands[name], bool):
            told[name] = stands[name]
    if (day := _day(stands.get("available_until"))) is not None:
        told["available_until"] = day
    return msgspec.structs.replace(draft, **told)


def _day(value: object) -> date | None:
    try:
        return datetime.strptime(str(_plain("available_until", value)), "%Y/%m/%d").replace(tzinfo=TOKYO).date()
    except ValueError:
        return None


def _corrected(variant: Variant, names: dict[tuple[Axis, str], str], cells: Cells) -> Variant:
    place = names.get((Axis.COLOR, variant.color), ""), names.get((Axis.SIZE, variant.size), "")
    kind, count = cells.get(place, ("", None))
    if kind not in STOCKS:
        return variant
    return Variant(variant.color, variant.size, STOCKS[kind], count if isinstance(count, int) else None)
