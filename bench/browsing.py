"""The first visit of a page in a real Chromium: bytes on the wire, requests, until it can be used, and its heap."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.web import browser as browsers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

PATIENCE_MS = 120_000


@dataclass(frozen=True, slots=True)
class Sight:
    """A page that somebody can look at, and what says that it is ready: a function of JavaScript."""

    name: str
    url: str
    ready: str
    cookies: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What a first visit costs."""

    bytes: float
    requests: float
    interactive: float
    """Milliseconds from the navigation until it was ready."""
    heap: float
    """Bytes of objects of scripts, after what is garbage was taken away."""


def costs(sights: Sequence[Sight], rounds: int) -> dict[str, Cost]:
    """The median of some first visits of each, in turn."""
    found: dict[str, list[Cost]] = {one.name: [] for one in sights}
    with browsers.started() as browser:
        for one in sights:
            _visited(browser, one)  # the server's first answer is its start, not the page
        for _ in range(rounds):
            for one in sights:
                found[one.name].append(_visited(browser, one))
    return {name: _middle(all_) for name, all_ in found.items()}


def _visited(browser: Browser, sight: Sight) -> Cost:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
    try:
        context.add_cookies(list(sight.cookies))  # type: ignore[arg-type]
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        session = context.new_cdp_session(page)
        sizes, begun = list[int](), list[str]()
        session.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
        session.on("Network.requestWillBeSent", lambda event: begun.append(event["request"]["url"]))
        session.on("Network.webSocketCreated", lambda event: begun.append(event["url"]))
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        page.goto(sight.url, wait_until="commit")
        page.wait_for_function(sight.ready, polling="raf")
        interactive = float(page.evaluate("() => performance.now()"))
        page.wait_for_load_state("networkidle")
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        metrics = session.send("Performance.getMetrics")["metrics"]
        heap = next(float(one["value"]) for one in metrics if one["name"] == "JSHeapUsedSize")
        requests = sum(not one.startswith(("data:", "blob:")) for one in begun)
        return Cost(sum(sizes), requests, interactive, heap)
    finally:
        context.close()


def _middle(found: Sequence[Cost]) -> Cost:
    return Cost(
        median(one.bytes for one in found),
        median(one.requests for one in found),
        median(one.interactive for one in found),
        median(one.heap for one in found),
    )
