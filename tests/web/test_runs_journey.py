"""A journey over runs, in a real browser: from the list through the tabs of one, and a filter that is remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window


def test_an_operator_looks_into_a_run(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("operator", locale="en-US") as window:
        page = window.go("/")
        page.get_by_role("link", name="Runs", exact=True).click()
        page.get_by_label("Mode").select_option("FULL")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.locator("tbody th a").click()
        expect(page.locator("#live")).to_have_text("live")
        expect(page.locator(".belt tbody tr")).to_have_count(10)

        page.get_by_role("link", name="Timeline").click()
        expect(page.locator(".times tbody tr")).to_have_count(11)
        page.get_by_role("link", name="Errors").click()
        expect(page.get_by_role("heading", name="Left out, and why")).to_be_visible()
        page.get_by_role("link", name="Compare").click()
        expect(page.locator(".empty")).to_contain_text("the first run of its mode")

        page.get_by_role("link", name="Runs", exact=True).click()
        expect(page.get_by_label("Mode")).to_have_value("FULL")
