"""Journeys over search, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window


def test_a_product_is_found_by_initials_while_they_are_typed(
    open_window: Callable[..., AbstractContextManager[Window]],
) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        page = window.go("/")
        page.keyboard.press("/")
        page.keyboard.type("ㄴㅇㅋ")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("검색")
        expect(page.locator(".hits mark").first).to_have_text("나이키")

        page.locator("#q").fill("")
        page.locator("#q").press_sequentially("ㅇㄷㄷㅅ")
        expect(page.locator(".hits mark").first).to_have_text("아디다스")
        expect(page).to_have_url(re.compile(r"q=%E3%85%87"))
        expect(page.locator("#q")).to_be_focused()

        name = page.locator(".hits h3 a").first.inner_text()
        page.locator(".hits h3 a").first.click()
        expect(page.locator("main")).to_contain_text(name)
        expect(page).to_have_url(re.compile(r"/ui/products/\d+$"))
