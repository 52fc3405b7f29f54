"""A seller at the sandbox's BUYMA: what it sends, and the receiver of its webhooks."""

from __future__ import annotations

import copy
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from bobusang.sandbox.buyma.post import signature

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door

TOKEN = {"X-Buyma-Personal-Shopper-Api-Access-Token": "sandbox-token"}
SECRET = "sandbox-client-secret"
NOW = "2026-11-16T00:00:00+00:00"


@dataclass
class Receiver:
    """A seller's receiver: keeps what was signed rightly, refuses the rest, and can be told to fail first."""

    failing: int = 0
    refused: int = 0
    got: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        raw = await request.read()
        if self.failing:
            self.failing -= 1
            return web.Response(status=503)
        if request.headers["X-Buyma-Hmac-Sha256"] != signature(SECRET, raw):
            self.refused += 1
            return web.Response(status=401)
        self.got.append((request.headers["X-Buyma-Event"], json.loads(raw)))
        return web.Response()

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.got]


@asynccontextmanager
async def receiving(receiver: Receiver) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    finally:
        await runner.cleanup()


def body(door: Door, reference: str = "REF-1", **changes: Any) -> dict[str, Any]:
    cells = [(size, "White") for size in ("S", "M")]
    return copy.deepcopy(
        {
            "control": "publish",
            "reference_number": reference,
            "name": f"NIKE ニット {reference}",
            "comments": "新作です。",
            "brand_id": 203,
            "category_id": 3064,
            "price": 22500,
            "available_until": "2026/12/31",
            "buying_area_id": "2002003000",
            "shipping_area_id": "2002003000",
            "shipping_methods": [{"shipping_method_id": 889}, {"shipping_method_id": 890}],
            "images": [{"path": f"{door.url}/okimg/{n}.jpg", "position": n} for n in (1, 2)],
            "style_numbers": [{"number": "AB1234-567", "memo": ""}],
            "options": [
                {"type": "size", "value": "S", "position": 1, "master_id": 2},
                {"type": "size", "value": "M", "position": 2, "master_id": 3},
                {"type": "color", "value": "White", "position": 1, "master_id": 1},
            ],
            "variants": stock(*cells),
            "order_quantity": 3,
            **changes,
        }
    )


def stock(*cells: tuple[str, str], kind: str = "purchase_for_order") -> list[dict[str, Any]]:
    return [
        {"options": [{"type": "size", "value": size}, {"type": "color", "value": color}], "stock_type": kind}
        for size, color in cells
    ]


OUT: dict[str, Any] = {"variants": stock(("S", "White"), ("M", "White"), kind="out_of_stock"), "order_quantity": 0}
IN: dict[str, Any] = {"variants": stock(("S", "White"), ("M", "White")), "order_quantity": 5}


async def post(
    http: ClientSession, door: Door, product: dict[str, Any], path: str = "products.json", settle: bool = True
) -> tuple[int, dict[str, Any]]:
    """The answer; and everything that follows from it has happened."""
    async with http.post(f"{door.buyma}/api/v1/{path}", json={"product": product}, headers=TOKEN) as answer:
        found = (answer.status, await answer.json())
    if settle:
        await door.settle()
    return found


async def listing(door: Door, reference: str = "REF-1") -> dict[str, Any]:
    return dict((await door.market(reference=reference))["listings"][0])
