"""Products that became something else under their number, over the API: who may say so, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.stages.convert import store
from bobusang.stages.convert.converting import VERSION
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result
from bobusang.testing.catalog import collect, reading
from tests.integration.convert.test_store import READY
from tests.integration.register.desk import Desk
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from tests.integration.api.door import Door

WHY = {"why": "by size now"}
AXES = Reason(Why.AXES_CHANGED, "its options were a choice of color and are one of size", "options")


async def held(door: Door, *reasons: Reason) -> tuple[Desk, int, str]:
    """A product on the market that was ready, and is held."""
    db = door.app.engine.db
    _, written = await collect(db, reading("A1", price=1))
    (id,) = written.ids
    sku = "okmall-A1"
    desk = await Desk.opened(db)
    await desk.go(replace(WANTED, product_id=id, sku=sku))
    await desk.told()
    await db.transact(lambda tx: store.save(tx, "buyma", [Result(id, 1, READY)]))
    if reasons:
        await db.transact(lambda tx: store.save(tx, "buyma", [Result(id, 2, Held(reasons))]))
    return desk, id, sku


async def test_a_product_begins_anew_once_and_all_of_it_is_written_down(door: Door) -> None:
    desk, id, sku = await held(door, AXES)

    forbidden = await door.viewer.post(f"/products/{id}/renew", json=WHY)
    first, second = [await door.operator.post(f"/products/{id}/renew", json=WHY) for _ in range(2)]

    assert forbidden.status_code == 403
    told: dict[str, Any] = {"product_id": id, "sku": sku, "generation": 2, "listings": 1, "again": False}
    assert (first.status_code, first.json()) == (200, told)
    assert (second.status_code, second.json()) == (200, told | {"listings": 0, "again": True})
    (one,) = (await door.get("/listings/of", sku=sku))["items"]
    assert (one["retired"], one["state"], one["closed_why"]) == (True, "LIVE", "by size now")
    [line] = (await door.get("/listings"))["items"]
    assert (line["retired"], line["closed_at"] is not None) == (True, True)
    (waits,) = (await door.get("/conversions/held", why="decided"))["items"]
    assert (waits["product_id"], waits["was_ready"]) == (id, False)
    acts = (await door.get("/audit", subject_type="product", subject_id=str(id)))["items"]
    assert [(act["action"], act["before"]["listings"], act["after"]["why"]) for act in acts] == [
        ("product.renew", ["100"], "by size now")
    ]
    opened = await door.operator.post("/listings/open", json={"sku": sku})
    deleted = await door.operator.delete(f"/products/{id}")
    assert (opened.json()["listings"], deleted.status_code) == (0, 409)
    receipts = (await door.get("/listings/receipts", sku=sku))["items"]
    assert [receipt["listing_id"] for receipt in receipts] == [one["id"]]
    assert desk.shop.products[100]["status"] == "public"


@pytest.mark.parametrize("act", ["renew", "relabel"])
async def test_what_nobody_is_asked_of_is_refused(door: Door, act: str) -> None:
    _, id, _ = await held(door)

    answers = [
        await door.operator.post(f"/products/{number}/{act}", json=form)
        for number, form in ((id, WHY), (id, {"why": ""}), (id, {}), (id + 99, WHY))
    ]

    assert [answer.status_code for answer in answers] == [409, 422, 422, 404]
    async with door.app.engine.db.read() as tx:
        found = (await store.load(tx, "buyma", [id]))[id]
    assert (found.generation, found.data, found.converter_version) == (1, READY, VERSION)


async def test_what_was_taken_down_may_be_listed_anew(door: Door) -> None:
    desk, id, sku = await held(door)
    desk.shop.ticks += 1
    taken = desk.shop.hook("product/update", desk.shop.said(100) | {"status": "admin_deleted"})
    await desk.told([taken])

    answer = await door.operator.post(f"/products/{id}/renew", json=WHY)

    assert (answer.status_code, answer.json()["listings"]) == (200, 1)
    (one,) = (await door.get("/listings/of", sku=sku))["items"]
    assert (one["retired"], one["state"]) == (True, "REMOVED")
    assert (await door.get("/conversions/held", why="decided"))["items"][0]["product_id"] == id
