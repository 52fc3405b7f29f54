"""What may go wrong while somebody looks: the server dies, ten tabs are open, a browser runs no scripts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.program import up
from tests.web import browser as browsers
from tests.web import shop as shops
from tests.web.coming_in import signed_in
from tests.web.screen import PASSWORD

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.web.browser import Window

    Open = Callable[..., AbstractContextManager[Window]]

LONG_PATIENCE_MS = 120_000
TYPED = "나이키\n아디다스, 그리고 아직 쓰는 중"


@pytest.mark.timeout(300)  # ten pages in one browser are the heaviest that a test does to a busy machine
def test_ten_tabs_are_alive_at_once(open_window: Open) -> None:
    """None is held up by the others' connections; all are opened before the first is looked at."""
    with open_window("viewer", locale="en-US") as window:
        tabs = [window.page, *(window.tab() for _ in range(9))]
        for tab in tabs:
            tab.goto(f"{window.url}/ui/", wait_until="commit", timeout=LONG_PATIENCE_MS)
        for tab in tabs:
            expect(tab.locator("#live")).to_have_text("live", timeout=LONG_PATIENCE_MS)
        for tab in tabs:  # those that came first still are
            expect(tab.locator("#live")).to_have_text("live", timeout=LONG_PATIENCE_MS)


def test_signing_out_in_one_tab_shows_the_door_in_the_others(open_window: Open) -> None:
    with open_window("admin", locale="ko-KR") as window:
        page = window.go("/")
        expect(page.locator("#live")).to_have_text("실시간")
        other = window.tab()
        other.goto(f"{window.url}/ui/runs")
        other.locator("details.me summary").click()
        other.get_by_role("button", name="로그아웃").click()

        expect(other).to_have_url(re.compile("/ui/sign-in$"))
        expect(page).to_have_url(re.compile("/ui/sign-in$"))


def test_without_scripts_everything_is_links_and_forms(open_window: Open) -> None:
    """Signs in, filters a list, sets a schedule going and pauses it."""
    with open_window("operator", locale="ko-KR", java_script_enabled=False) as window:
        page = window.page
        window.context.clear_cookies()
        page.goto(f"{window.url}/ui/runs")
        page.get_by_label("이름").fill("the operator")
        page.get_by_label("비밀번호").fill(PASSWORD)
        page.get_by_role("button", name="로그인").click()
        expect(page.locator("h1")).to_have_text("실행")
        expect(page.locator("tbody tr")).to_have_count(2)

        page.locator("select[name=mode]").select_option("FULL")
        page.get_by_role("button", name="거르기").click()
        expect(page).to_have_url(re.compile(r"mode=FULL"))
        expect(page.locator("tbody tr")).to_have_count(1)

        page.goto(f"{window.url}/ui/schedules")
        page.locator("tbody button[formaction$='/resume']").first.click()
        expect(page.locator(".said.done")).to_be_visible()
        page.locator("tbody button[formaction$='/pause']").click()
        expect(page.locator("tbody button[formaction$='/pause']")).to_have_count(0)


@pytest.mark.timeout(240)
def test_a_server_that_dies_and_comes_back_loses_nothing_that_was_typed(
    browser: Browser, shop: Path, tmp_path: Path
) -> None:
    shops.copied(shop, tmp_path)
    said = {"BOBUSANG_HOME": shops.HOME, "BOBUSANG_LOG_LEVEL": "WARNING"}
    with up(tmp_path, **said) as first:
        cookies = signed_in(first)["operator"]
        with browsers.window(browser, first.url, cookies, locale="ko-KR") as window:
            page = window.go("/")
            expect(page.locator("#live")).to_have_text("실시간")
            page.locator("#seek").fill(TYPED.partition("\n")[0])
            form = window.tab()
            form.goto(f"{first.url}/ui/runs/new")
            form.locator("textarea").fill(TYPED)

            first.kill()
            expect(page.locator("#live")).to_have_text("다시 연결 중")

            with up(tmp_path, urlsplit(first.url).port or 0, **said):
                expect(page.locator("#live")).to_have_text("실시간")
                expect(page.locator("#seek")).to_have_value(TYPED.partition("\n")[0])
                expect(form.locator("textarea")).to_have_value(TYPED)
                form.locator("button[value=preview]").click()
                expect(form.locator("textarea")).to_have_value(TYPED)
            window.complaints[:] = [one for one in window.complaints if "WebSocket connection to" not in one]
