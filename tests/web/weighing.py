"""What a first visit of a page costs, as the browser itself counts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

IDLE = "() => new Promise((done) => requestIdleCallback(() => requestIdleCallback(() => done())))"


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes on the wire with their headers, and requests, the live channel's among them."""

    bytes: int
    requests: int


def weighed(page: Page, url: str) -> Weight:
    """Visit a page with an empty cache, until it is loaded and idle."""
    session = page.context.new_cdp_session(page)
    sizes: list[int] = []
    begun: list[str] = []

    def finished(event: dict[str, Any]) -> None:
        sizes.append(int(event["encodedDataLength"]))

    def sent(event: dict[str, Any]) -> None:
        begun.append(event.get("url") or event["request"]["url"])

    session.on("Network.loadingFinished", finished)
    session.on("Network.requestWillBeSent", sent)
    session.on("Network.webSocketCreated", sent)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        page.goto(url, wait_until="load")
        page.evaluate(IDLE)
    finally:
        session.detach()
    return Weight(sum(sizes), sum(not one.startswith("data:") for one in begun))
