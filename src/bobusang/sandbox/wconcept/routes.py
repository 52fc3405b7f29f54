"""Where W Concept's answers are, and who gets them: lists for who has the public key, pages for browsers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.sandbox.desk import Asked, Route
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data, html
from bobusang.sandbox.wconcept import goods, item, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.sandbox.scene import Scene

API = "/wconcept/api/display/api"
HEADER = "display-api-key"
BROWSER = "Mozilla/"
ROBOTS = "User-agent: *\nDisallow: /\n\nUser-agent: Yeti\nAllow: /\n"
MOST_PAGE = 1_000_000


def _keyed(page: Callable[[Asked, dict[str, Any]], Reply]) -> Callable[[Asked], Reply]:
    """An answer for who has the key of the moment."""

    def answer(asked: Asked) -> Reply:
        if not asked.desk.wconcept.opens(asked.request.headers.get(HEADER, "")):
            return data(listing.failure(401, "Unauthorized"), 401)
        try:
            body = json.loads(asked.body) if asked.body else {}
            if not isinstance(body, dict):
                raise Invalid("an object is expected")
            return page(asked, body)
        except Invalid as error:
            return data(listing.failure(400, error.message), 400)

    return answer


def _for_browsers(page: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
    """A page for who looks like a browser: by its name, and by saying what it takes in which language."""

    def answer(asked: Asked) -> Reply:
        headers = asked.request.headers
        is_browser = headers.get("User-Agent", "").startswith(BROWSER) and "Accept-Language" in headers
        if not is_browser or headers.get("Accept", "*/*") == "*/*":
            return html(item.refused(), 403)
        return page(asked)

    return answer


def _number(body: dict[str, Any], name: str, default: int) -> int:
    found = body.get(name, default)
    if type(found) is not int or found < 0:
        raise Invalid(f"{name} must be a number", field=name)
    return min(found, MOST_PAGE)


def _wanted(body: dict[str, Any], **more: str) -> listing.Wanted:
    page = max(1, _number(body, "pageNo", 1))
    return listing.Wanted(**more, sort=str(body.get("sort") or "WCK"), page=page, size=_number(body, "pageSize", 60))


def _category(asked: Asked, body: dict[str, Any]) -> Reply:
    wanted = _wanted(body, medium=asked.request.match_info["medium"], large=asked.request.match_info["large"])
    if wanted.medium not in goods.MEDIUMS:
        return data(listing.failure(1001, "존재하지 않는 카테고리입니다."))
    return asked.kept(("wconcept", wanted), lambda scene: data(listing.category(scene, wanted)))


def _brand(asked: Asked, body: dict[str, Any]) -> Reply:
    wanted = _wanted(body, brand=asked.request.match_info["brand"])
    return asked.kept(("wconcept/brand", wanted), lambda scene: data(listing.brand(scene, wanted)))


def _search(asked: Asked, body: dict[str, Any]) -> Reply:
    keyword = str(body.get("keyword") or "").strip()
    if not keyword:
        return data(listing.failure(2001, "검색어를 입력하세요."))
    wanted = _wanted(body, keyword=keyword)
    return asked.kept(("wconcept/search", wanted), lambda scene: data(listing.search(scene, wanted)))


def _display(asked: Asked) -> Reply:
    """A page of the newer shop: its settings, the public key among them, stand in a script; its goods do not."""
    config = {"DISPLAY_API_KEY": asked.desk.wconcept.value, "DISPLAY_API_URL": f"http://{asked.request.host}{API}"}
    state = {"props": {"pageProps": {}}, "page": "/", "query": {}, "buildId": "sandbox", "runtimeConfig": config}
    return _shell("", state)


def _search_page(asked: Asked) -> Reply:
    """The search as a browser shows it in the end: with a block of other goods where nearly nothing was found."""
    keyword = asked.query.get("keyword", "")
    told = listing.search(asked.scene, listing.Wanted(keyword=keyword))["data"]
    found, others = told["productList"]["content"], told["recommendList"]["content"]
    more = f'<div class="product-list area-rec-prd-list">{_cards(others)}</div>' if others else ""
    return _shell(f'<div class="product-list">{_cards(found)}</div>{more}', {"page": "/search"})


def _cards(items: list[dict[str, Any]]) -> str:
    return "".join(
        f'<div class="product-item" data-itemcd="{one["itemCd"]}">{escape(one["itemName"])}</div>' for one in items
    )


def _shell(content: str, state: dict[str, Any]) -> Reply:
    script = json.dumps(state).replace("</", "<\\/")
    return html(f"""<!DOCTYPE html>
<html lang="ko"><head><meta charset="utf-8"><title>W CONCEPT</title></head>
<body><div id="__next">{content}</div>
<script id="__NEXT_DATA__" type="application/json">{script}</script></body></html>
""")


def _page(asked: Asked) -> Reply:
    no = int(asked.request.match_info["no"])

    def render(scene: Scene) -> Reply:
        one = scene.standing("wconcept", no)
        return html(item.deleted() if one is None else item.render(scene, one))

    return asked.kept(("wconcept/item", no), render)


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS.encode(), "text/plain; charset=utf-8")


def _picture(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route("/wconcept/robots.txt", "wconcept", "robots", _robots),
    Route("/wconcept/display", "wconcept", "home", _display),
    Route("/wconcept/display/", "wconcept", "home", _display),
    Route("/wconcept/display/search", "wconcept", "page", _search_page),
    Route(r"/wconcept/Product/{no:\d{1,12}}", "wconcept", "detail", _for_browsers(_page)),
    Route("/wconcept/image/{path:.+}", "wconcept", "image", _picture),
)
POSTS = (
    Route(f"{API}/v2/category/products/{{medium}}/{{large}}", "wconcept", "list", _keyed(_category)),
    Route(f"{API}/v1/category/products/{{medium}}/{{large}}", "wconcept", "list", _keyed(_category)),
    Route(f"{API}/brand/v1/products/{{brand}}", "wconcept", "brand", _keyed(_brand)),
    Route(f"{API}/v3/search/result/product", "wconcept", "search", _keyed(_search)),
)
