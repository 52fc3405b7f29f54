"""What is so at this moment, for tests that compare it with what was collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox import feed, news, plain
from bobusang.sandbox.wconcept.goods import depth
from bobusang.sandbox.words import SELLERS
from bobusang.sandbox.world import WITHOUT_SOLD_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bobusang.sandbox.product import Product, Standing
    from bobusang.sandbox.world import World


def truth(world: World, mall: str, *, brand: str = "", seller: str = "") -> dict[str, Any]:
    """All products of a brand or a seller that are sold now, and the keys of those that are no more."""
    head: dict[str, Any] = {"mall": mall, "hours": world.hours}
    items: list[dict[str, Any]]
    match mall:
        case "news":
            items = [{"key": str(one.id), "title": one.title, "body": one.body} for one in news.articles(world)]
            return {**head, "items": items, "gone": []}
        case "feed":
            return {**head, "items": [{"key": one["id"], **one} for one in feed.entries(world)], "gone": []}
        case "plain":
            goods = (plain.good(world, id + 1) for id in range(world.size))
            items = [{"key": str(one.id), "title": one.title, "price": one.price} for one in goods]
            return {**head, "items": items, "gone": []}
    there, gone = _numbers(world, mall, brand, seller)
    found = [one for no in there if (one := world.standing(mall, no)) is not None]
    return {**head, "items": [told(mall, one) for one in found], "gone": [str(no) for no in gone]}


def _numbers(world: World, mall: str, brand: str, seller: str) -> tuple[Iterable[int], Iterable[int]]:
    shelves = world.mall(mall)
    if seller and mall == "mustit":
        if seller not in SELLERS:
            raise Missing(f"MustIt has no seller '{seller}'", hint=f"there are {', '.join(SELLERS)}")
        gone = (no for each in shelves.brands for no in shelves.gone(world.hours, each) if shelves.seller(no) == seller)
        return world.of_seller(seller), gone
    if not brand:
        raise Invalid("name a brand, or a seller of mustit", hint="/admin/truth?mall=okmall&brand=나이키(NIKE)")
    wanted = shelves.brand(brand)
    if wanted is None:
        raise Missing(f"{mall} has no brand '{brand}'", hint="GET /admin/world lists them")
    return shelves.numbers(world.hours, wanted), shelves.gone(world.hours, wanted)


def told(mall: str, one: Standing) -> dict[str, Any]:
    """One product, with the options that its mall shows."""
    product = one.product
    shown = () if _is_untold(mall, product) else zip(one.options, one.stocks, strict=True)
    return {
        "key": str(product.no),
        "title": product.title,
        "brand": product.brand.en,
        "brand_ko": product.brand.ko,
        "model": product.model,
        "price": one.price,
        "list_price": product.list_price,
        "sold_out": one.sold_out,
        "listed": mall not in WITHOUT_SOLD_OUT or not one.sold_out,
        "seller": "" if mall == "okmall" else product.seller,
        "options": [
            {"code": option.code, "color": option.color, "size": option.size, "stock": left, "available": left > 0}
            for option, left in shown
        ],
    }


def _is_untold(mall: str, product: Product) -> bool:
    """Whether the mall's pages name no options of it. W Concept tells a second choice only once the first is made."""
    if mall == "wconcept":
        return depth(product) != 1
    return mall == "okmall" and product.single
