"""W Concept over real HTTP, one quirk each: who gets a list, what it leaves out, what a page says beside the truth."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from selectolax.lexbor import LexborHTMLParser

from bobusang.sandbox.wconcept.goods import depth
from bobusang.sandbox.world import World

if TYPE_CHECKING:
    from aiohttp import ClientSession

    from bobusang.testing.sandbox import Door

API = "/wconcept/api/display/api"
WOMEN_CLOTHES = f"{API}/v2/category/products/M33439436/001"
SEARCH = f"{API}/v3/search/result/product"
NIKE = f"{API}/brand/v1/products/100001"
BROWSER = {"User-Agent": "Mozilla/5.0 (X11)", "Accept": "text/html", "Accept-Language": "ko-KR"}


async def key_of(http: ClientSession, door: Door) -> str:
    """The public key, as any page of the newer shop shows it."""
    async with http.get(f"{door.url}/wconcept/display/") as answer:
        page = LexborHTMLParser(await answer.text())
    node = page.css_first("script#__NEXT_DATA__")
    assert node is not None
    return str(json.loads(node.text())["runtimeConfig"]["DISPLAY_API_KEY"])


async def posted(http: ClientSession, door: Door, path: str, key: str | None = None, **body: Any) -> tuple[int, Any]:
    headers = {} if key is None else {"display-api-key": key}
    async with http.post(door.url + path, json=body, headers=headers) as answer:
        return answer.status, await answer.json()


async def page_of(http: ClientSession, door: Door, no: int) -> str:
    async with http.get(f"{door.url}/wconcept/Product/{no}", headers=BROWSER) as answer:
        assert answer.status == 200
        return await answer.text()


async def test_without_the_key_a_list_is_401(http: ClientSession, door: Door) -> None:
    refused = {"result": "FAIL", "data": None, "errorCode": 401, "message": "Unauthorized"}

    assert await posted(http, door, WOMEN_CLOTHES, pageNo=1) == (401, refused)
    assert await posted(http, door, WOMEN_CLOTHES, "guessed", pageNo=1) == (401, refused)


async def test_the_key_stands_in_a_page_and_another_one_opens_after_it_was_changed(
    http: ClientSession, door: Door
) -> None:
    first = await key_of(http, door)
    opened = (await posted(http, door, NIKE, first, pageNo=1))[0]
    await door.rotate()
    closed = (await posted(http, door, NIKE, first, pageNo=1))[0]
    second = await key_of(http, door)

    assert (opened, closed, (await posted(http, door, NIKE, second, pageNo=1))[0]) == (200, 401, 200)
    assert first != second


async def test_a_page_has_sixty_whatever_is_asked_for(http: ClientSession, door: Door) -> None:
    key = await key_of(http, door)
    _, many = await posted(http, door, WOMEN_CLOTHES, key, pageNo=1, pageSize=200)
    _, next_page = await posted(http, door, WOMEN_CLOTHES, key, pageNo=2, pageSize=200)
    _, far = await posted(http, door, WOMEN_CLOTHES, key, pageNo=7936, pageSize=60)
    listed = many["data"]["productList"]

    assert (len(listed["content"]), listed["size"], listed["totalPages"]) == (60, 60, -(-listed["totalElements"] // 60))
    assert not {one["itemCd"] for one in listed["content"]} & {
        one["itemCd"] for one in next_page["data"]["productList"]["content"]
    }
    assert far["data"]["productList"]["content"] == []


async def test_who_is_no_browser_gets_403(http: ClientSession, door: Door) -> None:
    no = door_no(await posted(http, door, NIKE, await key_of(http, door), pageNo=1))
    found = []
    lacking = ({name: value for name, value in BROWSER.items() if name != each} for each in BROWSER)
    for headers in ({**BROWSER, "User-Agent": "python"}, *lacking, BROWSER):
        async with http.get(f"{door.url}/wconcept/Product/{no}", headers=headers) as answer:
            found.append(answer.status)

    assert found == [403, 403, 403, 403, 200]


def door_no(told: tuple[int, Any], place: int = 0) -> int:
    return int(told[1]["data"]["content"][place]["itemCd"])


async def test_lists_leave_out_what_is_sold_out(http: ClientSession, door: Door) -> None:
    key = await key_of(http, door)
    told = await posted(http, door, NIKE, key, pageNo=1)
    no = door_no(told)
    await door.override("wconcept", str(no), sold_out=True)
    _, after = await posted(http, door, NIKE, key, pageNo=1)
    truth = await door.truth("wconcept", brand="NIKE")

    assert after["data"]["totalElements"] == told[1]["data"]["totalElements"] - 1
    assert str(no) not in {one["itemCd"] for one in after["data"]["content"]}
    assert {one["listed"] for one in truth["items"] if one["key"] == str(no)} == {False}
    assert {one["statusCd"] for one in after["data"]["content"]} == {"01"}


async def test_a_page_says_sold_out_by_its_status_alone(http: ClientSession, door: Door) -> None:
    """The words stand in the template of what is on sale too, and `totalQty` is not what is left."""
    no = door_no(await posted(http, door, NIKE, await key_of(http, door), pageNo=1))
    on_sale = await page_of(http, door, no)
    await door.override("wconcept", str(no), sold_out=True)
    sold_out = await page_of(http, door, no)

    def said(text: str) -> tuple[str, str, bool]:
        found = re.search(r"var statusCd='(\d\d)'; var totalQty='(\d+)'", text)
        assert found is not None
        return found[1], found[2], "SOLD OUT" in text

    assert said(on_sale) == ("01", "1", True)
    assert said(sold_out) == ("04", str(900 + no % 90), True)


async def test_the_stock_of_each_size_stands_in_a_script_beside_the_sizes(http: ClientSession, door: Door) -> None:
    items = (await door.truth("wconcept", brand="NIKE"))["items"]
    one = next(one for one in items if len(one["options"]) > 1 and any(not o["stock"] for o in one["options"]))
    page = await page_of(http, door, int(one["key"]))
    rows = LexborHTMLParser(page).css("select#optionidx option")
    stocks = re.search(r"skuqty=(\[[^\]]*\])", page)
    assert stocks is not None

    assert rows[0].attributes["value"] == "00"
    assert [(row.attributes["value"], row.attributes["optionvalue"]) for row in rows[1:]] == [
        (option["code"], option["size"]) for option in one["options"]
    ]
    assert json.loads(stocks[1]) == [option["stock"] for option in one["options"]]


async def test_a_second_choice_is_told_only_once_the_first_is_made(http: ClientSession, door: Door) -> None:
    key = await key_of(http, door)
    _, told = await posted(http, door, NIKE, key, pageNo=1)
    pages = [await page_of(http, door, int(one["itemCd"])) for one in told["data"]["content"]]
    two = next(page for page in pages if 'id="optionDepthCount" value="2"' in page)

    assert "skuqty=[]" in two
    assert len(LexborHTMLParser(two).css("select#optionidx2 option")) == 1


async def test_pictures_have_no_scheme(http: ClientSession, door: Door) -> None:
    no = door_no(await posted(http, door, NIKE, await key_of(http, door), pageNo=1))
    page = LexborHTMLParser(await page_of(http, door, no))
    zoomed = [str(row.attributes["data-zoom-image"]) for row in page.css("ul#gallery li a")]
    async with http.get(f"http:{zoomed[0]}") as answer:
        kind = answer.content_type

    assert all(address.startswith(f"//{door.host_port}/wconcept/image/productimg/image/img9/") for address in zoomed)
    assert kind == "image/jpeg"


async def test_where_nearly_nothing_is_found_other_goods_are_recommended(http: ClientSession, door: Door) -> None:
    key = await key_of(http, door)
    [model] = [one["model"] for one in (await door.truth("wconcept", brand="NIKE"))["items"] if one["listed"]][:1]
    _, nothing = await posted(http, door, SEARCH, key, keyword="없는말", pageNo=1)
    _, one = await posted(http, door, SEARCH, key, keyword=model, pageNo=1)
    _, many = await posted(http, door, SEARCH, key, keyword="나이키", pageNo=1)
    async with http.get(f"{door.url}/wconcept/display/search?keyword=없는말") as answer:
        page = LexborHTMLParser(await answer.text())

    def counted(told: Any) -> tuple[int, int]:
        return len(told["data"]["productList"]["content"]), len(told["data"]["recommendList"]["content"])

    assert (counted(nothing), counted(one)) == ((0, 8), (1, 8))
    assert counted(many)[1] == 0
    assert len(page.css(".product-list .product-item")) == 8
    assert page.css(".product-list:not(.area-rec-prd-list) .product-item") == []


async def test_a_page_tells_who_sells(http: ClientSession, door: Door) -> None:
    one = (await door.truth("wconcept", brand="NIKE"))["items"][0]
    page = LexborHTMLParser(await page_of(http, door, int(one["key"])))
    rows = {str(row.css("th")[0].text()): str(row.css("td")[0].text()) for row in page.css("table.pdt_seller tr")}

    assert rows.keys() == {"상호", "대표자", "사업장 소재지", "사업자등록번호", "연락처", "E-mail"}
    assert rows["E-mail"] == f"help@{one['seller'].lower().replace('_', '-')}.example"


async def test_an_error_stands_inside_an_answer_that_is_called_good(http: ClientSession, door: Door) -> None:
    key = await key_of(http, door)
    unknown = await posted(http, door, f"{API}/v2/category/products/M1/001", key, pageNo=1)
    empty = await posted(http, door, SEARCH, key, keyword="", pageNo=1)

    assert [(status, told["result"], told["data"]) for status, told in (unknown, empty)] == [(200, "FAIL", None)] * 2


def test_choices_follow_each_other_where_there_are_two_colours() -> None:
    mall = World(5, 300).mall("wconcept")
    products = [mall.product(no) for no in mall.numbers(0, mall.brands[0])]

    assert {depth(one) for one in products} == {0, 1, 2}
