"""MustIt's lists: a seller's shop by page number, and the search that hands on the address of its next page."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.mustit import goods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

PAGE = 20
MOST_PAGE = 500
SEARCHED = 40
SMALL, LARGE = "resize/300x300/extent/300x400", "resize/500x500/extent/500x500"
RANK, LOWEST = 60, 62
TAG = {"title": "무료배송", "textColor": "#888888", "bgColor": "#ffffff", "borderColor": "#dddddd"}


def mini_shop(scene: Scene, seller: str, page: int, size: int) -> dict[str, Any]:
    """A page of a seller's shop."""
    numbers = scene.world.of_seller(seller)
    start, stop = scene.page(len(numbers), max(1, page), size)
    shown = scene.listed("mustit", numbers[start:stop])
    return {
        "count": scene.total(len(numbers)),
        "indexName": "item-idx-a",
        "groupResult": _groups(scene, numbers),
        "items": [_item(scene, one, place) for place, one in enumerate(shown)],
    }


def _item(scene: Scene, one: Standing, place: int) -> dict[str, Any]:
    product, price = one.product, f"{one.price:,}"
    off, normal = str(goods.rate(one)), f"{product.list_price:,}"
    return {
        "itemNo": product.no,
        "imageUrlList": goods.pictures(scene.host, product, SMALL),
        "brandName": product.brand.en,
        "landingUrl": goods.landing(scene.host, product.no),
        "name": product.title,
        "salePrice" if scene.world.drifted else "price": price,
        "tagList": [] if product.shipping_fee else [TAG],
        "originalPrice": normal,
        "normalPrice": normal,
        "discountRate": off,
        "likeStatus": False,
        "appDiscountRate": off,
        "appPrice": price,
        "likeImageUrl": "",
        "webSpacingInfo": "even" if place % 2 else "odd",
    }


def _groups(scene: Scene, numbers: Sequence[int]) -> dict[str, Any]:
    mall = scene.world.mall("mustit")
    counted = Counter((no - numbers[0]) % len(mall.brands) for no in numbers) if numbers else Counter()
    first = mall.product(numbers[0]).brand.index if numbers else 0
    brands = [(mall.brands[(step + first) % len(mall.brands)], count) for step, count in counted.most_common()]
    return {
        "headerCategoryGroupResult": [
            {"headerCategoryCode": "M", "headerCategoryName": "남성", "categoryCount": len(numbers) * 3 // 5},
            {"headerCategoryCode": "W", "headerCategoryName": "여성", "categoryCount": len(numbers) * 2 // 5},
        ],
        "largeCategoryGroupResult": [],
        "mediumCategoryGroupResult": [],
        "smallCategoryGroupResult": [],
        "brandGroupResult": [
            {"brandCode": brand.code, "brandName": brand.en, "brandNameKor": brand.ko, "brandCount": count}
            for brand, count in brands
        ],
        "priceRangeResult": [{"startPrice": 0, "endPrice": 99_999}, {"startPrice": 100_000, "endPrice": 199_999}],
        "colorCodeResult": [{"imgColorCode": "BLACK", "imgColorCodeCount": len(numbers) // 10}],
        "recommendKeywordGroupResult": [{"keyword": "반팔", "count": len(numbers) // 18}],
        "usedStatusGroupResult": [{"usedStatus": "NEW", "count": len(numbers)}],
    }


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for."""

    keyword: str
    sort: str = "POPULAR2"
    filter: str = ""
    page: int = 1


def search(scene: Scene, asked: Search) -> dict[str, Any]:
    """A page of what was found, among modules of other kinds; the page behind the last is empty and leads nowhere."""
    numbers = _found(scene, asked)
    start, stop = scene.page(len(numbers), asked.page, SEARCHED)
    shown = scene.listed("mustit", numbers[start:stop])
    modules: list[dict[str, Any]] = []
    for place, one in enumerate(shown):
        if place % 12 == 3:
            modules.append({"type": "SearchBannerModule", "data": {"title": "기획전", "landingUrl": ""}})
        last = start + place + 1 == len(numbers)
        modules.append({"type": "SearchItemV2", "data": _searched(scene, one, last, len(numbers))})
    if shown:
        modules.append({"type": "VerticalMargin", "data": {"lineHeight": 10, "backgroundColor": "#FAFAFA"}})
    return {"moduleList": modules, "nextApiUrl": _next(asked) if shown else None, "trackingInfos": []}


def _found(scene: Scene, asked: Search) -> list[int]:
    world, mall = scene.world, scene.world.mall("mustit")
    brand = mall.brand(asked.keyword)
    numbers = list(world.of_brand("mustit", brand)) if brand else list(world.of_seller(asked.keyword))
    if "lwp:Y" in asked.filter:  # a filter that silently hides most of what there is
        numbers = [no for no in numbers if drawn(world.seed, LOWEST, no) % 100 < 30]
    if asked.sort == "LATEST":
        return numbers
    return sorted(numbers, key=lambda no: drawn(world.seed, RANK, no))


def _next(asked: Search) -> str:
    narrowed = f"&f={quote(asked.filter, safe='')}" if asked.filter else ""
    return (
        f"/v1/search/items?keyword={quote(asked.keyword, safe='')}&sort={asked.sort}{narrowed}"
        f"&pageNo={asked.page + 1}&beforeItemType=Normal&previousIdx=0%2C0"
    )


def _searched(scene: Scene, one: Standing, last: bool, count: int) -> dict[str, Any]:
    product = one.product
    where = goods.category(product.kind)
    return {
        "itemNo": product.no,
        "imageUrlList": goods.pictures(scene.host, product, SMALL),
        "brandName": product.brand.en,
        "brandCode": product.brand.code,
        "shippingType": "국내배송",
        "name": product.title,
        "salePrice" if scene.world.drifted else "price": f"{one.price:,}",
        "originalPrice": f"{product.list_price:,}",
        "discountRate": str(goods.rate(one)),
        "tagList": [] if product.shipping_fee else [TAG],
        "badgeList": [],
        "landingUrl": goods.landing(scene.host, product.no),
        "likeCount": str(product.seed % 90),
        "likeStatus": False,
        "reviewScore": "0",
        "isLastItem": last,
        "isLowestPrice": product.seed % 3 == 0,
        "catalogItemCount": 0,
        "catalogNo": 0,
        "catalogMainImageUrl": "",
        "isAd": False,
        "amplitudeInfo": {
            "parameters": {
                "list_price": product.list_price,
                "selling_price": goods.selling(one),
                "discount_price": one.price,
                "category_1_id": where.large[0],
                "category_1_name": where.large[1],
                "category_2_id": where.medium[0],
                "category_2_name": where.medium[1],
                "category_3_id": where.small[0],
                "category_3_name": where.small[1],
                "product_count": count,
            }
        },
        "ga4Info": {},
    }


def brands(scene: Scene) -> dict[str, Any]:
    """All brands by their first letter."""
    english: dict[str, list[dict[str, Any]]] = {}
    korean: dict[str, list[dict[str, Any]]] = {}
    for brand in sorted(scene.world.mall("mustit").brands, key=lambda one: one.en):
        entry = {
            "brandNo": brand.code,
            "brandNameEng": brand.en,
            "brandNameKor": brand.ko,
            "keyword": f"{brand.en},{brand.ko}",
        }
        english.setdefault(brand.en[0], []).append(entry)
        korean.setdefault(brand.ko[0], []).append(entry)
    return {"english": english, "korean": korean}
