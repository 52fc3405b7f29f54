"""Orders: a buyer takes one of a variant, the seller hears of it and can list it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Conflict, Invalid
from bobusang.sandbox.buyma.grid import StockType, cell
from bobusang.sandbox.buyma.listing import TOKYO, Listing, Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bobusang.sandbox.buyma.account import Account

FIRST_ID = 7_000_000
KEPT = 20_000
OPEN = ("waiting_on_payment", "new")
STATUSES = (*OPEN, "product_sent", "product_received", "canceled", "forcibly_canceled")
Order = dict[str, Any]


class Orders:
    """All orders, oldest first."""

    def __init__(self) -> None:
        self._orders: dict[int, tuple[Account, Order]] = {}

    def place(self, listing: Listing, color: str, size: str, amount: int, now: datetime) -> Order:
        """A buyer orders; what is left becomes less, and the last one sold out."""
        if listing.state(now) is not Status.PUBLIC:
            raise Conflict(f"listing {listing.id} is {listing.state(now)}, nobody can buy it")
        if len(self._orders) >= KEPT:
            raise Invalid(f"{KEPT:,} orders are enough", hint="POST /admin/reset begins anew")
        _take(listing, (color, size), amount)
        order = _order(FIRST_ID + len(self._orders) + 1, listing, f"{color} / {size}", amount, now)
        self.put(listing.account, order)
        return order

    def of(self, account: Account, status: str = "any") -> list[Order]:
        """A seller's orders."""
        wanted = {"any": STATUSES, "open": OPEN}.get(status, (status,))
        return [order for whose, order in self.since(0) if whose.token == account.token and order["status"] in wanted]

    def get(self, account: Account, id: int) -> Order | None:
        """One of them."""
        whose, order = self._orders.get(id, (None, None))
        return order if whose is not None and whose.token == account.token else None

    def since(self, count: int) -> Iterable[tuple[Account, Order]]:
        """All but the first so many, with whose they are."""
        return islice(self._orders.values(), count, None)

    def put(self, account: Account, order: Order) -> None:
        """An order that was placed before."""
        self._orders[order["id"]] = (account, order)

    def __len__(self) -> int:
        return len(self._orders)


def _take(listing: Listing, wanted: tuple[str, str], amount: int) -> None:
    variants = [dict(variant) for variant in listing.fields["variants"]]
    found = next((one for one in variants if cell(one) == wanted), None)
    if found is None or found["stock_type"] == StockType.OUT:
        raise Invalid(f"listing {listing.id} does not sell {' / '.join(wanted)}")
    quantity = listing.fields.get("order_quantity")
    left = int((found["stocks"] if found["stock_type"] == StockType.IN_HAND else quantity) or 0)
    if not 1 <= amount <= left:
        raise Conflict(f"only {left} are left", hint="order fewer")
    if found["stock_type"] == StockType.IN_HAND:
        found["stocks"] -= amount
    else:
        quantity = left - amount
    listing.fields = {**listing.fields, "variants": variants, "order_quantity": quantity}
    if not any(_is_left(variant, quantity) for variant in variants):
        listing.status = Status.SOLDOUT


def _is_left(variant: dict[str, Any], quantity: int | None) -> bool:
    match variant["stock_type"]:
        case StockType.IN_HAND:
            return bool(variant["stocks"])
        case StockType.FOR_ORDER:
            return bool(quantity)
    return False


def _order(id: int, listing: Listing, color_size: str, amount: int, now: datetime) -> Order:
    price = listing.list_price
    fields = listing.fields
    return {
        "id": id,
        "status": "new",
        "seller_id": listing.account.seller_id,
        "customer_id": 5_000_000 + id % 997,
        "product": {
            "id": listing.id,
            "reference_number": listing.reference,
            "name": fields["name"],
            "comments": fields["comments"],
        },
        "unit_price": price,
        "subtotal_price": price * amount,
        "amount": amount,
        "color_size_text": color_size,
        "order_message": "",
        "ordered_at": now.astimezone(TOKYO).strftime("%Y-%m-%d %H:%M:%S %z"),
        "recipient": {"last_name": "見本", "first_name": "花子", "country": "JP", "zip_code": "100-0001"},
    }
