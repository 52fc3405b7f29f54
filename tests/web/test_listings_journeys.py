"""Journeys over listings, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window


def test_a_listing_is_followed_to_its_receipt(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("operator", locale="en-US") as window:
        page = window.go("/listings")
        page.locator('select[name="state"]').select_option("LIVE")
        expect(page).to_have_url(re.compile("state=LIVE"))
        expect(page.locator("tbody .pill").first).to_have_text("on sale")
        page.locator("tbody th a").first.click()
        expect(page.locator("#receipts .journey").first).to_contain_text("confirmed by the market")
        page.get_by_text("What was sent to").first.click()
        expect(page.locator(".receipt pre").first).to_contain_text('"product"')

        page.get_by_role("link", name="What would be sent now").click()
        expect(page.locator("main")).to_contain_text("Nothing was sent.")

        page.get_by_role("button", name="Look at again with the next run").click()
        expect(page.locator(".said")).to_contain_text("is looked at again with the next run.")
