"""A shop on Shopify: `/products.json` by page, with every option of every product, and a front page."""

from __future__ import annotations

from datetime import timedelta
from html import escape
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data, html
from bobusang.sandbox.world import BEGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene
    from bobusang.sandbox.words import Brand
    from bobusang.sandbox.world import World

MALL = "shopify"
PAGE, MOST_PAGE = 30, 250
ROBOTS = b"User-agent: *\nDisallow: /admin\nDisallow: /cart\nAllow: /\n"


def handle(text: str) -> str:
    """A name as it stands in addresses."""
    return "-".join(text.casefold().split())


def numbers(world: World, collection: str = "all") -> Sequence[int] | None:
    """What a collection shows, newest first; None where there is no such one."""
    brands = world.malls[MALL].brands
    if collection == "all":
        return sorted((no for brand in brands for no in world.of_brand(MALL, brand)), reverse=True)
    found: Brand | None = next((brand for brand in brands if handle(brand.en) == collection), None)
    return None if found is None else world.of_brand(MALL, found)


def page(scene: Scene, shown: Sequence[int], number: int, size: int) -> dict[str, Any]:
    """A page of products; it never says how many there are, and is empty behind the last one."""
    start, stop = scene.page(len(shown), number, size)
    name = "goods" if scene.world.drifted else "products"
    return {name: [_product(scene, one) for one in scene.listed(MALL, shown[start:stop])]}


def _product(scene: Scene, one: Standing) -> dict[str, Any]:
    product = one.product
    made = (BEGIN - timedelta(days=30)).isoformat()
    options = [{"name": "Color", "position": 1}, {"name": "Size", "position": 2}]
    if product.single:
        options = [{"name": "Title", "position": 1, "values": ["Default Title"]}]
    return {
        "id": 7_000_000_000_000 + product.no,
        "title": product.title,
        "handle": f"{handle(product.brand.en)}-{product.no}",
        "body_html": f"<p>{escape(product.name)}</p>",
        "published_at": made,
        "created_at": made,
        "updated_at": scene.world.now.isoformat(),
        "vendor": product.brand.en,
        "product_type": product.kind.en,
        "tags": [product.season, *product.kind.path],
        "variants": _variants(one),
        "images": [
            {
                "id": product.no * 10 + at,
                "position": at + 1,
                "product_id": 7_000_000_000_000 + product.no,
                "src": f"http://{scene.host}/{MALL}/cdn/files/{product.no}_{at}.jpg?v=1",
                "width": 590,
                "height": 684,
            }
            for at in range(product.pictures)
        ],
        "options": options,
    }


def _variants(one: Standing) -> list[dict[str, Any]]:
    """Prices are texts, without decimals in won; what has no choice has one variant all the same."""
    product = one.product
    pairs = zip(one.options, one.stocks, strict=True)
    return [
        {
            "id": 40_000_000_000_000 + product.no * 100 + place,
            "title": "Default Title" if product.single else f"{option.color} / {option.size}",
            "option1": "Default Title" if product.single else option.color,
            "option2": None if product.single else option.size,
            "option3": None,
            "sku": option.code,
            "available": left > 0,
            "price": str(one.price),
            "grams": 0,
            "compare_at_price": str(product.list_price) if product.list_price > one.price else None,
            "position": place + 1,
        }
        for place, (option, left) in enumerate(pairs)
    ]


def front_page(scene: Scene, shown: Sequence[int]) -> str:
    """What a visitor sees of a collection: the theme draws it, and says whose shop it is."""
    links = "".join(
        f'<a class="card" href="/{MALL}/products/{handle(one.product.brand.en)}-{one.product.no}">'
        f"{escape(one.product.title)}</a>\n"
        for one in scene.listed(MALL, shown[:PAGE])
    )
    return f"""<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>Bobu Select</title>
<link rel="preconnect" href="https://cdn.shopify.com">
<script>var Shopify = Shopify || {{}};Shopify.shop = "bobu-select.myshopify.com";
Shopify.currency = {{"active":"KRW","rate":"1.0"}};</script></head>
<body>{links}</body></html>
"""


def _products(asked: Asked) -> Reply:
    query = asked.query
    size, at = max(1, number(query, "limit", PAGE, MOST_PAGE)), max(1, number(query, "page", 1))
    collection = asked.request.match_info.get("handle", "all")

    def render(scene: Scene) -> Reply:
        shown = numbers(scene.world, collection)
        return data({"errors": "Not Found"}, 404) if shown is None else data(page(scene, shown, at, size))

    return asked.kept((MALL, collection, at, size), render)


def _front(asked: Asked) -> Reply:
    collection = asked.request.match_info.get("handle", "all")

    def render(scene: Scene) -> Reply:
        shown = numbers(scene.world, collection)
        return html("<h1>404</h1>\n", 404) if shown is None else html(front_page(scene, shown))

    return asked.kept((MALL, "front", collection), render)


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS, "text/plain; charset=utf-8")


def _image(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route(f"/{MALL}/robots.txt", MALL, "robots", _robots),
    Route(f"/{MALL}/products.json", MALL, "list", _products),
    Route(f"/{MALL}/collections/{{handle}}/products.json", MALL, "collection", _products),
    Route(f"/{MALL}/", MALL, "front", _front),
    Route(f"/{MALL}/collections/{{handle}}", MALL, "front", _front),
    Route(f"/{MALL}/cdn/{{path:.+}}", MALL, "image", _image),
)
