"""Listings as a person sees them: live by the market's word, with receipts, held sends and webhooks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.money import yen
from bobusang.stages.convert import store
from bobusang.stages.convert.model import Held, Reason, Why
from bobusang.stages.convert.store import Result
from tests.integration.api.test_pages import turned
from tests.integration.register.desk import Desk
from tests.integration.register.shop import Shop
from tests.unit.register.making import WANTED

if TYPE_CHECKING:
    from tests.integration.api.door import Door

HAT = replace(WANTED, product_id=8, sku="okmall-8")
DEAR = replace(WANTED, price=yen(38_000))


@pytest.fixture
async def desk(door: Door) -> Desk:
    """A coat on the market, confirmed."""
    found = await Desk.opened(door.app.engine.db)
    now = found.db.clock.now()
    seen = now - timedelta(seconds=9)
    await found.go(replace(WANTED, seen_at=seen, changed_at=now, decided_at=now, quote="7"))
    await found.told()
    return found


async def test_a_listing_stands_as_the_market_says(door: Door, desk: Desk) -> None:
    await desk.go(HAT)

    live = (await door.get("/listings", state="live", account="main"))["items"]
    (one,) = (await door.get("/listings/of", sku=WANTED.sku))["items"]
    pages = await turned(door, "/listings", limit=1)
    narrowed = [
        await turned(door, "/listings", limit=1, **which) for which in ({"account": "main"}, {"market": "buyma"})
    ]
    none = [(await door.get("/listings", **which))["items"] for which in ({"drifted": True}, {"cause": "mapping"})]

    assert [(line["sku"], line["price"], line["market_id"], line["drifted"]) for line in live] == [
        (WANTED.sku, 22_500, "100", False)
    ]
    assert {name: one[name] for name in live[0]} == live[0]
    assert (one["confirmed"]["name"], len(one["confirmed"]["variants"]), one["drift"]) == ("ウールコート", 6, None)
    assert [[line["state"] for line in page] for page in pages] == [["SENT"], ["LIVE"]]
    assert (narrowed, none) == ([pages, pages], [[], []])
    missing = await door.viewer.get("/listings/of", params={"sku": "nothing"})
    assert (missing.status_code, missing.json()["field"]) == (404, "sku")


async def test_a_receipt_says_how_long_each_step_took(door: Door, desk: Desk) -> None:
    (receipt,) = (await door.get("/listings/receipts", sku=WANTED.sku))["items"]
    (figures,) = (await door.get("/listings/freshness"))["items"]

    steps = receipt.pop("steps")
    assert [step["step"] for step in steps] == [
        *("seen", "changed", "decided", "intended", "sent", "accepted", "confirmed", "read back")
    ]
    assert [step["seconds"] for step in steps[:3]] == [None, 9.0, 0.0]
    assert all(step["at"] for step in steps)
    assert receipt.pop("seconds") >= 9
    assert receipt == {
        "listing_id": receipt["listing_id"],
        "market": "buyma",
        "account": "main",
        "sku": WANTED.sku,
        "call_id": receipt["call_id"],
        "kind": "CREATE",
        "state": "CONFIRMED",
        "sends": 1,
        "request_uid": "u1",
        "quote": "7",
        "cause": None,
        "problems": None,
        "drift": None,
        "complete": True,
    }
    assert (figures["market"], figures["account"], figures["listings"]) == ("buyma", "main", {"LIVE": 1})
    assert (figures["confirmed"], figures["oldest_open"]) == (1, None)
    assert figures["seen_to_sent"]["p95"] >= 9


async def test_a_price_jump_is_let_out_by_a_person(door: Door, desk: Desk) -> None:
    await desk.go(DEAR)
    assert len(desk.shop.calls) == 1
    (held,) = (await door.get("/market-holds", guard="step"))["items"]

    approved = await door.operator.post(f"/market-holds/{held['id']}/approve")
    twice = await door.operator.post(f"/market-holds/{held['id']}/reject")
    await desk.go(DEAR, run="r2")

    assert (held["sku"], held["state"], held["can_be_approved"], held["times"]) == (WANTED.sku, "HELD", True, 1)
    assert (approved.json()["state"], approved.json()["decided_by"]) == ("APPROVED", "the operator")
    assert twice.status_code == 409
    assert [call["price"] for call in desk.shop.calls] == [22_500, 38_000]
    assert (await door.get("/market-holds"))["items"] == []
    acts = (await door.get("/audit", subject_type="market_hold"))["items"]
    assert [act["action"] for act in acts] == ["market_hold.approve"]


async def test_a_price_that_moved_since_it_was_read_is_not_let_out(door: Door, desk: Desk) -> None:
    await desk.go(DEAR)
    (read,) = (await door.get("/market-holds", guard="step"))["items"]
    await desk.go(replace(DEAR, price=yen(39_000)), run="r2")

    approved = await door.operator.post(f"/market-holds/{read['id']}/approve")
    (now,) = (await door.get("/market-holds", guard="step"))["items"]
    await desk.go(DEAR, replace(DEAR, price=yen(39_000)), run="r3")

    assert (approved.status_code, approved.json()["detail"]) == (409, f"hold {read['id']} is SUPERSEDED already")
    assert now["id"] > read["id"]
    assert [call["price"] for call in desk.shop.calls] == [22_500]


async def test_nobody_lets_a_loss_out(door: Door, desk: Desk) -> None:
    await desk.go(replace(WANTED, price=yen(19_999)))
    (held,) = (await door.get("/market-holds", sku=WANTED.sku))["items"]

    approved = await door.operator.post(f"/market-holds/{held['id']}/approve")
    rejected = await door.operator.post(f"/market-holds/{held['id']}/reject")
    missing = await door.operator.post("/market-holds/999999/reject")

    assert (held["guard"], held["can_be_approved"]) == ("below_floor", False)
    assert (approved.status_code, rejected.json()["state"], missing.status_code) == (409, "REJECTED", 404)
    assert [one["state"] for one in (await door.get("/market-holds", state="rejected"))["items"]] == ["REJECTED"]


async def test_webhooks_are_shown_and_applied_again_but_never_forged_ones(door: Door, desk: Desk) -> None:
    stranger = {"reference_number": "ELSEWHERE", "id": 5, "status": "public", "updated_at": "2026-03-02 10:00:00 +0900"}
    await desk.told([Shop.hook("product/update", stranger)])
    await desk.told([Shop.hook("product/update", stranger, secret="not ours")])

    (unknown,) = (await door.get("/webhook-inbox", unknown=True))["items"]
    (forged,) = (await door.get("/webhook-inbox", state="forged"))["items"]
    shown = await door.get(f"/webhook-inbox/{unknown['id']}")
    replayed = await door.operator.post(f"/webhook-inbox/{unknown['id']}/replay")
    waiting = await door.operator.post(f"/webhook-inbox/{unknown['id']}/replay")
    refused = await door.operator.post(f"/webhook-inbox/{forged['id']}/replay")

    assert (unknown["event"], unknown["state"], unknown["genuine"]) == ("product/update", "UNMATCHED", True)
    assert '"ELSEWHERE"' in shown["body"]
    assert replayed.json()["state"] == "RECEIVED"
    assert [one.status_code for one in (waiting, refused)] == [409, 409]
    await desk.apply()
    states = [one["state"] for one in (await door.get("/webhook-inbox"))["items"]]
    assert states == ["FORGED", "UNMATCHED", "APPLIED"]
    assert (await door.viewer.get("/webhook-inbox/999999")).status_code == 404


async def test_products_are_held_for_reasons_that_are_counted(door: Door) -> None:
    brand = Reason(Why.BRAND_UNREVIEWED, "the mall's brand 'ACME' is proposed", "brand")
    category = Reason(Why.CATEGORY_UNREVIEWED, "the mall's category '모자' is proposed", "category")

    async def work(tx: Any) -> None:
        held = [Result(1, 1, Held((brand,))), Result(2, 1, Held((brand, category))), Result(3, 1, Held((category,)))]
        await store.save(tx, "buyma", [*held, Result(4, 1, Held((brand,)))])

    await door.app.engine.db.transact(work)

    assert (await door.get("/conversions/reasons"))["items"] == [
        {"why": "brand_unreviewed", "products": 3},
        {"why": "category_unreviewed", "products": 2},
    ]
    pages = await turned(door, "/conversions/held", limit=1, why="category_unreviewed")
    assert [[one["product_id"] for one in page] for page in pages] == [[2], [3]]
    assert pages[0][0]["reasons"] == [
        {"why": "brand_unreviewed", "text": brand.text, "field": "brand"},
        {"why": "category_unreviewed", "text": category.text, "field": "category"},
    ]
    assert len((await door.get("/conversions/held"))["items"]) == 4
    assert (await door.viewer.get("/conversions/held", params={"why": "mood"})).status_code == 422


async def test_listings_are_looked_at_again_with_the_next_run(door: Door, desk: Desk) -> None:
    done = await door.operator.post("/listings/recheck", json={"skus": [WANTED.sku, "okmall-nothing"]})
    missing = await door.viewer.get("/previews/of", params={"sku": "okmall-nothing"})

    assert (done.status_code, done.json()) == (200, {"rechecked": 1, "missing": ["okmall-nothing"]})
    (line, *_) = (await door.get("/audit"))["items"]
    assert (line["action"], line["subject_id"], line["after"]) == (
        "listing.recheck",
        WANTED.sku,
        {"skus": [WANTED.sku]},
    )
    assert (missing.status_code, missing.json()["field"]) == (404, "sku")


async def test_a_listing_is_closed_and_opened_by_a_person_and_that_is_written_down(door: Door, desk: Desk) -> None:
    told = {"sku": WANTED.sku, "why": "a letter"}
    done = await door.operator.post("/listings/close", json=told)
    again = await door.operator.post("/listings/close", json=told)
    (shown,) = (await door.get("/listings/of", sku=WANTED.sku))["items"]
    opened = await door.operator.post("/listings/open", json={"sku": WANTED.sku, "account": "main"})
    refused = [
        (await door.viewer.post("/listings/close", json=told)).status_code,
        (await door.operator.post("/listings/close", json={"sku": WANTED.sku})).status_code,
        (await door.operator.post("/listings/close", json=told | {"sku": "okmall-nothing"})).status_code,
        (await door.operator.post("/listings/open", json={"sku": WANTED.sku, "account": "nobody"})).status_code,
    ]

    assert [one.json()["listings"] for one in (done, again, opened)] == [1, 0, 1]
    assert (shown["closed_by"], shown["closed_why"], shown["closed_at"] is not None) == (
        "the operator",
        "a letter",
        True,
    )
    assert refused == [403, 422, 404, 404]
    acts = (await door.get("/audit", subject_type="listing"))["items"]
    assert [(act["action"], act["subject_id"]) for act in acts] == [
        ("listing.open", WANTED.sku),
        ("listing.close", WANTED.sku),
    ]
