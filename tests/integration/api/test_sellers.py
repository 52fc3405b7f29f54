"""Sellers through the API, on all three databases: added, changed, paused and resumed, each act written down."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from bobusang.engine.tables import crawling_schedules
from bobusang.kit.clock import utc
from bobusang.wiring import prepare

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from tests.integration.api.door import Door

TOLD = ("mall", "seller_id", "name", "company", "contact", "email", "status", "cadence", "adaptive", "quality")


async def added(door: Door, seller_id: str = "luxboy", **said: Any) -> dict[str, Any]:
    answer = await door.operator.post("/sellers", json={"seller_id": seller_id, **said})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_seller_is_added_with_its_schedule_and_target(door: Door) -> None:
    await prepare(door.app)
    said = {"name": "럭스보이", "company": "㈜럭스", "contact": "김", "email": "md@example.com", "cadence": "6h"}
    made = await added(door, **said, adaptive=True)
    assert {name: made[name] for name in TOLD} == {
        "mall": "mustit",
        "seller_id": "luxboy",
        **said,
        "status": "Active",
        "adaptive": True,
        "quality": None,
    }
    assert await door.get(f"/sellers/{made['id']}") == made
    plan = await door.get(f"/schedules/{made['schedule_id']}")
    assert (plan["schedule_type"], plan["interval_seconds"], plan["target_id"]) == (
        "DYNAMIC",
        21_600,
        made["target_id"],
    )
    assert (plan["min_interval_seconds"], plan["max_interval_seconds"]) == (5_400, 86_400)
    target = await door.get(f"/targets/{made['target_id']}")
    assert (target["type"], target["key"], target["source"], target["name"]) == (
        "seller",
        "luxboy",
        "mustit",
        "럭스보이",
    )

    clash = await door.operator.post("/sellers", json={"seller_id": "luxboy"})
    assert (clash.status_code, clash.json()["detail"]) == (409, "mustit has a seller 'luxboy' already")


async def test_a_change_leaves_the_planned_fire_and_what_was_not_said(door: Door) -> None:
    await prepare(door.app)
    made = await added(door, company="㈜럭스", cadence="2d")
    changed = await door.operator.patch(f"/sellers/{made['id']}", json={"cadence": "30m", "company": None})
    found = changed.json()
    assert (found["cadence"], found["company"], found["interval_minutes"]) == ("30m", None, 30.0)
    assert found["next_run_at"] == made["next_run_at"]

    paused = await door.operator.post(f"/sellers/{made['id']}/pause", json={"reason": "휴가"})
    assert (paused.json()["status"], paused.json()["paused_reason"], paused.json()["next_run_at"]) == (
        "Paused",
        "휴가",
        None,
    )
    off = await door.operator.post(f"/sellers/{made['id']}/disable")
    assert off.json()["status"] == "Disabled"
    refused = await door.operator.post(f"/sellers/{made['id']}/pause")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    on = (await door.operator.post(f"/sellers/{made['id']}/resume")).json()
    assert (on["status"], on["paused_reason"]) == ("Active", None)
    assert utc(on["next_run_at"]) < utc(made["next_run_at"])

    acts = (await door.get("/audit", subject_type="seller", subject_id=str(made["id"])))["items"]
    assert [(act["action"], act["before"], act["after"]) for act in reversed(acts)][1:] == [
        (
            "seller.change",
            {"cadence_minutes": 2880, "company": "㈜럭스"},
            {"cadence_minutes": 30, "company": None},
        ),
        ("seller.pause", {"status": "Active", "reason": None}, {"status": "Paused", "reason": "휴가"}),
        ("seller.disable", {"status": "Paused", "reason": "휴가"}, {"status": "Disabled", "reason": None}),
        ("seller.resume", {"status": "Disabled", "reason": None}, {"status": "Active", "reason": None}),
    ]


async def test_sellers_are_listed_page_by_page_and_by_status(door: Door) -> None:
    await prepare(door.app)
    ids = [(await added(door, f"seller {number}"))["id"] for number in range(5)]
    await door.operator.post(f"/sellers/{ids[0]}/pause")

    first = await door.get("/sellers", limit=3)
    rest = await door.get("/sellers", limit=3, cursor=first["next"])
    assert [one["id"] for one in [*first["items"], *rest["items"]]] == ids[::-1]
    assert rest["next"] is None
    assert [one["id"] for one in (await door.get("/sellers", status="Paused"))["items"]] == [ids[0]]
    assert [one["id"] for one in (await door.get("/sellers", seller_id="seller 3"))["items"]] == [ids[3]]
    assert (await door.get("/sellers", mall="okmall"))["items"] == []


async def test_sellers_are_listed_in_orders_and_by_fields(door: Door) -> None:
    await prepare(door.app)
    ids = [(await added(door, name))["id"] for name in ("b", "c", "a", "d", "c2")]
    await door.operator.patch(f"/sellers/{ids[1]}", json={"name": "c"})

    async def walked(sort: str) -> list[int]:
        found: list[int] = []
        cursor = None
        while True:
            given = {"sort": sort, "limit": 2, "fields": "id"} | ({"cursor": cursor} if cursor else {})
            answer = await door.get("/sellers", **given)
            assert all(one.keys() == {"id"} for one in answer["items"])
            found += [one["id"] for one in answer["items"]]
            if (cursor := answer["next"]) is None:
                return found

    assert await walked("id") == ids
    assert await walked("newest") == ids[::-1]
    assert await walked("seller_id") == [ids[2], ids[0], ids[1], ids[4], ids[3]]
    assert await walked("changed") == [ids[1], ids[4], ids[3], ids[2], ids[0]]
    some = await door.get("/sellers", fields="seller_id, status,seller_id", limit=1)
    assert some["items"] == [{"seller_id": "c2", "status": "Active"}]
    other = await door.viewer.get("/sellers", params={"sort": "id", "cursor": some["next"]})
    assert (other.status_code, other.json()["field"]) == (422, "cursor")
    wrong = await door.viewer.get("/sellers", params={"fields": "id,nam"})
    assert (wrong.status_code, wrong.json()["detail"]) == (422, "a seller has no field 'nam'")


async def test_an_update_that_would_be_lost_is_refused(door: Door) -> None:
    await prepare(door.app)
    path = f"/sellers/{(await added(door))['id']}"
    seen = (await door.viewer.get(path)).headers["etag"]
    first = await door.operator.patch(path, json={"name": "럭스"}, headers={"if-match": seen})
    assert (first.status_code, first.headers["etag"] != seen) == (200, True)

    answers = [
        await door.operator.patch(path, json={"name": "x"}, headers={"if-match": seen}),
        await door.operator.put(path, json={"name": "x"}, headers={"if-match": seen}),
        await door.operator.delete(path, headers={"if-match": seen}),
    ]
    told = (412, "outdated", "If-Match", "it has changed since you read it")
    assert [
        (answer.status_code, *(answer.json()[name] for name in ("code", "field", "detail"))) for answer in answers
    ] == [told] * 3
    assert await door.get(path) == first.json()
    paused = await door.operator.post(f"{path}/pause")
    assert (await door.operator.put(path, json={}, headers={"if-match": first.headers["etag"]})).status_code == 412
    now = paused.headers["etag"]
    assert (await door.viewer.get(path)).headers["etag"] == now
    assert (await door.operator.delete(path, headers={"if-match": f'"x", {now}'})).status_code == 204


async def test_what_a_crawl_tells_of_a_seller_is_no_lost_update(door: Door) -> None:
    """Its ETag stands for what a person changes: when it is crawled next is no part of that."""
    await prepare(door.app)
    made = await added(door)
    path = f"/sellers/{made['id']}"
    before = await door.viewer.get(path)
    later = utc(made["next_run_at"]) + timedelta(hours=1)

    async def moved(tx: Tx) -> None:
        plans = crawling_schedules
        await tx.execute(update(plans).where(plans.c.id == made["schedule_id"]).values(next_run_at=later))

    await door.app.engine.db.transact(moved)
    after = await door.viewer.get(path)

    assert (after.json() != before.json(), after.headers["etag"]) == (True, before.headers["etag"])


async def test_of_many_who_saw_the_same_one_goes_through(door: Door) -> None:
    await prepare(door.app)
    path = f"/sellers/{(await added(door))['id']}"
    seen = {"if-match": (await door.viewer.get(path)).headers["etag"]}

    answers = await asyncio.gather(
        *(door.operator.patch(path, json={"name": f"{number}"}, headers=seen) for number in range(8))
    )

    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7
    (through,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert await door.get(path) == through


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"seller_id": ""}, 422, "seller_id"),
        ({"seller_id": "x", "cadence": "soon"}, 422, "cadence"),
        ({"seller_id": "x", "cadence": "1m"}, 422, "cadence"),
        ({"seller_id": "x", "email": "nobody"}, 422, "email"),
        ({"seller_id": "x", "adaptive": "yes"}, 422, "adaptive"),
        ({"seller_id": "x", "mall": "mustitt"}, 404, None),
        ({"seller_id": "x\0"}, 422, "seller_id"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_name(
    small: Door, body: dict[str, Any], status: int, field: str | None
) -> None:
    await prepare(small.app)
    answer = await small.operator.post("/sellers", json=body)
    assert (answer.status_code, answer.json().get("field")) == (status, field)


async def test_nothing_to_change_and_nobody_to_change(small: Door) -> None:
    await prepare(small.app)
    made = await added(small)
    assert (await small.operator.patch(f"/sellers/{made['id']}", json={})).status_code == 422
    assert (await small.operator.patch("/sellers/99", json={"name": "x"})).status_code == 404
    assert (await small.viewer.post(f"/sellers/{made['id']}/pause")).status_code == 403


async def test_a_seller_is_replaced_found_and_deleted(door: Door) -> None:
    await prepare(door.app)
    named = {"idempotency-key": "seller-1"}
    body = {"seller_id": "luxboy", "name": "럭스보이", "company": "㈜럭스", "cadence": "6h"}
    made = (await door.operator.post("/sellers", json=body, headers=named)).json()
    again = await door.operator.post("/sellers", json=body, headers=named)
    assert (again.status_code, again.json(), again.headers["idempotency-replayed"]) == (201, made, "true")
    await added(door, "dmont")
    assert [one["id"] for one in (await door.get("/sellers", q="럭스"))["items"]] == [made["id"]]

    path = f"/sellers/{made['id']}"
    found = (await door.operator.put(path, json={"name": "럭스", "cadence": "2d"})).json()
    assert (found["name"], found["company"], found["cadence"]) == ("럭스", None, "2d")

    told = {"mall": "mustit", "product_id": "1", "seller_id": "luxboy"}
    product = (await door.operator.post("/products", json=told)).json()
    refused = await door.operator.delete(path)
    words = f"product {product['id']} is of seller mustit/luxboy"
    assert (refused.status_code, refused.json()["detail"]) == (409, words)
    await door.operator.delete(f"/products/{product['id']}")
    assert (await door.operator.delete(path)).status_code == 204
    assert (await door.viewer.get(path)).status_code == 404
    assert (await door.viewer.get(f"/schedules/{made['schedule_id']}")).status_code == 404
    acts = (await door.get("/audit", subject_type="seller", subject_id=str(made["id"])))["items"]
    assert [act["action"] for act in reversed(acts)] == ["seller.add", "seller.change", "seller.delete"]
