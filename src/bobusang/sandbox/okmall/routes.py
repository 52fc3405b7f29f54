"""Where OKmall's pages are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.okmall import index, item, listing
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, html

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from bobusang.sandbox.scene import Scene

COOKIES = {"XSRF-TOKEN": "sandbox"}


def _home(asked: Asked) -> Reply:
    return _page(asked, "okmall", index.home)


def _brands(asked: Asked) -> Reply:
    return _page(asked, "okmall/brands", index.brands)


def _list(asked: Asked) -> Reply:
    query = asked.query
    wanted = listing.Wanted(
        brand=query.get("brand") or query.get("search_keyword", ""),
        cate=number(query, "cate", 0, 99_999_999),
        page=max(1, number(query, "page", 1)),
        sort=query.get("sort", ""),
    )
    return _page(asked, wanted, lambda scene: listing.render(scene, wanted))


def _view(asked: Asked) -> Reply:
    no = number(asked.query, "no", 0, 1 << 40)

    def render(scene: Scene) -> str:
        one = scene.standing("okmall", no)
        return item.deleted(scene) if one is None else item.render(scene, one)

    return _page(asked, ("okmall/view", no), render)


def _page(asked: Asked, key: Hashable, render: Callable[[Scene], str]) -> Reply:
    def rendered(scene: Scene) -> Reply:
        reply = html(render(scene))
        reply.tagged = True
        reply.cookies = COOKIES
        return reply

    return asked.kept(key, rendered)


def _robots(asked: Asked) -> Reply:
    return Reply(index.ROBOTS.encode(), "text/plain; charset=utf-8")


def _picture(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route("/okmall", "okmall", "home", _home),
    Route("/okmall/", "okmall", "home", _home),
    Route("/okmall/robots.txt", "okmall", "robots", _robots),
    Route("/okmall/html_data/gnb/V1/top_all_brand_V5.html", "okmall", "brands", _brands),
    Route("/okmall/products/list", "okmall", "list", _list),
    Route("/okmall/products/view", "okmall", "detail", _view),
    Route("/okimg/{path:.+}", "okmall", "image", _picture),
)
