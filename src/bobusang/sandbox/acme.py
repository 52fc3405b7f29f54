"""Acme: a supplier that tells by itself, by webhooks signed with their time; `/admin/acme/send` makes it send."""

from __future__ import annotations

import asyncio
import hmac
import time
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from bobusang.kit import json
from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox.desk import Asked, Route
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.world import World

MALL = "acme"
SECRET = "sandbox"  # noqa: S105 - known to everybody, and good for nothing but the sandbox
FORGERY = "forged-secret"
TYPES = ("product.created", "product.updated", "stock.changed", "product.deleted")
GENDERS = {"M": "men", "F": "women", "U": "unisex"}
LONG_AGO = 3600
"""Seconds by which a stale webhook is too old."""
AT_ONCE = 32
MOST = 100_000


class Send(msgspec.Struct, forbid_unknown_fields=True):
    """What is to be sent: events about products, `size` in each; every event `times` times.

    `keys` names the products; without them it is the first `count`. `reverse` sends the newest first.
    """

    to: str
    type: str = "product.updated"
    keys: list[str] = []
    count: int = 1
    size: int = 1
    times: int = 1
    reverse: bool = False
    forged: bool = False
    stale: bool = False
    wait: float = 30.0


class Acme:
    """The supplier."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._number = 0

    async def send(self, told: Send, host: str) -> dict[str, Any]:
        """Send events; their keys, and how often which status was answered (0: no answer)."""
        if told.type not in TYPES or not told.to.startswith(("http://", "https://")):
            raise Invalid(f"to is an address, type one of {', '.join(TYPES)}", field="type")
        if not 1 <= told.size <= 100 or not 1 <= told.times <= MOST or not 1 <= told.count <= MOST:
            raise Invalid("size is 1 to 100, times and count are 1 to 100,000", field="size")
        numbers = [int(key) for key in told.keys] if told.keys else list(self._numbers())[: told.count]
        events = [
            self.event(told.type, numbers[start : start + told.size], host)
            for start in range(0, len(numbers), told.size)
        ]
        letters = [event for event in (reversed(events) if told.reverse else events) for _ in range(told.times)]
        turns = asyncio.Semaphore(1 if told.reverse else AT_ONCE)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=told.wait)) as http:
            answers = await asyncio.gather(*(_sent(http, turns, told, one) for one in letters))
        return {
            "events": [json.loads(one)["event_id"] for one in events],
            "statuses": dict(sorted(Counter(str(status) for status in answers).items())),
        }

    def event(self, type: str, numbers: list[int], host: str) -> bytes:
        """One event as it is sent; each happens a millisecond after the one before."""
        self._number += 1
        at = self._world.now + timedelta(milliseconds=self._number)
        return json.dumps(
            {
                "event_id": f"evt-{self._world.seed}-{self._number:06}",
                "type": type,
                "occurred_at": at.isoformat(timespec="milliseconds"),
                "data": {"products": [self._product(type, no, host) for no in numbers]},
            }
        ).encode()

    def _product(self, type: str, no: int, host: str) -> dict[str, Any]:
        if type == "product.deleted":
            return {"sku": str(no)}
        found = self._world.standing(MALL, no)
        if found is None:
            raise Missing(f"acme has no product {no}", hint="leave keys out, or see /admin/truth?mall=acme&brand=…")
        return stock(found) if type == "stock.changed" else product(found, host)

    def _numbers(self) -> Iterator[int]:
        shelves = self._world.mall(MALL)
        return (no for brand in shelves.brands for no in shelves.numbers(self._world.hours, brand))


def stock(one: Standing) -> dict[str, Any]:
    """What a change of stock says."""
    options = [{"code": each.code, "stock": left} for each, left in zip(one.options, one.stocks, strict=True)]
    return {"sku": str(one.product.no), "sold_out": one.sold_out, "options": options}


def product(one: Standing, host: str) -> dict[str, Any]:
    """All that there is to say of a product."""
    goods = one.product
    return {
        "sku": str(goods.no),
        "name": goods.title,
        "brand": {"ko": goods.brand.ko, "en": goods.brand.en},
        "model": goods.model,
        "price": f"{one.price:,}원",
        "list_price": goods.list_price,
        "sold_out": one.sold_out,
        "gender": GENDERS[goods.gender],
        "category": list(goods.kind.path),
        "origin": goods.origin[0],
        "images": [f"http://{host}/acme/pictures/{goods.no}/{n}.jpg" for n in range(goods.pictures)],
        "url": f"http://{host}/acme/goods/{goods.no}",
        "options": [
            {"code": each.code, "color": each.color, "size": each.size, "stock": left}
            for each, left in zip(one.options, one.stocks, strict=True)
        ],
    }


def headers(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """The signature of a body, and the time that it is signed with."""
    stamp = str(int(time.time() if at is None else at))
    signature = hmac.digest(secret.encode(), f"{stamp}.".encode() + body, "sha256").hex()
    return {
        "Content-Type": "application/json",
        "X-Acme-Timestamp": stamp,
        "X-Acme-Signature": f"sha256={signature}",
    }


async def _sent(http: aiohttp.ClientSession, turns: asyncio.Semaphore, told: Send, body: bytes) -> int:
    async with turns:
        secret = FORGERY if told.forged else SECRET
        signed = headers(body, secret=secret, at=time.time() - (LONG_AGO if told.stale else 0))
        try:
            async with http.post(told.to, data=body, headers=signed) as answer:
                return answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError, OSError):
            return 0


def _picture(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (Route("/acme/pictures/{path:.+}", MALL, "image", _picture),)
