"""Journeys over the overview, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window


def test_a_browser_shows_it_live(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        page = window.go("/")
        expect(page.locator("#live")).to_have_text("실시간")
        expect(page.locator("h1")).to_have_text("개요")
