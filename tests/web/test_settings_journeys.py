"""Journeys over settings and analytics, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from playwright.sync_api import Browser

    from tests.e2e.program import Up
    from tests.web.browser import Window


def test_somebody_is_invited_and_comes_in_by_the_link(
    open_window: Callable[..., AbstractContextManager[Window]], browser: Browser, running: Up
) -> None:
    with open_window("admin", locale="ko-KR") as window:
        page = window.go("/settings/people")
        page.locator("form", has_text="링크 만들기").locator("select").select_option("viewer")
        page.get_by_role("button", name="링크 만들기").click()
        link = page.get_by_label("일회용 링크").input_value()

    context = browser.new_context(locale="ko-KR")
    guest = context.new_page()
    guest.goto(link)
    guest.get_by_label("이름").fill("새 사람")
    guest.get_by_label("비밀번호").fill("correct horse battery")
    guest.get_by_role("button", name="계속").click()

    expect(guest.locator("h1")).to_have_text("개요")
    expect(guest.locator(".top .pill.idle")).to_have_text("보기 전용")
    context.close()


def test_a_key_is_made_and_revoked(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("admin", locale="en-US") as window:
        page = window.go("/settings/keys")
        page.get_by_label("Who or what uses it").fill("the till")
        page.get_by_role("button", name="Make a key").click()
        expect(page.locator("#secret")).to_have_value(re.compile("^bobu_"))

        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("tr", has_text="the till").get_by_role("button", name="Revoke").click()

        expect(page.locator(".said")).to_contain_text("was revoked")
        expect(page.locator("tr", has_text="the till").locator(".pill", has_text="revoked")).to_be_visible()
        expect(page.locator("#secret")).to_have_count(0)


def test_a_viewer_sees_no_buttons(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        for path in ("/settings", "/settings/system", "/alerts", "/analytics"):
            page = window.go(path)
            expect(page.locator("main button:visible")).to_have_count(0)


def test_charts_are_drawn_also_when_the_page_is_reached_by_the_menu(
    open_window: Callable[..., AbstractContextManager[Window]],
) -> None:
    with open_window("viewer", locale="ko-KR") as window:
        page = window.go("/runs")
        page.get_by_role("link", name="분석").click()

        expect(page.locator("h1")).to_have_text("분석")
        expect(page.locator("#runs [data-ready] canvas")).to_be_visible()
        page.locator("#runs canvas").hover()
        page.get_by_role("link", name="최근 7일").click()
        expect(page.locator(".tabs [aria-current]")).to_have_text("최근 7일")
        expect(page.locator("#runs [data-ready] canvas")).to_be_visible()
