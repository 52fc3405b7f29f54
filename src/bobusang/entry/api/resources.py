"""Which modules answer for which paths. They are loaded when such a path is first asked for: a start does not wait for
two hundred routes, and a command that asks one resource does not pay for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from starlette.routing import BaseRoute, Match, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from bobusang.entry.api.express import Door
from bobusang.entry.api.methods import Methods

MODULES: dict[str, tuple[str, ...]] = {
    "media": ("media",),
    "webhooks": ("webhooks",),
    "in": ("inbound",),
    "inbound": ("inbound",),
    "health": ("health",),
    "metrics": ("metrics",),
    "search": ("search",),
    "cache": ("cache",),
    "products": ("product_bulk", "product", "products", "product_past", "product_pictures", "renewals"),
    "batches": ("batches",),
    "previews": ("previews",),
    "jobs": ("bulk", "jobs"),
    "tasks": ("tasks",),
    "dead-letters": ("dead_letters",),
    "workflows": ("workflows",),
    "schedules": ("schedules",),
    "targets": ("targets",),
    "target-mappings": ("targets",),
    "queues": ("queues",),
    "statistics": ("statistics",),
    "workers": ("statistics",),
    "alerts": ("statistics",),
    "audit": ("statistics",),
    "subscriptions": ("subscriptions",),
    "api-keys": ("api_keys",),
    "users": ("users",),
    "sources": ("sources",),
    "gate": ("sources",),
    "identities": ("identities",),
    "brands": ("brands",),
    "collect": ("collecting", "collect_statistics"),
    "suppliers": ("suppliers", "supplier_files"),
    "supplier-files": ("supplier_files",),
    "product-sync": ("product_sync",),
    "sellers": ("sellers",),
    "crawl": ("crawl",),
    "records": ("markets", "records"),
    "raw": ("raw",),
    "held": ("held",),
    "accounts": ("accounts",),
    "categories": ("categories",),
    "mappings": ("mappings",),
    "glossary": ("glossary",),
    "translations": ("translations",),
    "pictures": ("pictures",),
    "masters": ("masters",),
    "conversions": ("conversions",),
    "rates": ("rates",),
    "fx": ("fx",),
    "prices": ("prices",),
    "listings": ("listings",),
    "calls": ("calls",),
    "market-holds": ("market_holds",),
    "webhook-inbox": ("market_holds",),
}
"""By the first part of a path. The routes of a module are tried in the order of the modules here."""


@dataclass(frozen=True, slots=True)
class Part:
    """What answers for the paths that begin alike."""

    router: Router
    methods: Methods
    doors: tuple[Door, ...]


@cache
def part(name: str) -> Part:
    """Loaded now, if it was not yet."""
    modules = [import_module(f"{__package__}.{one}") for one in MODULES[name]]
    routes = [route for one in modules for route in one.router.routes]
    doors = tuple(one.DOOR for one in modules if hasattr(one, "DOOR"))
    return Part(Router(routes, redirect_slashes=False), Methods(routes), doors)


def routes() -> Iterator[BaseRoute]:
    """Of all resources, each route once."""
    seen: set[int] = set()
    for name in MODULES:
        for route in part(name).router.routes:
            if id(route) not in seen:
                seen.add(id(route))
                yield route


def doors(path: str) -> Sequence[Door]:
    """The short ways that a path may take."""
    found = first(path)
    return part(found).doors if found in MODULES else ()


def first(path: str) -> str:
    """The first part of a path."""
    return path[1:].partition("/")[0]


class Resources(BaseRoute):
    """One route that stands for all of them."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL if scope["type"] == "http" and first(scope["path"]) in MODULES else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await part(first(scope["path"])).router(scope, receive, send)


class AllMethods(Methods):
    """Which methods a path knows, whichever module answers for it."""

    def __init__(self, own: Iterable[BaseRoute]) -> None:
        self._own = Methods(own)

    def refused(self, path: str, method: str) -> bool:
        return self._of(path).refused(path, method)

    def allow(self, path: str) -> str:
        return self._of(path).allow(path)

    def _of(self, path: str) -> Methods:
        found = first(path)
        return part(found).methods if found in MODULES else self._own


class Opening:
    """Loads in a thread what a request is for, once; others are answered meanwhile."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            name = first(scope["path"])
            if name in MODULES and name not in self._open:
                await asyncio.to_thread(part, name)
                self._open.add(name)
        await self._app(scope, receive, send)
