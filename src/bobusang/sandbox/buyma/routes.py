"""Where BUYMA's API, its files and its search page are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.sandbox.buyma import search
from bobusang.sandbox.buyma.downloads import download
from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.reply import Reply, data, html

if TYPE_CHECKING:
    from bobusang.sandbox.buyma.account import Account

TOKEN = "X-Buyma-Personal-Shopper-Api-Access-Token"  # noqa: S105 - a header's name
API = "/buyma/api/v1"
PER_PAGE, MOST_PER_PAGE = 100, 100


def _product(asked: Asked) -> Reply:
    return _taken(asked, stock=False)


def _variants(asked: Asked) -> Reply:
    return _taken(asked, stock=True)


def _taken(asked: Asked, *, stock: bool) -> Reply:
    market, account = asked.desk.market, _account(asked)
    if isinstance(account, Reply):
        return account
    if not market.admit(account, stock=stock):
        return _too_many()
    product = _body(asked.body)
    if product is None:
        return data({"errors": {"product": ["リクエストが不正です。"]}}, 400)
    if errors := market.judge(account, product, stock=stock):
        return data({"errors": errors}, 422)
    return data({"request_uid": market.accept(account, product, stock=stock)}, 201)


def _account(asked: Asked) -> Account | Reply:
    token = asked.request.headers.get(TOKEN, "")
    if not token:
        return data({"errors": {"base": ["アクセストークンがありません。"]}}, 401)
    account = asked.desk.market.accounts.get(token)
    return account or data({"errors": {"base": ["アクセストークンが不正です。"]}}, 403)


def _too_many() -> Reply:
    return data({"errors": {"base": ["リクエスト数の上限を超えました。"]}}, 429)


def _body(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except Invalid:
        return None
    product = found.get("product") if isinstance(found, dict) else None
    return product if isinstance(product, dict) else None


def _orders(asked: Asked) -> Reply:
    market, account = asked.desk.market, _account(asked)
    if isinstance(account, Reply):
        return account
    if not market.admit(account, product=False):
        return _too_many()
    query = asked.query
    page, size = max(1, number(query, "page", 1)), max(1, number(query, "per_page", PER_PAGE, MOST_PER_PAGE))
    found = market.orders.of(account, query.get("status") or "any")
    reply = data(found[(page - 1) * size : page * size])
    if len(found) > page * size:
        onward = asked.request.url.update_query(page=str(page + 1))
        reply.headers["Link"] = f'<{onward}>; rel="next"'
    return reply


def _order(asked: Asked) -> Reply:
    market, account = asked.desk.market, _account(asked)
    if isinstance(account, Reply):
        return account
    if not market.admit(account, product=False):
        return _too_many()
    found = market.orders.get(account, int(asked.request.match_info["id"]))
    return data({"errors": {"base": ["注文が見つかりません。"]}}, 404) if found is None else data(found)


def _download(asked: Asked) -> Reply:
    body = download(asked.request.match_info["name"])
    if body is None:
        return html("<h1>404</h1>\n", 404)
    return Reply(body, "text/csv; charset=utf-8", tagged=True)


def _search(asked: Asked) -> Reply:
    return html(search.page(asked.desk.market, asked.request.match_info["model"]))


ROUTES = (
    Route(f"{API}/orders", "buyma", "orders", _orders),
    Route(f"{API}/orders.json", "buyma", "orders", _orders),
    Route(rf"{API}/orders/{{id:\d{{1,12}}}}.json", "buyma", "orders", _order),
    Route(r"/buyma/downloads/{name:\w+}.csv", "buyma", "downloads", _download),
    Route("/buyma/r/-O3/{model:.+}/", "buyma", "search", _search),
)
POSTS = (
    Route(f"{API}/products", "buyma", "products", _product),
    Route(f"{API}/products.json", "buyma", "products", _product),
    Route(f"{API}/products/variants", "buyma", "variants", _variants),
    Route(f"{API}/products/variants.json", "buyma", "variants", _variants),
)
