"""Products as tests of the API make them: told through the door, or collected from a mall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.catalog import markets
from bobusang.catalog.markets import Sync
from bobusang.kit.sql import Statement
from bobusang.testing.catalog import collect, reading

if TYPE_CHECKING:
    from bobusang.stages.register.model import State
    from tests.integration.api.door import Door

PADDING = {
    "mall": "okmall",
    "product_id": "4711",
    "name": "나이키 롱패딩",
    "brand": "NIKE",
    "brand_ko": "나이키",
    "model": "DD1234-010",
    "price": 129_000,
    "category": "의류 > 패딩",
    "url": "https://mall.example/4711",
    "images": ["https://mall.example/4711.jpg"],
    "in_stock": True,
}
LISTING = Statement("""
    insert into listings (id, account_id, product_id, sku, reference, market_id, state, created_at, updated_at)
    values (:id, 1, :id, :sku, :reference, 'B77', :state, :now, :now)""")


async def told(door: Door, **said: Any) -> dict[str, Any]:
    """A product told through the door."""
    answer = await door.operator.post("/products", json=PADDING | said)
    assert answer.status_code in (200, 201), answer.text
    found: dict[str, Any] = answer.json()
    return found


async def crawled(door: Door, key: str, **said: Any) -> int:
    """A product as a mall's page says it; its number."""
    _, written = await collect(door.app.engine.db, reading(key, **said))
    return written.ids[0]


async def on_market(door: Door, product: dict[str, Any], state: State) -> None:
    """A listing of a product that stands so."""

    async def work(tx: Any) -> None:
        values = {"id": product["id"], "sku": product["sku"], "reference": f"R{product['id']}", "state": state.value}
        await tx.execute(LISTING, **values, now=tx.now)
        await markets.set_market_data(tx, [Sync(product["id"], "buyma", {"status": state.lower()})])

    await door.app.engine.db.transact(work)


async def topics(door: Door, prefix: str = "product.") -> list[tuple[str, str]]:
    """The events of products that nobody has taken yet: topic and key."""
    async with door.app.engine.db.read() as tx:
        rows = await tx.fetch(Statement("select topic, event_key from outbox order by id"))
    return [(row["topic"], row["event_key"]) for row in rows if row["topic"].startswith(prefix)]


async def acts(door: Door, id: int) -> list[tuple[str, Any, Any]]:
    """What the audit log says of a product, from the first."""
    items = (await door.get("/audit", subject_type="product", subject_id=str(id)))["items"]
    return [(one["action"], one["before"], one["after"]) for one in reversed(items)]
