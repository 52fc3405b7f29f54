"""Ownerclan's orders: one input becomes several orders, one for each vendor and way of shipping."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.ownerclan import goods
from bobusang.sandbox.ownerclan.graphql import GraphError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.sandbox.scene import Scene

FIRST = 20_261_100_000
KEPT = 10_000


class Orders:
    """The orders of one seller, by key."""

    def __init__(self) -> None:
        self.placed: dict[str, dict[str, Any]] = {}

    def create(self, scene: Scene, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        """`createOrder`: an array, split by vendor and shippingType."""
        order = _input(told)
        if len(self.placed) >= KEPT:
            raise GraphError("the sandbox keeps no more orders")
        return [self._place(scene, order, lines) for lines in _split(scene, order).values()]

    def simulate(self, scene: Scene, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        """`simulateCreateOrder`: what each of the orders would cost; the dearest shipping of several counts."""
        found = []
        for lines in _split(scene, _input(told)).values():
            amounts = [
                {"__typename": "ItemAmount", "amount": price * line["quantity"], "itemKey": line["itemKey"]}
                for line, _, price in lines
            ]
            fee = max(product.shipping_fee for _, product, _ in lines)
            extra = {"shippingAmount": fee, "extraShippingFeeExists": False}
            found.append({"__typename": "Simulation", "itemAmounts": amounts, **extra})
        return found

    def order(self, told: Mapping[str, Any]) -> dict[str, Any] | None:
        """`order`."""
        return self.placed.get(str(told.get("key", "")))

    def _place(self, scene: Scene, order: Mapping[str, Any], lines: list[Any]) -> dict[str, Any]:
        key = str(FIRST + len(self.placed) + 1)
        now = goods.milliseconds(scene.world.chronicle.at(scene.world.hours))
        found = {
            "__typename": "Order",
            "id": "Order," + base64.b64encode(key.encode()).decode(),
            "key": key,
            "products": [_product(line, product, price) for line, product, price in lines],
            "status": "placed",
            "shippingInfo": None,
            "createdAt": now,
            "updatedAt": now,
            "note": order.get("note"),
            "ordererNote": order.get("ordererNote"),
            "sellerNote": order.get("sellerNote"),
            "isBeingMediated": False,
            "adjustments": [],
            "refundDetails": [],
            "transactions": [],
        }
        self.placed[key] = found
        return found


def _input(told: Mapping[str, Any]) -> Mapping[str, Any]:
    order = told.get("input")
    if not isinstance(order, dict) or not isinstance(order.get("products"), list) or not order["products"]:
        raise GraphError('Argument "input" of type "OrderInput!" needs products.')
    for name in ("sender", "recipient"):
        if not isinstance(order.get(name), dict):
            raise GraphError(f'Field "OrderInput.{name}" of required type was not provided.')
    return order


def _split(scene: Scene, order: Mapping[str, Any]) -> dict[tuple[str, str], list[Any]]:
    found: dict[tuple[str, str], list[Any]] = {}
    for line in order["products"]:
        no = goods.number_of(str(line.get("itemKey", "")))
        one = scene.standing("ownerclan", no) if no is not None else None
        if one is None or goods.status(one.product, one) != "available":
            raise GraphError(f"The item {line.get('itemKey')} cannot be ordered.")
        place = goods.vendor(one.product), goods.shipping_type(one.product)
        found.setdefault(place, []).append((line, one.product, one.price))
    return found


def _product(line: Mapping[str, Any], product: Any, price: int) -> dict[str, Any]:
    values = [{"__typename": "OptionAttribute", "name": "", "value": one} for one in line.get("optionAttributes", [])]
    return {
        "__typename": "OrderProduct",
        "key": f"{line['itemKey']}-{line['quantity']}",
        "quantity": line["quantity"],
        "price": price,
        "shippingType": goods.shipping_type(product),
        "itemKey": line["itemKey"],
        "productName": product.title,
        "itemOptionInfo": {"__typename": "ItemOptionInfo", "optionAttributes": values, "price": price},
        "trackingNumber": None,
        "shippingCompanyCode": None,
        "shippingCompanyName": None,
        "shippedDate": None,
        "taxFree": False,
        "sellerNote": None,
    }
