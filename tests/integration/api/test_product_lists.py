"""Lists of products, on all three databases: every order whole and stable, filters together, chosen fields."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.register.model import State
from bobusang.testing.catalog import collect, reading
from bobusang.views import product_lists
from bobusang.views.product_lists import ProductFilter, Sort
from tests.integration.api.goods import on_market, told

if TYPE_CHECKING:
    from tests.integration.api.door import Door

BRANDS = ("NIKE", "GUCCI", "PRADA")


async def filled(door: Door, count: int = 12) -> list[int]:
    """Products of three brands and four prices, some without a price; their numbers."""
    _, written = await collect(
        door.app.engine.db,
        *(
            reading(
                f"A{n}",
                name=f"패딩 {n}",
                brand=BRANDS[n % 3],
                price=None if n % 6 == 5 else 10_000 * (n % 4),
                seller=f"s{n % 2}",
                category=("의류", "패딩") if n % 2 else "의류",
                sold_out=n % 4 == 0,
            )
            for n in range(count)
        ),
    )
    return list(written.ids)


async def walked(door: Door, **query: Any) -> list[dict[str, Any]]:
    """All pages of a list, two at a time."""
    found, cursor = [], None
    while True:
        page = await door.get("/products", limit=2, **query, **({"cursor": cursor} if cursor else {}))
        assert len(page["items"]) <= 2
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found


async def test_every_order_shows_each_product_once(door: Door) -> None:
    ids = await filled(door)
    shown = {one["id"]: one for one in await walked(door)}
    ids = sorted(ids)
    assert list(shown) == ids
    priced = [id for id in ids if shown[id]["price"] is not None]
    orders = {sort: [one["id"] for one in await walked(door, sort=sort)] for sort in Sort}

    assert orders == {
        Sort.ID: ids,
        Sort.NEWEST: ids[::-1],
        Sort.PRICE: sorted(priced, key=lambda id: (shown[id]["price"], id)),
        Sort.DEAREST: sorted(priced, key=lambda id: (shown[id]["price"], id), reverse=True),
        Sort.CHANGED: sorted(ids, key=lambda id: (shown[id]["updated_at"], id), reverse=True),
    }


async def test_a_walk_is_not_shifted_by_what_comes_and_goes(door: Door) -> None:
    ids = await filled(door, 6)
    first = await door.get("/products", limit=2, sort="price")
    await door.operator.delete(f"/products/{first['items'][0]['id']}")
    new = await told(door, price=0)
    rest = await door.get("/products", sort="price", cursor=first["next"])

    seen = [one["id"] for one in (*first["items"], *rest["items"])]
    assert len(set(seen)) == len(seen)
    assert {*(id for id in ids if id != ids[5]), new["id"]} == set(seen)
    other = await door.viewer.get("/products", params={"sort": "id", "cursor": first["next"]})
    assert (other.status_code, other.json()["field"]) == (422, "cursor")


FILTERS: dict[str, tuple[dict[str, Any], Any]] = {
    "mall": ({"mall": "okmall"}, lambda n: True),
    "another mall": ({"mall": "mustit"}, lambda n: False),
    "brand": ({"brand": "GUCCI"}, lambda n: n % 3 == 1),
    "brand of a mall": ({"brand": "GUCCI", "mall": "okmall"}, lambda n: n % 3 == 1),
    "seller": ({"seller": "s1"}, lambda n: n % 2 == 1),
    "seller of a mall": ({"seller": "s1", "mall": "okmall"}, lambda n: n % 2 == 1),
    "category with those below": ({"category": "의류"}, lambda n: True),
    "category": ({"category": "의류 > 패딩"}, lambda n: n % 2 == 1),
    "price": ({"min_price": 10_000, "max_price": 20_000}, lambda n: n % 6 != 5 and n % 4 in (1, 2)),
    "stock": ({"in_stock": False}, lambda n: n % 4 == 0),
    "lacks": ({"lacks": "price"}, lambda n: n % 6 == 5),
    "quality": ({"quality": "complete"}, lambda n: False),
    "incomplete": ({"quality": "incomplete"}, lambda n: True),
    "key": ({"mall": "okmall", "product_id": "A3"}, lambda n: n == 3),
    "all together": (
        {"brand": "NIKE", "seller": "s1", "min_price": 1, "in_stock": True, "category": "의류"},
        lambda n: n % 3 == 0 and n % 2 == 1 and n % 4 != 0 and n % 6 != 5,
    ),
}


async def test_filters_are_told_together_and_in_every_order(door: Door) -> None:
    ids = await filled(door)
    for name, (query, holds) in FILTERS.items():
        expected = {id for n, id in enumerate(ids) if holds(n)}
        for sort in ("id", "changed"):
            assert {one["id"] for one in await walked(door, sort=sort, **query)} == expected, (name, sort)
        by_price = {one["id"] for one in await walked(door, sort="price", **query)}
        assert by_price == {id for n, id in enumerate(ids) if holds(n) and n % 6 != 5}, name


async def test_what_changed_since_and_where_it_stands_on_the_market(door: Door) -> None:
    await filled(door, 4)
    made = await told(door)
    await on_market(door, made, State.SOLD_OUT)
    since = made["updated_at"]

    assert [one["id"] for one in await walked(door, changed_since=since, sort="changed")] == [made["id"]]
    later = (datetime.fromisoformat(since) + timedelta(seconds=1)).isoformat()
    assert await walked(door, changed_since=later) == []
    assert [one["id"] for one in await walked(door, market_state="sold_out")] == [made["id"]]
    assert len(await walked(door, market_state="none")) == 4
    assert [one["id"] for one in await walked(door, url=made["url"])] == [made["id"]]


async def test_only_the_fields_that_are_asked_for(door: Door) -> None:
    ids = await filled(door, 1)

    assert await door.get("/products", fields="id, price,name") == {
        "items": [{"id": ids[0], "price": 0, "name": "패딩 0"}],
        "next": None,
    }
    wrong = await door.viewer.get("/products", params={"fields": "id,prize"})
    assert (wrong.status_code, wrong.json()["field"], wrong.json()["hint"]) == (422, "fields", "did you mean price?")


@pytest.mark.parametrize("sort", list(Sort))
async def test_what_no_index_finds_is_looked_for_a_part_at_a_time(door: Door, sort: Sort) -> None:
    ids = await filled(door)
    wanted, after, found, calls = ProductFilter(category="의류 > 패딩"), None, [], 0
    async with door.app.engine.db.read() as tx:
        while calls == 0 or after is not None:
            part = await product_lists.listed(tx, wanted, sort, after, 10, window=4)
            found += [line.id for line in part.lines]
            after, calls = part.resume, calls + 1

    odd = [id for n, id in enumerate(ids) if n % 2 and (n % 6 != 5 or "price" not in sort)]
    assert sorted(found) == sorted(odd)
    assert calls in (3, 4)
