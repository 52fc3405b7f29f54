"""The overview: the belt and what needs a person, over real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window
    from tests.web.screen import Screen


async def test_the_last_batch_is_shown_by_brand_and_stage(screen: Screen) -> None:
    page = await screen.viewer.get("/")

    assert page.texts(".belt thead th") == ["Brand", "Collect", "Convert", "Image", "Price", "Register", "State"]
    assert len(page.texts(".belt tbody tr")) == 10
    assert "brands to review" in page.text("#needs")


def test_a_browser_shows_it_live(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        page = window.go("/")
        expect(page.locator("#live")).to_have_text("실시간")
        expect(page.locator("h1")).to_have_text("개요")
