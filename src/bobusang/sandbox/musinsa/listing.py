"""Musinsa's lists: by brand, category or keyword, in an envelope, by pages that only `page` and `size` turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.musinsa import goods

if TYPE_CHECKING:
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.world import World

PAGE, MOST_PAGE = 30, 100
RANK = 60
KEPT_LISTS = 64


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which list, in what order, which page of it."""

    brand: str = ""
    category: str = ""
    keyword: str = ""
    gender: str = "A"
    sort: str = "POPULAR"
    page: int = 1
    size: int = PAGE


def envelope(data: Any) -> dict[str, Any]:
    """An answer that went well."""
    return {"meta": {"result": "SUCCESS", "errorCode": None, "message": None}, "data": data, "error": None}


def failure(code: str, message: str) -> dict[str, Any]:
    """An answer that went wrong, as the envelope says it, whatever its status is."""
    return {
        "meta": {"result": "FAIL", "errorCode": code, "message": message},
        "data": None,
        "error": {"code": code, "message": message},
    }


def goods_list(scene: Scene, wanted: Wanted) -> dict[str, Any]:
    """A page of a list; without goods behind the last one."""
    numbers = _numbers(scene.world, scene.world.version, wanted.brand, wanted.category, wanted.keyword, wanted.gender)
    if wanted.sort != "NEW":
        numbers = tuple(sorted(numbers, key=lambda no: drawn(scene.world.seed, RANK, no)))
    start, stop = scene.page(len(numbers), wanted.page, wanted.size)
    total = scene.total(len(numbers))
    pages = -(-total // wanted.size)
    return envelope(
        {
            "list": [_card(scene, one) for one in scene.listed("musinsa", numbers[start:stop])],
            "pagination": {
                "page": wanted.page,
                "size": wanted.size,
                "totalCount": total,
                "totalPages": pages,
                "hasNext": wanted.page < pages,
            },
            "dsBucketProduct": None,
        }
    )


@lru_cache(maxsize=KEPT_LISTS)
def _numbers(world: World, version: int, brand: str, category: str, keyword: str, gender: str) -> tuple[int, ...]:
    """Newest first; sold out ones too. The version is that of the world, whose lists change with it."""
    mall = world.mall("musinsa")
    brands = [each for each in mall.brands if not brand or goods.slug(each) == brand]
    found = [no for each in brands for no in world.of_brand("musinsa", each)]
    words = keyword.casefold().split()

    def fits(no: int) -> bool:
        product = mall.product(no)
        codes = tuple(code for code, _ in goods.depths(product.kind))
        told = f"{product.title} {product.brand.name}".casefold()
        return (
            (not category or category in codes)
            and all(word in told for word in words)
            and (gender == "A" or product.gender in ("U", gender))
        )

    return tuple(sorted((no for no in found if fits(no)), reverse=True))


def _card(scene: Scene, one: Standing) -> dict[str, Any]:
    product = one.product
    final = goods.final(one)
    return {
        "goodsNo": product.no,
        "goodsName": product.title,
        "goodsLinkUrl": f"http://{scene.host}/musinsa/products/{product.no}",
        "thumbnail": f"http://{scene.host}/musinsa/image{goods.cover(product)}",
        "displayGenderText": goods.GENDERS[product.gender][0],
        "isSoldOut": one.sold_out,
        "normalPrice": product.list_price,
        "salePrice" if scene.world.drifted else "price": one.price,
        "saleRate": goods.rate(one),
        "finalPrice": final,
        "finalDiscount": one.price - final,
        "hasCoupon": final < one.price,
        "couponPrice": one.price - final,
        "brand": goods.slug(product.brand),
        "brandName": product.brand.ko,
        "brandLinkUrl": f"http://{scene.host}/musinsa/brand/{goods.slug(product.brand)}",
        "reviewCount": product.seed % 900,
        "reviewScore": 80 + product.seed % 21,
        "isOptionVisible": False,
        "isAd": False,
        "infoLabelList": [],
        "clearanceSaleLabel": None,
        "usedConditionGrade": None,
        "isRestock": False,
        "isPlusDelivery": False,
        "isExclusive": False,
    }
