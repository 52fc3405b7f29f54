"""Where MustIt's answers are, and who gets them: a bearer token for all, two cookies more for a search."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from bobusang.kit.errors import Invalid
from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.mustit import detail, listing
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data, html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bobusang.sandbox.product import Standing
    from bobusang.sandbox.scene import Scene

FACADE, LEGACY = "/mustit/mustit-api/facade-api/v1", "/mustit/mustit-api/legacy-api/v1"
ROUTE_HEADER, ROUTE_VALUE = "X-Route-Token", "Next-Route-Token"
ROBOTS = "User-agent: *\nDisallow: /mustit-api/\nAllow: /\n"


def refused(asked: Asked, status: int, message: str) -> Reply:
    """An error as the API words it."""
    names = {400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
    path = asked.request.path.removeprefix("/mustit")
    return data({"status": status, "error": names[status], "message": message, "path": path}, status)


def guarded(page: Callable[[Asked], Reply], *, search: bool = False, cookie: bool = False) -> Callable[[Asked], Reply]:
    """A page for visitors with a token: in the header, or where `cookie` says so in a cookie."""

    def answer(asked: Asked) -> Reply:
        token = bearer(asked) or (asked.request.cookies.get("token", "") if cookie else "")
        if not token:
            return refused(asked, 400, "Authorization header is required")
        visitor = asked.desk.sessions.visitor(token)
        if visitor is None:
            return refused(asked, 401, "token is invalid or expired")
        if asked.desk.sessions.spent(visitor):
            return refused(asked, 429, "too many requests")
        if search and not _known(asked):
            return refused(asked, 400, "nid and uid are required")
        try:
            return page(asked)
        except Invalid as error:
            return refused(asked, 400, error.message)

    return answer


def bearer(asked: Asked) -> str:
    """The token of the Authorization header."""
    scheme, _, token = asked.request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _known(asked: Asked) -> bool:
    cookies, query = asked.request.cookies, asked.query
    return bool(cookies.get("nid") or query.get("nid")) and bool(cookies.get("mustit_uid") or query.get("uid"))


def _home(asked: Asked) -> Reply:
    reply = html("<!DOCTYPE html><html lang='ko'><head><title>머스트잇</title></head><body>MUST IT</body></html>\n")
    if asked.request.headers.get("User-Agent", "").strip():  # whoever does not say what they are gets no token
        reply.cookies = asked.desk.sessions.issue()
        reply.cookie_seconds = asked.desk.sessions.seconds
    return reply


def _mini_shop(asked: Asked) -> Reply:
    query = asked.query
    seller, page = query.get("sellerId", ""), number(query, "pageNo", 1)
    size = max(1, number(query, "pageSize", listing.PAGE, listing.MOST_PAGE))
    if not seller:
        raise Invalid("sellerId is required")
    key = ("mustit/shop", seller, max(1, page), size)
    return asked.kept(key, lambda scene: data(listing.mini_shop(scene, seller, page, size)))


def _search(asked: Asked) -> Reply:
    return _searched(asked, parse_qsl(asked.request.rel_url.raw_query_string, keep_blank_values=True))


def _facade(asked: Asked) -> Reply:
    if asked.request.headers.get(ROUTE_HEADER) != ROUTE_VALUE:
        raise Invalid("route token is required")
    query = asked.query
    pairs = parse_qsl(urlsplit(query.get("nextApiUrl", "")).query, keep_blank_values=True)
    return _searched(asked, pairs or list(query.items()))


def _searched(asked: Asked, pairs: Sequence[tuple[str, str]]) -> Reply:
    if sum(name == "beforeItemType" for name, _ in pairs) > 1:
        raise Invalid("beforeItemType must be a single value")
    given = dict(pairs)
    search = listing.Search(
        given.get("keyword", ""),
        given.get("sort") or "POPULAR2",
        given.get("f", ""),
        max(1, number(given, "pageNo", 1)),
    )
    return asked.kept(search, lambda scene: data(listing.search(scene, search)))


def _of_item(name: str, tell: Callable[[Scene, Standing], object]) -> Callable[[Asked], Reply]:
    def page(asked: Asked) -> Reply:
        no = int(asked.request.match_info["no"])

        def render(scene: Scene) -> Reply:
            one = scene.standing("mustit", no)
            return refused(asked, 404, "item not found") if one is None else data(tell(scene, one))

        return asked.kept((name, no), render)

    return page


def _brands(asked: Asked) -> Reply:
    return asked.kept("mustit/brands", lambda scene: data(listing.brands(scene)))


def _landing(asked: Asked) -> Reply:
    one = asked.scene.standing("mustit", int(asked.request.match_info["no"]))
    title = "판매가 종료된 상품입니다" if one is None else one.product.title
    return html(f"<!DOCTYPE html><html lang='ko'><head><title>{escape(title)}</title></head><body></body></html>\n")


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS.encode(), "text/plain; charset=utf-8")


def _picture(asked: Asked) -> Reply:
    name = asked.request.path.partition("/_dims_")[0]
    return Reply(jpeg(name, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


_shop = guarded(_mini_shop, search=True)
_detail = guarded(_of_item("mustit/top", detail.top))
_bottom = guarded(_of_item("mustit/bottom", lambda _, one: detail.bottom(one.product.no)))
_options = guarded(_of_item("mustit/options", lambda _, one: detail.options(one)))

ROUTES = (
    Route("/mustit", "mustit", "home", _home),
    Route("/mustit/", "mustit", "home", _home),
    Route("/mustit/robots.txt", "mustit", "robots", _robots),
    Route(f"{FACADE}/search/mini-shop-search", "mustit", "list", _shop),
    Route(f"{FACADE}/searchmini-shop-search", "mustit", "list", _shop),
    Route(f"{FACADE}/search/items", "mustit", "search", guarded(_search, search=True)),
    Route("/mustit/v2/api/facade/searchItems", "mustit", "search", guarded(_facade, search=True, cookie=True)),
    Route(FACADE + r"/item/{no:\d{1,12}}/detail/top", "mustit", "detail", _detail),
    Route(FACADE + r"/item/{no:\d{1,12}}/detail/bottom", "mustit", "bottom", _bottom),
    Route(LEGACY + r"/auction_products/{no:\d{1,12}}/options", "mustit", "options", _options),
    Route(f"{LEGACY}/brands", "mustit", "brands", guarded(_brands)),
    Route(r"/mustit/v2/m/product/product_detail/{no:\d{1,12}}", "mustit", "page", _landing),
    Route("/mustit-image/{path:.+}", "mustit", "image", _picture),
)
