"""BUYMA's rules in memory, exact in what matters here: it answers first, works later, and tells by signed webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Unavailable
from bobusang.kit.http import Answer

if TYPE_CHECKING:
    from bobusang.kit.http import Call

SECRET = "example-client-secret"
LOCKED = ("name", "brand_id", "category_id", "buying_area_id", "shipping_area_id", "buying_shop_name")
Hook = tuple[dict[str, str], bytes]


def _cells(product: dict[str, Any]) -> list[str]:
    return sorted(json.dumps(variant["options"]) for variant in product["variants"])


class Mood(StrEnum):
    """What becomes of a call."""

    FINE = "fine"
    DEAF = "deaf"  # never arrives, no answer
    MUTE = "mute"  # arrives, no answer
    BUSY = "busy"  # 429
    SHUT = "shut"  # 401


@dataclass(slots=True)
class Shop:
    """One seller's products."""

    mood: Mood = Mood.FINE
    products: dict[int, dict[str, Any]] = field(default_factory=dict)
    queue: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    ticks: int = 0

    async def send(self, call: Call) -> Answer:
        if self.mood is Mood.DEAF:
            raise Unavailable("no connection")
        if self.mood in (Mood.BUSY, Mood.SHUT):
            return Answer(call.url, 429 if self.mood is Mood.BUSY else 401, {}, b"")
        product = json.loads(call.body or b"")["product"]
        self.calls.append(product)
        uid = f"u{len(self.calls)}"
        self.queue.append((uid, call.url.rsplit("/", 1)[1], product))
        if self.mood is Mood.MUTE:
            raise Unavailable("no answer")
        return Answer(call.url, 201, {}, json.dumps({"request_uid": uid}).encode())

    async def close(self) -> None:
        pass

    def work(self) -> list[Hook]:
        """Do all that was accepted, in order; one webhook each."""
        queue, self.queue = self.queue, []
        return [self._done(uid, path, told) for uid, path, told in queue]

    def _done(self, uid: str, path: str, told: dict[str, Any]) -> Hook:
        self.ticks += 1
        reference, id = told["reference_number"], told.get("id")
        known = next((n for n, one in self.products.items() if one["reference_number"] == reference), None)
        found = id if id in self.products else (known if id is None else None)
        if found is None and (id is not None or path == "variants.json"):
            return self.hook("product/fail_to_update", self._failure(uid, reference, {"id": ["商品IDは不正な値です"]}))
        if found is not None and path == "variants.json" and _cells(told) != _cells(self.products[found]):
            errors = {"variants": ["バリエーションに過不足があります"]}
            return self.hook("product/fail_to_update", self._failure(uid, reference, errors))
        if found is not None and "price" in told:
            changed = {name for name in LOCKED if told.get(name) != self.products[found].get(name)}
            if changed:
                errors = {name: ["変更できません。"] for name in sorted(changed)}
                return self.hook("product/fail_to_update", self._failure(uid, reference, errors))
        event = "product/create" if found is None else "product/update"
        place = len(self.products) + 100 if found is None else found
        kept = {name: value for name, value in told.items() if name not in ("control", "id")}
        self.products[place] = {**self.products.get(place, {}), **kept, "id": place}
        return self.hook(event, self.said(place))

    @staticmethod
    def _failure(uid: str, reference: str, errors: dict[str, Any]) -> dict[str, Any]:
        return {"request_uid": uid, "reference_number": reference, "errors": errors}

    def said(self, id: int) -> dict[str, Any]:
        """How a product stands."""
        product = self.products[id]
        is_out = all(variant["stock_type"] == "out_of_stock" for variant in product["variants"])
        product["status"] = "buyer_suspended" if is_out else "public"
        minutes, seconds = divmod(self.ticks, 60)
        product["updated_at"] = f"2026-03-02 {minutes // 60:02}:{minutes % 60:02}:{seconds:02} +0900"
        return dict(product)

    @staticmethod
    def hook(event: str, told: dict[str, Any], secret: str = SECRET) -> Hook:
        """A signed webhook."""
        body = json.dumps(told).encode()
        signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
        return {"X-Buyma-Event": event, "X-Buyma-Hmac-Sha256": signature}, body
