"""Ownerclan and Domeggook over real HTTP: each oddity of theirs that collectors have stumbled over."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.sandbox.ownerclan import goods
from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door

LOGIN = {"service": "ownerclan", "userType": "seller", "username": "sandbox", "password": "sandbox"}
LIST = "query ($first: Int, $after: String, $from: Timestamp, $to: Timestamp) { allItems(first: $first, after: $after,"
LIST += (
    " dateFrom: $from, dateTo: $to) { pageInfo { hasNextPage endCursor } edges { cursor node { key updatedAt } } } }"
)


class Seller:
    """Who is logged in at Ownerclan."""

    def __init__(self, http: ClientSession, door: Door, token: str) -> None:
        self._http = http
        self._url = f"{door.url}/ownerclan/v1/graphql"
        self.headers = {"Authorization": f"Bearer {token}"}

    async def ask(self, query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        async with self._http.post(self._url, json=body, headers=self.headers) as answer:
            return answer.status, await answer.json()

    async def get(self, query: str) -> Any:
        async with self._http.get(self._url, params={"query": query}, headers=self.headers) as answer:
            return answer.status, await answer.json()


async def logged_in(http: ClientSession, door: Door) -> str:
    async with http.post(f"{door.url}/ownerclan/auth/auth", json=LOGIN) as answer:
        assert answer.status == 200
        return await answer.text()


@pytest.fixture
async def seller(http: ClientSession, door: Door) -> Seller:
    return Seller(http, door, await logged_in(http, door))


def claims(token: str) -> Any:
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


async def nodes(seller: Seller, wanted: str) -> list[Any]:
    _, answer = await seller.ask(f"{{ allItems(first: 1000) {{ edges {{ node {{ {wanted} }} }} }} }}")
    return [edge["node"] for edge in answer["data"]["allItems"]["edges"]]


async def test_the_login_answers_with_a_bare_token_for_thirty_days(http: ClientSession, door: Door) -> None:
    token = await logged_in(http, door)
    async with http.post(f"{door.url}/ownerclan/auth/auth", json=LOGIN | {"password": "wrong"}) as answer:
        refused = answer.status, answer.content_type

    assert token.count(".") == 2
    assert not token.startswith(("{", '"'))
    assert claims(token)["exp"] - claims(token)["iat"] == 30 * 24 * 3600
    assert refused == (401, "text/plain")


async def test_a_token_that_is_over_is_told_inside_200(seller: Seller, door: Door) -> None:
    before = await seller.get('{ item(key: "W000000") { key } }')
    await door.suppliers(expire=True)
    after = await seller.get('{ item(key: "W000000") { key } }')
    seller.headers = {}
    nobody = await seller.get('{ item(key: "W000000") { key } }')

    assert before == (200, {"data": {"item": None}})
    assert after == (200, {"errors": [{"message": "invalid signature"}]})
    assert nobody == (401, {"errors": [{"message": "Unauthorized"}]})


async def test_queries_come_by_get_and_post_mutations_by_post_alone(seller: Seller) -> None:
    query = "{ allItems(first: 2) { edges { cursor } } }"
    by_get, by_post = await seller.get(query), await seller.ask(query)
    status, refused = await seller.get("mutation { createOrder(input: {}) { key } }")

    assert by_get == by_post
    assert (status, refused) == (
        200,
        {"errors": [{"message": "Can only perform a mutation operation from a POST request."}]},
    )


async def test_cursors_are_texts_and_lead_through_all_of_it(seller: Seller) -> None:
    found: list[str] = []
    after = None
    while True:
        _, answer = await seller.ask(LIST, first=70, after=after)
        page = answer["data"]["allItems"]
        found += [edge["node"]["key"] for edge in page["edges"]]
        after = page["pageInfo"]["endCursor"]
        assert isinstance(after, str)
        if not page["pageInfo"]["hasNextPage"]:
            break

    assert len(found) == len(set(found)) == 300
    assert all(len(key) == 7 and key[0] == "W" for key in found)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("{ allItems(first: 1001) { edges { cursor } } }", "first must be between 1 and 1000."),
        ("{ allItems(first: 10) { edges { node { stock } } } }", 'Cannot query field "stock" on type "Item".'),
        ("{ products(limit: 10) { name } }", 'Cannot query field "products" on type "Query".'),
        (
            "{ allItems(offset: 1) { edges { cursor } } }",
            'Unknown argument "offset" on field "allItems" of type "Query".',
        ),
        ("{ allItems(first: 1)", 'Syntax Error: Expected "Name", found "<EOF>".'),
        ("{ allItems(dateFrom: 1700000000) { edges { cursor } } }", "Timestamp must be milliseconds"),
    ],
)
async def test_what_is_wrong_is_told_inside_200(seller: Seller, query: str, message: str) -> None:
    status, answer = await seller.ask(query)

    assert (status, list(answer)) == (200, ["errors"])
    assert answer["errors"][0]["message"].startswith(message)


async def test_an_error_may_stand_beside_half_of_the_data(seller: Seller, door: Door) -> None:
    await door.fault("ownerclan", "graphql", "half_data", count=1)
    status, answer = await seller.ask(LIST, first=100)

    assert (status, len(answer["data"]["allItems"]["edges"])) == (200, 50)
    assert [error["message"] for error in answer["errors"]] == ["Internal server error"]


async def test_timestamps_are_milliseconds_and_windows_hold_what_changed(seller: Seller, door: Door) -> None:
    before = datetime.now(UTC)
    await door.advance(200)
    _, answer = await seller.ask(LIST, first=1000, **{"from": goods.milliseconds(before)})
    changed = answer["data"]["allItems"]["edges"]
    moments = {edge["node"]["updatedAt"] for edge in changed}
    everything = await nodes(seller, "key createdAt updatedAt")

    assert 20 < len(changed) < len(everything)
    assert all(moment >= goods.milliseconds(before) for moment in moments)
    assert all(one["createdAt"] <= one["updatedAt"] < 2_000_000_000_000 for one in everything)
    assert {one["key"] for one in everything if one["updatedAt"] in moments} == {e["node"]["key"] for e in changed}


async def test_what_has_no_choice_has_one_option_of_key_0_and_9999_pieces(seller: Seller) -> None:
    found = await nodes(seller, "status options { key quantity optionAttributes { name value } }")
    single = [one["options"][0] for one in found if one["status"] == "available" and one["options"][0]["key"] == "0"]
    others = [one for one in found if one["options"] and one["options"][0]["key"] != "0"]

    assert single
    assert all(one == {"key": "0", "quantity": 9999, "optionAttributes": []} for one in single)
    assert all(option["optionAttributes"] for one in others for option in one["options"])


async def test_metadata_is_an_object_or_a_text_and_shipping_may_be_all(seller: Seller) -> None:
    found = await nodes(seller, "metadata shippingType status pricePolicy fixedPrice openmarketSellable attributes")
    texts = [json.loads(one["metadata"]) for one in found if isinstance(one["metadata"], str)]
    objects = [one["metadata"] for one in found if isinstance(one["metadata"], dict)]

    assert texts
    assert objects
    assert {tuple(one) for one in texts} == {tuple(one) for one in objects}
    assert {one["shippingType"] for one in found} == {"all", "inAdvance", "uponArrival", "free"}
    assert {one["status"] for one in found} == {"available", "soldout", "unavailable"}
    assert {(one["pricePolicy"], one["fixedPrice"] is None) for one in found} == {("free", True), ("fixed", False)}
    assert {(one["openmarketSellable"], *one["attributes"]) for one in found} >= {
        (True, "OPENMARKET"),
        (True, "OPENMARKET", "PROHIBIT"),
        (False,),
    }


async def test_histories_of_more_than_seven_days_are_an_error(seller: Seller, door: Door) -> None:
    query = """query ($from: Timestamp, $to: Timestamp) { itemHistories(first: 1000, dateFrom: $from, dateTo: $to) {
        edges { node { itemKey kind title valueBefore valueAfter createdAt } } } }"""
    begun = datetime.now(UTC)
    await door.advance(100)
    now = datetime.now(UTC) + timedelta(minutes=1)
    far, near = goods.milliseconds(now - timedelta(days=8)), goods.milliseconds(now - timedelta(days=7))
    _, refused = await seller.ask(query, **{"from": far, "to": goods.milliseconds(now)})
    _, answer = await seller.ask(query, **{"from": near, "to": goods.milliseconds(now)})
    found = [edge["node"] for edge in answer["data"]["itemHistories"]["edges"]]

    assert refused == {"errors": [{"message": "The period between dateFrom and dateTo must be 7 days or less."}]}
    assert {"priceIncreased", "priceDecreased", "soldout"} <= {one["kind"] for one in found}
    assert all(one["createdAt"] >= goods.milliseconds(begun) for one in found)
    assert all(
        (int(one["valueAfter"]) > int(one["valueBefore"])) is (one["kind"] == "priceIncreased")
        for one in found
        if one["kind"].startswith("price")
    )


async def test_an_order_is_split_by_vendor_and_shipping(seller: Seller, door: Door) -> None:
    found = await nodes(seller, "key status shippingType metadata shippingFee price")
    goods_ = [one for one in found if one["status"] == "available"][:12]
    vendors: dict[tuple[int, str], list[str]] = {}
    for one in goods_:
        told = json.loads(one["metadata"]) if isinstance(one["metadata"], str) else one["metadata"]
        vendors.setdefault((told["vendorKey"], one["shippingType"]), []).append(one["key"])
    order = {
        "sender": {"name": "보부상", "phoneNumber": "010-0000-0000", "email": "a@example.com"},
        "recipient": {"name": "홍길동", "phoneNumber": "010-0000-0000", "destinationAddress": {"addr1": "서울"}},
        "products": [{"itemKey": one["key"], "quantity": 2, "optionAttributes": []} for one in goods_],
        "note": "B-1",
    }
    made = "key note status products { itemKey quantity }"
    make = f"mutation ($input: OrderInput!) {{ createOrder(input: $input) {{ {made} }} }}"
    _, answer = await seller.ask(make, input=order)
    orders = answer["data"]["createOrder"]
    _, seen = await seller.ask(f'{{ order(key: "{orders[0]["key"]}") {{ key status }} }}')
    costs = "shippingAmount itemAmounts { itemKey }"
    cost = f"mutation ($input: OrderInput!) {{ simulateCreateOrder(input: $input) {{ {costs} }} }}"
    _, simulated = await seller.ask(cost, input=order)

    assert len(orders) == len(vendors) > 1
    assert sorted(sorted(line["itemKey"] for line in one["products"]) for one in orders) == sorted(
        sorted(keys) for keys in vendors.values()
    )
    assert {(one["note"], one["status"]) for one in orders} == {("B-1", "placed")}
    assert seen == {"data": {"order": {"key": orders[0]["key"], "status": "placed"}}}
    assert len(simulated["data"]["simulateCreateOrder"]) == len(orders)
    assert len((await door.suppliers())["orders"]) == len(orders)


async def dome(http: ClientSession, door: Door, **query: Any) -> Any:
    asked = {"ver": "4.1", "mode": "getItemList", "market": "dome", "om": "json", "aid": "sandbox", **query}
    async with http.get(f"{door.url}/domeggook/ssl/api/", params=asked) as answer:
        assert answer.status == 200
        return await answer.json()


async def viewed(http: ClientSession, door: Door, no: str) -> Any:
    return (await dome(http, door, ver="4.6", mode="getItemView", no=no))["domeggook"]


async def test_every_error_of_domeggook_stands_inside_200(http: ClientSession, door: Door) -> None:
    found = [
        await dome(http, door, aid="wrong"),
        await dome(http, door, market="nowhere"),
        await dome(http, door, mode="searchProductList"),
        await dome(http, door, mode="getItemView", no="1"),
    ]

    assert [list(one) for one in found] == [["errors"]] * 4
    assert [one["errors"]["dcode"] for one in found] == [
        *("INVALID_AID", "INVALID_PARAM", "INVALID_MODE", "ITEM_NOT_FOUND")
    ]


async def test_domeggook_counts_calls_of_a_minute_and_a_day(http: ClientSession, door: Door) -> None:
    await door.suppliers(per_minute=2)
    of_a_minute = [list(await dome(http, door)) for _ in range(3)]
    await door.suppliers(per_minute=0, per_day=3)
    of_a_day = [await dome(http, door) for _ in range(2)]

    assert of_a_minute == [["domeggook"], ["domeggook"], ["errors"]]
    assert [list(one) for one in of_a_day] == [["domeggook"], ["errors"]]
    assert of_a_day[1]["errors"]["dcode"] == "QUOTA_DAY"


async def test_one_hit_is_an_object_and_none_an_empty_object(http: ClientSession) -> None:
    async with running(World(5, 28, pace=0)) as door:
        every = (await dome(http, door, sz="200"))["domeggook"]
        titles = [one["title"] for one in every["list"]["item"]]
        title = next(text for text in titles if isinstance(text, str) and titles.count(text) == 1)
        one = (await dome(http, door, kw=title))["domeggook"]
        none = (await dome(http, door, kw="없는 말"))["domeggook"]

    assert one["list"]["item"]["title"] == title
    assert none["list"] == {}
    assert [one["header"]["numberOfItems"], none["header"]["numberOfItems"]] == ["1", "0"]


async def test_lists_show_what_is_on_sale_in_texts_and_at_most_200(http: ClientSession, door: Door) -> None:
    pages = {size: (await dome(http, door, sz=size))["domeggook"] for size in ("0", "5", "1000")}
    usual = (await dome(http, door))["domeggook"]["list"]["item"]
    items = pages["1000"]["list"]["item"]
    truth = [
        one
        for brand in door_brands(await door.world())
        for one in (await door.truth("domeggook", brand=brand))["items"]
    ]

    assert [len(page["list"]["item"]) for size, page in pages.items() if size != "0"] == [5, 200]
    assert isinstance(pages["0"]["list"]["item"], dict)
    assert len(usual) == 20
    assert {type(one["price"]) for one in items} == {str}
    assert {type(one["title"]) for one in items} == {str, dict}
    assert {tuple(one["title"]) for one in items if isinstance(one["title"], dict)} == {("#cdata-section",)}
    assert pages["1000"]["header"]["numberOfItems"] == str(sum(not one["sold_out"] for one in truth))


def door_brands(world: Any) -> list[str]:
    return list(world["malls"]["domeggook"])


async def test_a_view_has_tiers_options_as_text_and_three_kinds_of_description(http: ClientSession, door: Door) -> None:
    items = (await dome(http, door, sz="200"))["domeggook"]["list"]["item"]
    views = [await viewed(http, door, one["no"]) for one in items]
    prices = [one["price"]["dome"] for one in views]
    options = [json.loads(one["selectOpt"])["data"] for one in views if one["selectOpt"]]

    assert {type(price) for price in prices} == {int, str}
    assert any(isinstance(price, str) and price.startswith("1+") and price.count("|") == 2 for price in prices)
    assert any("supply" not in one["price"] for one in views)
    contents = [one["desc"]["contents"] for one in views]
    assert {tuple(one) if isinstance(one, dict) else type(one) for one in contents} == {
        str,
        (),
        ("item", "comment", "deli"),
    }
    assert {type(one["category"]["parents"]) for one in views} == {list, dict}
    assert any(one["selectOpt"] == "" for one in views)
    assert {each["hid"] for one in options for each in one.values()} == {"0", "1", "2"}
    assert {one["basis"]["status"] for one in views} == {"판매중"}


async def test_what_is_newest_comes_first_by_da(http: ClientSession, door: Door) -> None:
    await door.advance(100)
    found = (await dome(http, door, so="da", sz="200"))["domeggook"]["list"]["item"]
    days = [(await viewed(http, door, one["no"]))["basis"]["dateStart"] for one in found[:30]]

    assert days == sorted(days, reverse=True)
    assert days[0] == datetime.now(UTC).strftime("%Y-%m-%d")


async def test_an_error_may_be_called_domeggook_error(http: ClientSession, door: Door) -> None:
    await door.fault("domeggook", "api", "error_inside", count=2)
    found = [await dome(http, door), await dome(http, door)]

    assert list(found[0]) == ["errors"]
    assert list(found[1]["domeggook"]) == ["error"]
