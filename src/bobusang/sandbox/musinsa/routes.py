"""Where Musinsa's answers are, each host under its name; and its pictures, for who comes from its own pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.musinsa import detail, goods, listing
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data, html

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

LIST, GOODS = "/musinsa/api/api2/dp/v1/plp/goods", r"/musinsa/detail/api2/goods/{no:\d{1,12}}"
ROBOTS = "User-agent: *\nDisallow: /api/\nDisallow: /order/\n"
PLACEHOLDER = (
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00"
    b",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
)
"""What is shown to who links to a picture from elsewhere: a dot, with status 200."""
AT_HOME = ("www.musinsa.com", "musinsa.com")
MOST_VALUES = 1000


def _list(asked: Asked) -> Reply:
    """`pageNumber` and `pageSize`, which others have tried, are not looked at."""
    query = asked.query
    try:
        wanted = listing.Wanted(
            query.get("brand", ""),
            query.get("category", ""),
            query.get("keyword", "").strip(),
            query.get("gf", "") or "A",
            query.get("sortCode", "") or "POPULAR",
            max(1, number(query, "page", 1)),
            max(1, number(query, "size", listing.PAGE, listing.MOST_PAGE)),
        )
    except Invalid as error:
        return data(listing.failure("INVALID_PARAMETER", error.message), 400)
    if not (wanted.brand or wanted.category or wanted.keyword):
        # Nothing to look for is an error inside an answer that is called good.
        return data(listing.failure("INVALID_PARAMETER", "category, brand or keyword is required"))
    return asked.kept(("musinsa", wanted), lambda scene: data(listing.goods_list(scene, wanted)))


def _of_item(name: str, tell: Callable[[Scene, Standing], object]) -> Callable[[Asked], Reply]:
    def page(asked: Asked) -> Reply:
        no = int(asked.request.match_info["no"])

        def render(scene: Scene) -> Reply:
            one = scene.standing("musinsa", no)
            return _deleted() if one is None else data(tell(scene, one))

        return asked.kept((name, no), render)

    return page


def _deleted() -> Reply:
    return data(listing.failure("NOT_FOUND", "존재하지 않는 상품입니다."), 404)


def _inventories(asked: Asked) -> Reply:
    one = asked.scene.standing("musinsa", int(asked.request.match_info["no"]))
    if one is None:
        return _deleted()
    try:
        values = json.loads(asked.body)["optionValueNos"]
    except (Invalid, KeyError, TypeError):
        values = None
    if not isinstance(values, list) or not values or not all(type(each) is int for each in values[:MOST_VALUES]):
        return data(listing.failure("INVALID_PARAMETER", "optionValueNos: 숫자 목록이 필요합니다."), 400)
    return data(detail.inventories(one, values[:MOST_VALUES]))


def _landing(asked: Asked) -> Reply:
    """The page that people see: the same object inside a script, and names in meta tags."""
    one = asked.scene.standing("musinsa", int(asked.request.match_info["no"]))
    if one is None:
        return html("<!DOCTYPE html><html lang='ko'><head><title>무신사</title></head><body>404</body></html>\n", 404)
    state = {"props": {"pageProps": {"meta": detail.product(asked.scene, one)}}}
    told = {
        "og:title": f"{one.product.title} - {one.product.brand.ko} | 무신사",
        "product:brand": one.product.brand.ko,
        "product:availability": "품절" if one.sold_out else "주문가능",
        "product:price:amount": str(one.price),
        "product:price:normal_price": str(one.product.list_price),
        "product:price:currency": "KRW",
        "product:retailer_item_id": str(goods.company(one.product.seller)["name"]),
    }
    metas = "\n".join(f'<meta property="{name}" content="{escape(value)}">' for name, value in told.items())
    script = json.dumps(state).replace("</", "<\\/")
    return html(f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8">
{metas}
<title>{escape(one.product.title)} | 무신사</title></head>
<body><div id="__next"></div>
<script id="__NEXT_DATA__" type="application/json">{script}</script></body></html>
""")


def _shell(asked: Asked) -> Reply:
    """Lists of products as people see them: the page itself has none."""
    return html(
        "<!DOCTYPE html><html lang='ko'><head><title>무신사</title></head><body><div id='__next'></div></body></html>\n"
    )


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS.encode(), "text/plain; charset=utf-8")


def _from_home(asked: Asked) -> bool:
    """Whether who asks says that it comes from a page of the shop, the real one's or ours."""
    before = urlsplit(asked.request.headers.get("Referer", ""))
    return before.hostname in AT_HOME or (before.netloc == asked.request.host and before.path.startswith("/musinsa"))


def _picture(asked: Asked) -> Reply:
    if not _from_home(asked):
        return Reply(PLACEHOLDER, "image/gif")
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route("/musinsa", "musinsa", "home", _shell),
    Route("/musinsa/", "musinsa", "home", _shell),
    Route("/musinsa/robots.txt", "musinsa", "robots", _robots),
    Route("/musinsa/search/goods", "musinsa", "page", _shell),
    Route("/musinsa/brand/{slug}", "musinsa", "page", _shell),
    Route(r"/musinsa/products/{no:\d{1,12}}", "musinsa", "page", _landing),
    Route(LIST, "musinsa", "list", _list),
    Route(LIST.replace("/v1/", "/v2/"), "musinsa", "list", _list),
    Route(GOODS, "musinsa", "detail", _of_item("musinsa/goods", detail.product)),
    Route(f"{GOODS}/options", "musinsa", "options", _of_item("musinsa/options", lambda _, one: detail.options(one))),
    Route(
        f"{GOODS}/actual-size", "musinsa", "sizes", _of_item("musinsa/sizes", lambda _, one: detail.sizes(one.product))
    ),
    Route(
        f"{GOODS}/essential",
        "musinsa",
        "essentials",
        _of_item("musinsa/essentials", lambda _, one: detail.essentials(one.product)),
    ),
    Route("/musinsa/image/{path:.+}", "musinsa", "image", _picture),
)
POSTS = (Route(f"{GOODS}/options/v2/prioritized-inventories", "musinsa", "stock", _inventories),)
