"""Journeys to a price's explanation, and to the reason why a product is not registered, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window

    Opening = Callable[..., AbstractContextManager[Window]]


def test_a_price_is_followed_to_its_explanation(open_window: Opening) -> None:
    with open_window("viewer", locale="en-US") as window:
        page = window.go("/products?market_state=active")
        price = page.locator("tbody tr").first.locator('a[href$="/price"]').first
        said = price.inner_text()
        price.click()

        expect(page.locator(".tabs [aria-current]")).to_have_text("Price")
        settled = page.locator(".steps tr.sum").last
        expect(settled.locator("th")).to_have_text(re.compile("price"))
        expect(settled.locator("td").nth(1)).to_have_text(said)


def test_from_the_overview_to_why_a_product_is_not_registered_in_four_clicks(open_window: Opening) -> None:
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/")
        page.locator('#needs a[href$="/products?held=1"]').click()
        expect(page.locator("h1")).to_have_text("아직 등록할 수 없는 상품")
        page.locator("tbody th a").first.click()

        expect(page.locator("#why strong")).to_have_text(re.compile("^등록되지 않음: "))
        expect(page.locator("#why a")).to_have_attribute("href", re.compile("^/ui/held"))


def test_a_name_is_edited_and_unlocked_again(open_window: Opening) -> None:
    with open_window("operator", locale="en-US") as window:
        page = window.go("/products?market_state=active")
        page.locator("tbody th a").first.click()
        expect(page.locator(".tabs [aria-current]")).to_have_text("Now")
        before = page.locator("h2.named").inner_text()
        row = page.locator(".beside tbody tr").first
        row.locator(".edit summary").click()
        row.locator(".edit input[name=value]").fill("A better name")
        row.locator(".edit button").click()
        expect(page.locator("h2.named")).to_have_text("A better name")
        page.locator(".beside tbody tr").first.locator("button.act").click()
        expect(page.locator("h2.named")).to_have_text(before)


def test_pictures_of_a_list_are_drawn_from_one_sheet(open_window: Opening) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        asked: list[str] = []
        window.page.on("request", lambda request: asked.append(request.url))
        with window.page.expect_response(re.compile("/ui/pictures/small")) as sheet:
            window.go("/products")

        assert sheet.value.ok
        assert len([url for url in asked if "/pictures/" in url]) == 1
        assert len(asked) <= 12
        assert {url.split("/ui/")[0] for url in asked} == {window.url}
