"""Every page of the screen by a real address, found as people find it: by following links from page to page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
from selectolax.lexbor import LexborHTMLParser
from starlette.routing import compile_path

from bobusang.entry.web import MODULES
from bobusang.entry.web.visit import UI
from tests.servers.server import wait_for
from tests.web.screen import COOKIE

if TYPE_CHECKING:
    from bobusang.entry.web.pages import Route
    from tests.e2e.program import Up

ROUTES = [route for module in MODULES for route in module.routes if route.method == "GET"]
PATTERNS = [(compile_path(route.path)[0], route) for route in ROUTES]
DOORS = {"/sign-in", "/welcome/{token}"}
"""What only who is not signed in looks at."""
CHOSEN = ("/jobs/bulk/pause", "/dead-letters/bulk/retry")
"""What a form leads to, not a link."""
MOST_LOOKS = 10_000

Get = Callable[[str], Awaitable[httpx.Response]]


@dataclass(slots=True)
class Found:
    """Addresses by the path of their route. `lost` are links that lead nowhere, by the page that they stand on; what
    cannot be shown, as some pages without what stands behind the question mark, has `failed`."""

    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    @property
    def unknown(self) -> list[str]:
        """Routes that no link leads to."""
        return sorted({route.path for route in ROUTES} - DOORS - set(self.pages) - set(self.files))


def route_of(address: str) -> Route | None:
    """Whose address this is; as the site itself decides, the first that matches."""
    path = urlsplit(address).path
    return next((route for pattern, route in PATTERNS if pattern.match(path)), None)


async def found(get: Get) -> Found:
    """Walk over the screen from the overview on. Of each route one address is visited, and others for their links."""
    result, seen, others = Found(), set[str](), list[str]()
    waiting = [*(route.path for route in ROUTES if "{" not in route.path and route.path not in DOORS), *CHOSEN]
    for _ in range(MOST_LOOKS):
        again = not waiting
        if again:
            others = [one for one in others if _may_lead_to(one, result.unknown)]
            waiting = others[:1]
            others = others[1:]
        if not waiting:
            break
        address = waiting.pop(0)
        route = route_of(address)
        if route is None or route.path in DOORS:
            continue
        if route.path in result.pages.keys() | result.files.keys() and not again:
            others.append(address)
            continue
        answer = await get(address)
        if answer.status_code != 200:
            result.failed[address] = answer.status_code
            continue
        if not answer.headers["content-type"].startswith("text/html"):
            result.files.setdefault(route.path, address)
            continue
        result.pages.setdefault(route.path, address)
        for link in links(answer.text):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
            if route_of(link) is None:
                result.lost.setdefault(link, address)
    return result


def _may_lead_to(address: str, unknown: list[str]) -> bool:
    """Whether another thing of the same kind may have what is still to be found, as another task a page."""
    route = route_of(address)
    return route is not None and any(one.startswith(f"{route.path}/") for one in unknown)


def links(html: str) -> list[str]:
    """The addresses below `/ui` that a page leads to, without what is served as a file of the program."""
    values = [
        one.attributes.get(name) or "" for name in ("href", "src") for one in LexborHTMLParser(html).css(f"[{name}]")
    ]
    ours = [value.removeprefix(UI).partition("#")[0] for value in values if value.startswith(f"{UI}/")]
    return [one for one in ours if not one.startswith("/static/")]


def of_running(running: Up, cookies: list[dict[str, object]]) -> Found:
    """The same of a program that runs."""
    return wait_for(_of_running(running.url, str(cookies[0]["value"])))


async def _of_running(url: str, token: str) -> Found:
    headers = {"cookie": f"{COOKIE}={token}", "accept-language": "en"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, follow_redirects=True) as client:
        return await found(lambda address: client.get(f"{UI}{address}"))
