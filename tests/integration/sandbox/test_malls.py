"""The malls over real HTTP: who gets what, and in what form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser

from bobusang.sandbox.world import World
from bobusang.testing.sandbox import running

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door

FACADE, LEGACY = "/mustit/mustit-api/facade-api/v1", "/mustit/mustit-api/legacy-api/v1"
SHOP = f"{FACADE}/search/mini-shop-search?sellerId=dmont&pageNo=1&pageSize=500&order=LATEST"
NIKE = quote("나이키(NIKE)")


async def status(http: ClientSession, url: str, **more: Any) -> int:
    async with http.get(url, **more) as answer:
        await answer.read()
        return answer.status


async def visitor(http: ClientSession, door: Door) -> dict[str, dict[str, str]]:
    """What an identity sends with its calls."""
    async with http.get(f"{door.mustit}/") as answer:
        cookies = {name: morsel.value for name, morsel in answer.cookies.items()}
    token = cookies.pop("token")
    return {"headers": {"Authorization": f"Bearer {token}"}, "cookies": cookies}


async def got(http: ClientSession, url: str, **more: Any) -> Any:
    async with http.get(url, **more) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_mustit_issues_three_cookies_to_who_says_what_they_are(http: ClientSession, door: Door) -> None:
    async with http.get(f"{door.mustit}/") as answer:
        named = {name: morsel["max-age"] for name, morsel in answer.cookies.items()}
        parts = answer.cookies["token"].value.count(".")
    async with http.get(f"{door.mustit}/", headers={"User-Agent": ""}) as answer:
        unnamed = dict(answer.cookies)

    assert named == {"token": "7200", "nid": "7200", "mustit_uid": "7200"}
    assert (parts, unnamed) == (2, {})


async def test_mustit_refuses_what_lacks_a_part_of_the_identity(http: ClientSession, door: Door) -> None:
    whole = await visitor(http, door)
    token = whole["headers"]["Authorization"].removeprefix("Bearer ")
    again = f"{door.url}{FACADE}/search/items?keyword=NIKE&beforeItemType=Normal&beforeItemType=Normal"
    found = [
        await status(http, door.url + SHOP),
        await status(http, door.url + SHOP, cookies={"token": token, **whole["cookies"]}),
        await status(http, door.url + SHOP, headers=whole["headers"]),
        await status(http, door.url + SHOP, headers=whole["headers"], cookies={"nid": whole["cookies"]["nid"]}),
        await status(http, door.url + SHOP, headers=whole["headers"], cookies={"mustit_uid": "1.2"}),
        await status(http, door.url + SHOP, headers={"Authorization": "Bearer a.b.c"}, cookies=whole["cookies"]),
        await status(http, again, **whole),
        await status(http, door.url + SHOP, **whole),
        await status(http, door.url + SHOP.replace("search/mini", "searchmini"), **whole),
        await status(http, f"{door.url}{LEGACY}/brands", headers=whole["headers"]),
    ]

    assert found == [400, 400, 400, 400, 400, 401, 400, 200, 200, 200]


async def test_a_token_is_worth_so_many_calls(http: ClientSession) -> None:
    async with running(World(5, 60), calls_per_token=3) as door:
        one, other = await visitor(http, door), await visitor(http, door)
        found = [await status(http, f"{door.url}{LEGACY}/brands", **one) for _ in range(5)]
        fresh = await status(http, f"{door.url}{LEGACY}/brands", **other)
        counts = await door.counts()

    assert (found, fresh) == ([200, 200, 200, 429, 429], 200)
    assert sorted(counts["tokens"].values()) == [1, 5]


async def test_a_seller_is_collected_whole_over_all_three_endpoints(http: ClientSession, door: Door) -> None:
    me = await visitor(http, door)
    truth = await door.truth("mustit", seller="dmont")
    listed = await got(http, door.url + SHOP, **me)
    found = []
    for item in listed["items"]:
        top = await got(http, f"{door.url}{FACADE}/item/{item['itemNo']}/detail/top", headers=me["headers"])
        info = next(module["data"] for module in top["moduleList"] if module["type"] == "ProductInfoModule")
        options = await got(http, f"{door.url}{LEGACY}/auction_products/{item['itemNo']}/options", **me)
        found.append(
            {
                "key": str(item["itemNo"]),
                "title": item["name"],
                "price": info["discountPrice"],
                "sold_out": info["isSoldOut"],
                "options": [(str(one["optionNo"]), one["color"], one["size"], one["stock"]) for one in options],
            }
        )

    assert listed["count"] == len(found)
    assert found == [
        {name: one[name] for name in ("key", "title", "price", "sold_out")}
        | {"options": [(o["code"], o["color"], o["size"], o["stock"]) for o in one["options"]]}
        for one in truth["items"]
    ]


async def test_a_search_is_followed_by_its_own_addresses_or_through_the_browser_door(
    http: ClientSession, door: Door
) -> None:
    me = await visitor(http, door)
    url, direct = f"{door.url}{FACADE}/search/items?keyword={quote('나이키')}&sort=LATEST", []
    while url:
        answer = await got(http, url, **me)
        direct += [one["data"]["itemNo"] for one in answer["moduleList"] if one["type"] == "SearchItemV2"]
        url = answer["nextApiUrl"] and f"{door.mustit}/mustit-api/facade-api{answer['nextApiUrl']}"
    bff = f"{door.mustit}/v2/api/facade/searchItems?keyword=NIKE&sort=LATEST&nextApiUrl="
    nexts = quote("/v1/search/items?keyword=NIKE&sort=LATEST&pageNo=1", safe="")
    routed = me["headers"] | {"X-Route-Token": "Next-Route-Token"}
    wrapped = await got(http, bff + nexts, headers=routed, cookies=me["cookies"])

    assert direct == sorted(
        (int(one["key"]) for one in (await door.truth("mustit", brand="NIKE"))["items"]), reverse=True
    )
    assert [one["data"]["itemNo"] for one in wrapped["moduleList"] if one["type"] == "SearchItemV2"] == direct[:40]
    assert await status(http, bff + nexts, **me) == 400


async def test_okmall_tells_who_has_a_page_that_it_is_the_same(http: ClientSession, door: Door) -> None:
    url = f"{door.okmall}/products/list?brand={NIKE}&page=1"
    async with http.get(url) as answer:
        tag, moment = answer.headers["ETag"], answer.headers["Last-Modified"]
    same = [
        await status(http, url, headers={"If-None-Match": tag}),
        await status(http, url, headers={"If-Modified-Since": moment}),
        await status(http, url, headers={"If-None-Match": '"other"', "If-Modified-Since": moment}),
    ]
    await door.advance(24 * 30)
    later = [
        await status(http, url, headers={"If-None-Match": tag}),
        await status(http, url, headers={"If-Modified-Since": moment}),
    ]

    assert (same, later) == ([304, 304, 200], [200, 200])


async def test_okmall_answers_200_for_what_is_no_more_and_reads_old_links(http: ClientSession, door: Door) -> None:
    truth = await door.truth("okmall", brand="NIKE")
    key = truth["items"][0]["key"]
    await door.override("okmall", key, gone=True)
    async with http.get(f"{door.okmall}/products/view?no={key}") as answer:
        deleted = (answer.status, "application/ld+json" in await answer.text())
    old = quote("나이키(NIKE)".encode("euc-kr"))
    async with http.get(f"{door.okmall}/products/list?brand={old}") as answer:
        boxes = LexborHTMLParser(await answer.read()).css("div.item_box[data-productno]")

    assert deleted == (200, False)
    assert {box.attributes["data-productno"] for box in boxes} == {
        one["key"] for one in truth["items"] if one["listed"] and one["key"] != key
    }
    assert await status(http, f"{door.okmall}/products/view?no=x") == 400


async def test_pictures_named_on_pages_are_there(http: ClientSession, door: Door) -> None:
    key = next(one["key"] for one in (await door.truth("okmall", brand="NIKE"))["items"])
    async with http.get(f"{door.okmall}/products/view?no={key}") as answer:
        scripts = LexborHTMLParser(await answer.read()).css('script[type="application/ld+json"]')
    me = await visitor(http, door)
    shop = await got(http, door.url + SHOP, **me)
    for url in (*json.loads(scripts[0].text())["image"][:2], shop["items"][0]["imageUrlList"][0]):
        async with http.get(url) as answer:
            body = await answer.read()

        assert (answer.status, answer.content_type, body[:2], body[-2:]) == (
            200,
            "image/jpeg",
            b"\xff\xd8",
            b"\xff\xd9",
        )


async def test_the_small_sites_and_robots_are_there(http: ClientSession, door: Door) -> None:
    async with http.get(f"{door.url}/plain/list?page=2") as answer:
        page = LexborHTMLParser(await answer.read())
    shown = [
        (str(one.attributes["data-id"]), one.css(".title")[0].text(), one.css(".price")[0].text())
        for one in page.css(".product-item")
    ]
    goods = (await door.truth("plain"))["items"]
    feed = await got(http, f"{door.url}/feed/items.json?size=5")
    async with http.get(f"{door.url}/news/list?page=1") as answer:
        links = [str(link.attributes["href"]) for link in LexborHTMLParser(await answer.read()).css("a.news_tit")]

    assert shown == [(one["key"], one["title"], f"{one['price']:,}원") for one in goods[20:40]]
    assert feed["next_cursor"] == feed["items"][-1]["id"]
    assert [await status(http, door.url + link) for link in links[:3]] == [200, 200, 200]
    assert [await status(http, f"{door.url}{where}/robots.txt") for where in ("", "/okmall", "/mustit")] == [
        200,
        200,
        200,
    ]
    assert await status(http, f"{door.url}/news/article/1") == 404
