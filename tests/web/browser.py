"""A real Chromium: found on PATH or named by BOBUSANG_TEST_CHROMIUM; whatever it complains about fails the test."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIETLY = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 60_000
HARMLESS = ("the server responded with a status of",)
"""What a page that is refused on purpose makes the console say."""


def found() -> str:
    """Where Chromium is. Without one the journeys cannot be made, and with CI=true they must be."""
    named = os.environ.get("BOBUSANG_TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if named is None:
        why = "no Chromium: install the package `chromium`, or name one with BOBUSANG_TEST_CHROMIUM"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return named


@contextmanager
def started() -> Iterator[Browser]:
    """A browser without windows."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found(), args=list(QUIETLY))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Window:
    """A window in which somebody is signed in; it remembers what the browser complained about."""

    context: BrowserContext
    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page of ours and wait until it is alive."""
        self.page.goto(f"{self.url}/ui{path}")
        self.page.wait_for_function("() => window.htmx !== undefined")
        return self.page

    def watch(self, page: Page) -> None:
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def tab(self) -> Page:
        """Another tab of the same person."""
        page = self.context.new_page()
        self.watch(page)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not any(one in message.text for one in HARMLESS):
            self.complaints.append(message.text)


@contextmanager
def window(browser: Browser, url: str, cookies: list[dict[str, object]], **chosen: object) -> Iterator[Window]:
    """A window with these cookies; at its end nothing may have been complained about, least of all the policy."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **chosen)  # type: ignore[arg-type]
    context.add_cookies(cookies)  # type: ignore[arg-type]
    seen = Window(context, context.new_page(), url)
    seen.watch(seen.page)
    try:
        yield seen
        assert seen.complaints == []
    finally:
        context.close()
