"""Where the news desk, the feed, the bank, the plain shop and what belongs to no mall are."""

from __future__ import annotations

from bobusang.sandbox import exchange, feed, news, plain
from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.fault import Mishap
from bobusang.sandbox.reply import Reply, data, html

ROBOTS = b"User-agent: *\nDisallow: /admin/\n"


def _news(asked: Asked) -> Reply:
    page = max(1, number(asked.query, "page", 1))
    return asked.kept(("news", page), lambda scene: html(news.list_page(scene, page)))


def _article(asked: Asked) -> Reply:
    found = news.article(asked.desk.world, int(asked.request.match_info["id"]))
    return html("<h1>404</h1>\n", 404) if found is None else html(news.article_page(found))


def _feed(asked: Asked) -> Reply:
    query = asked.query
    page, size = max(1, number(query, "page", 1)), max(1, number(query, "size", feed.PAGE, feed.MOST_PAGE))
    cursor = query.get("cursor", "")
    return asked.kept(
        ("feed", page, size, cursor), lambda scene: data(feed.page(scene, number=page, cursor=cursor, size=size))
    )


def _plain(asked: Asked) -> Reply:
    query = asked.query
    page, size = max(1, number(query, "page", 1)), max(1, number(query, "size", plain.PAGE, plain.MOST_PAGE))
    return asked.kept(("plain", page, size), lambda scene: html(plain.list_page(scene, page, size)))


def _rate(asked: Asked) -> Reply:
    is_wrong = asked.hit is not None and asked.hit.fault.kind == Mishap.TENFOLD
    return data(exchange.latest(asked.desk.world, times=10 if is_wrong else 1))


def _robots(asked: Asked) -> Reply:
    return Reply(ROBOTS, "text/plain; charset=utf-8")


def _redirects(asked: Asked) -> Reply:
    onward = int(asked.request.match_info["hop"]) + 1
    return Reply(b"", status=302, headers={"Location": f"/redirects/{onward}"})


ROUTES = (
    Route("/robots.txt", "sandbox", "robots", _robots),
    Route("/news/list", "news", "list", _news),
    Route(r"/news/article/{id:\d{1,12}}", "news", "detail", _article),
    Route("/feed/items.json", "feed", "list", _feed),
    Route("/fx/latest.json", "exchange", "latest", _rate),
    Route("/plain/list", "plain", "list", _plain),
    Route(r"/redirects/{hop:\d{1,12}}", "sandbox", "redirects", _redirects),
)
