"""Musinsa over real HTTP, one quirk each: its envelope, its pages, what is left of an option, its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door

LIST = "/musinsa/api/api2/dp/v1/plp/goods"
GOODS = "/musinsa/detail/api2/goods"
REFERER = {"Referer": "https://www.musinsa.com/"}


async def got(http: ClientSession, door: Door, path: str, **query: Any) -> tuple[int, Any]:
    async with http.get(door.url + path, params={name: str(value) for name, value in query.items()}) as answer:
        return answer.status, await answer.json()


async def listed(http: ClientSession, door: Door, **query: Any) -> Any:
    status, told = await got(http, door, LIST, **query)
    assert (status, told["meta"]["result"]) == (200, "SUCCESS")
    return told["data"]


async def left(http: ClientSession, door: Door, no: str, values: list[int]) -> tuple[int, Any]:
    url = f"{door.url}{GOODS}/{no}/options/v2/prioritized-inventories"
    async with http.post(url, json={"optionValueNos": values}) as answer:
        return answer.status, await answer.json()


def values_of(options: Any) -> list[int]:
    return [value["no"] for group in options["data"]["basic"] for value in group["optionValues"]]


async def test_an_envelope_says_whether_it_went_well_though_the_status_does_not(
    http: ClientSession, door: Door
) -> None:
    good, bad = await got(http, door, LIST, brand="nike"), await got(http, door, LIST, gf="A")

    assert (good[0], good[1]["meta"]) == (200, {"result": "SUCCESS", "errorCode": None, "message": None})
    assert (bad[0], bad[1]["meta"]["result"], bad[1]["data"]) == (200, "FAIL", None)


async def test_only_page_and_size_turn_the_pages(http: ClientSession, door: Door) -> None:
    first = await listed(http, door, brand="nike")
    others = await listed(http, door, brand="nike", pageNumber=2, pageSize=5)
    second = await listed(http, door, brand="nike", page=2, size=5)
    last = await listed(http, door, brand="nike", page=1, size=100)

    assert [one["goodsNo"] for one in others["list"]] == [one["goodsNo"] for one in first["list"]]
    assert (others["pagination"]["page"], others["pagination"]["size"]) == (1, 30)
    assert [one["goodsNo"] for one in second["list"]] == [one["goodsNo"] for one in first["list"][5:10]]
    assert (second["pagination"]["hasNext"], last["pagination"]["hasNext"]) == (True, False)


async def test_a_list_shows_what_is_sold_out_too_and_narrows_by_category_keyword_and_gender(
    http: ClientSession, door: Door
) -> None:
    items = (await door.truth("musinsa", brand="NIKE"))["items"]
    found = await listed(http, door, brand="nike", size=100)
    tops = await listed(http, door, category="001", size=100)
    both = await listed(http, door, category="001", keyword="나이키", size=100)
    men = await listed(http, door, keyword="나이키", gf="M", size=100)

    assert {(str(one["goodsNo"]), one["price"], one["isSoldOut"]) for one in found["list"]} == {
        (one["key"], one["price"], one["sold_out"]) for one in items
    }
    assert {one["brand"] for one in both["list"]} == {"nike"}
    assert len(both["list"]) < len(tops["list"])
    assert {one["displayGenderText"] for one in men["list"]} == {"남성", "공용"}


async def test_options_have_no_stock_which_is_asked_for_by_their_values(http: ClientSession, door: Door) -> None:
    items = (await door.truth("musinsa", brand="NIKE"))["items"]
    one = next(one for one in items if len(one["options"]) > 2 and len({o["stock"] > 10 for o in one["options"]}) == 2)
    _, options = await got(http, door, f"{GOODS}/{one['key']}/options")
    values = values_of(options)
    status, told = await left(http, door, one["key"], values)
    fewer = (await left(http, door, one["key"], values[-1:]))[1]["data"]
    refused = await left(http, door, one["key"], [])

    assert not any("stock" in name.lower() or "quantity" in name.lower() for name in options["data"]["optionItems"][0])
    assert (status, [(str(v["productVariantId"]), v["remainQuantity"], v["outOfStock"]) for v in told["data"]]) == (
        200,
        [(o["code"], o["stock"] if o["stock"] <= 10 else None, o["stock"] == 0) for o in one["options"]],
    )
    assert len(fewer) < len(told["data"])
    assert (refused[0], refused[1]["meta"]["result"]) == (400, "FAIL")


async def test_an_option_that_was_taken_away_is_told_nonetheless(http: ClientSession, door: Door) -> None:
    items = (await door.truth("musinsa", brand="NIKE"))["items"]
    told = [(await got(http, door, f"{GOODS}/{one['key']}/options"))[1]["data"]["optionItems"] for one in items]
    deleted = [one for rows in told for one in rows if one["isDeleted"]]

    assert deleted
    assert {one["activated"] for one in deleted} == {False}
    assert not {str(one["no"]) for one in deleted} & {o["code"] for one in items for o in one["options"]}


async def test_pictures_are_relative_and_the_cover_is_not_among_the_others(http: ClientSession, door: Door) -> None:
    key = (await door.truth("musinsa", brand="NIKE"))["items"][0]["key"]
    told = (await got(http, door, f"{GOODS}/{key}"))[1]["data"]
    others = [one["imageUrl"] for one in told["goodsImages"]]

    assert all(path.startswith("/images/") for path in (told["thumbnailImageUrl"], *others))
    assert others
    assert told["thumbnailImageUrl"] not in others


async def test_a_picture_is_a_dot_for_who_does_not_come_from_the_shop(http: ClientSession, door: Door) -> None:
    key = (await door.truth("musinsa", brand="NIKE"))["items"][0]["key"]
    path = (await got(http, door, f"{GOODS}/{key}"))[1]["data"]["thumbnailImageUrl"]
    found = []
    for headers in ({}, {"Referer": "https://www.example.com/"}, REFERER):
        async with http.get(f"{door.url}/musinsa/image{path}", headers=headers) as answer:
            found.append((answer.status, answer.content_type, len(await answer.read()) < 1000))

    assert found == [(200, "image/gif", True), (200, "image/gif", True), (200, "image/jpeg", False)]


async def test_of_some_nothing_was_measured(http: ClientSession, door: Door) -> None:
    items = (await door.truth("musinsa", brand="NIKE"))["items"]
    told = [(await got(http, door, f"{GOODS}/{one['key']}/actual-size"))[1] for one in items]

    assert {one["meta"]["result"] for one in told} == {"SUCCESS"}
    assert {one["data"] is None for one in told} == {True, False}
    sized = next(one["data"] for one in told if one["data"])
    assert {type(item["value"]) for size in sized["sizes"] for item in size["items"]} == {float}


async def test_what_is_deleted_is_404(http: ClientSession, door: Door) -> None:
    key = (await door.truth("musinsa", brand="NIKE"))["items"][0]["key"]
    await door.override("musinsa", key, gone=True)
    found = [await got(http, door, f"{GOODS}/{key}{end}") for end in ("", "/options", "/actual-size", "/essential")]
    posted = await left(http, door, key, [1])

    assert {(status, told["meta"]["errorCode"]) for status, told in (*found, posted)} == {(404, "NOT_FOUND")}


async def test_the_company_that_sells_is_told(http: ClientSession, door: Door) -> None:
    one = (await door.truth("musinsa", brand="NIKE"))["items"][0]
    company = (await got(http, door, f"{GOODS}/{one['key']}"))[1]["data"]["company"]

    assert company.keys() == {
        *("name", "ceoName", "businessNumber", "mailOrderReportNumber"),
        *("phoneNumber", "email", "address", "detailAddress"),
    }
    assert company["email"] == f"cs@{one['seller'].lower().replace('_', '-')}.example"


async def test_pages_for_people_hold_no_list_and_the_product_in_a_script(http: ClientSession, door: Door) -> None:
    key = (await door.truth("musinsa", brand="NIKE"))["items"][0]["key"]
    async with http.get(f"{door.url}/musinsa/search/goods?keyword=나이키") as answer:
        search = await answer.text()
    async with http.get(f"{door.url}/musinsa/products/{key}") as answer:
        page = await answer.text()

    assert "goodsNo" not in search
    assert f'"goodsNo":{key}' in page
    assert "product:retailer_item_id" in page
