"""W Concept's lists: by category, brand and keyword, sixty a page whatever is asked for, never what is sold out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.chance import drawn
from bobusang.sandbox.wconcept import goods

if TYPE_CHECKING:
    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.world import World

PAGE = 60
"""So many, however many are asked for."""
RECOMMENDED = 8
RANK = 60
KEPT_LISTS = 64


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which list, in what order, which page of it."""

    medium: str = ""
    large: str = ""
    brand: str = ""
    keyword: str = ""
    sort: str = "WCK"
    page: int = 1
    size: int = PAGE


def envelope(data: Any) -> dict[str, Any]:
    """An answer that went well."""
    return {"result": "SUCCESS", "data": data, "errorCode": 0, "message": ""}


def failure(code: int, message: str) -> dict[str, Any]:
    """One that did not."""
    return {"result": "FAIL", "data": None, "errorCode": code, "message": message}


def found(scene: Scene, wanted: Wanted) -> dict[str, Any]:
    """A page of a list: what it shows, and how much there is."""
    numbers = _sorted(scene, wanted)
    size = max(1, min(wanted.size, PAGE))
    start, stop = scene.page(len(numbers), wanted.page, size)
    shown = scene.listed("wconcept", numbers[start:stop])
    total = scene.total(len(numbers))
    return {
        "content": [_item(scene, one) for one in shown],
        "totalElements": total,
        "totalPages": -(-total // size),
        "number": wanted.page,
        "size": size,
    }


def category(scene: Scene, wanted: Wanted) -> dict[str, Any]:
    """A category's page; its list is an object of its own."""
    return envelope({"categoryName": wanted.large, "productList": found(scene, wanted)})


def brand(scene: Scene, wanted: Wanted) -> dict[str, Any]:
    """A brand's page; its list is the answer itself."""
    return envelope(found(scene, wanted))


def search(scene: Scene, wanted: Wanted) -> dict[str, Any]:
    """What was found; where that is nothing or one thing, others are recommended beside it."""
    listed = found(scene, wanted)
    more = recommended(scene, wanted) if listed["totalElements"] <= 1 else []
    return envelope({"productList": listed, "recommendList": {"title": "추천 상품", "content": more}})


def recommended(scene: Scene, wanted: Wanted) -> list[dict[str, Any]]:
    """Other goods, which nobody has looked for."""
    here = set(_numbers(scene.world, scene.world.version, "", "", "", wanted.keyword))
    every = _numbers(scene.world, scene.world.version, "", "", "", "")
    others = [no for no in every if no not in here][:RECOMMENDED]
    return [_item(scene, one) for one in scene.listed("wconcept", others)]


def _sorted(scene: Scene, wanted: Wanted) -> list[int]:
    world = scene.world
    numbers = _numbers(world, world.version, wanted.medium, wanted.large, wanted.brand, wanted.keyword)
    match wanted.sort:
        case "NEW":
            return list(numbers)
        case "LOWPRICE" | "HIGHPRICE":
            prices = {no: one.price for no in numbers if (one := world.standing("wconcept", no)) is not None}
            return sorted(prices, key=lambda no: (prices[no], no), reverse=wanted.sort == "HIGHPRICE")
    return sorted(numbers, key=lambda no: drawn(world.seed, RANK, no))


@lru_cache(maxsize=KEPT_LISTS)
def _numbers(world: World, version: int, medium: str, large: str, brand: str, keyword: str) -> tuple[int, ...]:
    """Newest first. The version is that of the world, whose lists change with it."""
    mall = world.mall("wconcept")
    brands = [each for each in mall.brands if not brand or goods.brand_code(each) == brand]
    letter = goods.MEDIUMS[medium][0] if medium in goods.MEDIUMS else ""
    words = keyword.casefold().split()

    def fits(no: int) -> bool:
        product = mall.product(no)
        told = f"{product.title} {product.brand.name}".casefold()
        return (
            (not medium or product.gender in (letter, "U"))
            and (not large or goods.LARGE[product.kind.sizes][0] == large)
            and all(word in told for word in words)
        )

    found = (no for each in brands for no in world.of_brand("wconcept", each) if fits(no))
    return tuple(sorted(found, reverse=True))


def _item(scene: Scene, one: Standing) -> dict[str, Any]:
    product = one.product
    picture = goods.picture(scene.host, product.no, 0, shape=0)
    large, small = goods.depths(product.kind)
    return {
        "itemCd": str(product.no),
        "itemName": product.title,
        "brandNameKr": product.brand.ko,
        "brandNameEn": product.brand.en,
        "brandCd": goods.brand_code(product.brand),
        "customerPrice": product.list_price,
        "sellPrice" if scene.world.drifted else "salePrice": one.price,
        "finalPrice": goods.final(one),
        "finalDiscountRate": goods.rate(one),
        "imageUrlMobile": picture,
        "productImageUrl": picture,
        "webViewUrl": f"/Product/{product.no}",
        "statusCd": goods.SOLD_OUT if one.sold_out else goods.ON_SALE,
        "mediumName": goods.department(product)[1],
        "categoryDepthName1": goods.department(product)[1],
        "categoryDepthName2": large,
        "categoryDepthName3": small,
        "reviewCnt": product.seed % 90,
        "reviewScore": 4.5,
        "heartCnt": product.seed % 3000,
    }
