"""Every page for everybody: axe finds nothing in both languages, light and dark; narrow screens do not scroll sideways;
keys reach everything; who wants no motion sees none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.web import addresses
from tests.web.furnishing import furnished

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Page, ViewportSize

    from tests.e2e.program import Up
    from tests.web.browser import Window

    Open = Callable[..., AbstractContextManager[Window]]

AXE = Axe().axe_script
RUN = """(options) => axe.run({ resultTypes: ["violations"], preload: false, ...options })
    .then((found) => found.violations)"""
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
NO_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}
NARROW: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1280, "height": 900}
MOVING = """() => document.getAnimations().length
    + [...document.querySelectorAll("*")].filter((one) => {
        const style = getComputedStyle(one);
        return style.animationName !== "none" || parseFloat(style.transitionDuration) > 0;
    }).length"""
SIDEWAYS = "() => Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth"


@pytest.fixture(scope="module")
def shop(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(shop, tmp_path_factory.mktemp("busy"))


@pytest.fixture(scope="module")
def pages(running: Up, cookies: dict[str, list[dict[str, object]]]) -> list[str]:
    """An address of every page."""
    return list(addresses.of_running(running, cookies["admin"]).pages.values())


def violations(page: Page, options: dict[str, Any] | None = None) -> list[str]:
    """What axe finds, one line a node."""
    if not page.evaluate("() => window.axe !== undefined"):
        page.evaluate(AXE)
    found: list[dict[str, Any]] = page.evaluate(RUN, options or {})
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"][:5]]


@pytest.mark.timeout(600)
def test_axe_finds_nothing_and_nothing_is_too_wide(open_window: Open, pages: list[str]) -> None:
    """In Korean, light and dark; the colours are all that differs between those."""
    wrong: list[str] = []
    with open_window("admin", locale="ko-KR", color_scheme="light") as window:
        page = window.page
        for address in pages:
            page.goto(f"{window.url}/ui{address}")
            found = violations(page)
            page.emulate_media(color_scheme="dark")
            found += [f"dark: {one}" for one in violations(page, COLOURS)]
            page.emulate_media(color_scheme="light")
            page.set_viewport_size(NARROW)
            if (by := page.evaluate(SIDEWAYS)) > 0:
                found.append(f"{by} pixels wider than a telephone")
            page.set_viewport_size(WIDE)
            wrong += [f"{address}: {one}" for one in found]

    assert not wrong, "\n".join(wrong)


@pytest.mark.timeout(600)
def test_axe_finds_nothing_in_english(open_window: Open, pages: list[str]) -> None:
    """In English everything but the colours, which have no language."""
    wrong: list[str] = []
    with open_window("admin", locale="en-US") as window:
        for address in pages:
            window.page.goto(f"{window.url}/ui{address}")
            found = violations(window.page, NO_COLOURS)
            wrong += [f"{address}: {one}" for one in found]

    assert not wrong, "\n".join(wrong)


def test_axe_finds_nothing_at_the_door(open_window: Open) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        window.context.clear_cookies()
        window.page.goto(f"{window.url}/ui/sign-in")
        assert violations(window.page) == []
        window.page.emulate_media(color_scheme="dark")
        assert violations(window.page, COLOURS) == []


def test_keys_reach_the_menu_the_filters_and_the_buttons_of_lines(open_window: Open) -> None:
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/runs")
        seen: list[str] = []
        for _ in range(80):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("() => document.activeElement.outerHTML.slice(0, 300)"))
            if seen[-1].startswith("<body"):
                break

        assert 'class="skip"' in seen[0]
        assert 'href="/ui/runs"' in "".join(seen)
        for wanted in ('id="seek"', "<summary", 'name="mode"', 'href="/ui/runs/2', "<button"):
            assert any(wanted in one for one in seen), f"{wanted}: {seen}"

        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("/")
        expect(page.locator("#seek")).to_be_focused()
        page.locator("details.me summary").focus()
        page.keyboard.press("Enter")
        expect(page.locator("details.me")).to_have_attribute("open", "")
        page.keyboard.press("Escape")
        expect(page.locator("details.me summary")).to_be_focused()


def test_who_wants_no_motion_sees_none(open_window: Open, pages: list[str]) -> None:
    with open_window("admin", locale="en-US", reduced_motion="reduce") as window:
        moving = {}
        for address in pages[:3]:
            window.go(address)
            moving[address] = window.page.evaluate(MOVING)

    assert set(moving.values()) == {0}, moving
