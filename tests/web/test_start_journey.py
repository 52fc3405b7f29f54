"""The first journey: an empty shop becomes the demo by one click, and its first run is watched to the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.program import up
from tests.web import browser as browsers
from tests.web.screen import PASSWORD

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.web.browser import Window


@pytest.mark.timeout(240)
def test_an_empty_shop_becomes_the_demo_and_its_first_run_is_watched_to_the_end(
    browser: Browser, tmp_path: Path
) -> None:
    """And from the overview to why a product was not registered: the cell, then the product."""
    with up(tmp_path, BOBUSANG_HOME="shop", BOBUSANG_LOG_LEVEL="WARNING") as running:
        with browsers.window(browser, running.url, [], locale="ko-KR") as window:
            page = window.page
            page.goto(running.ready["welcome"])
            page.get_by_label("이름").fill("주인")
            page.get_by_label("비밀번호").fill(PASSWORD)
            page.get_by_role("button", name="계속").click()
            page.get_by_role("link", name="데모 데이터를 불러오거나 첫 실행을 시작하세요").click()
            page.get_by_label("쇼핑몰당 상품 수").select_option("40")
            page.get_by_role("button", name="데모 데이터 불러오기").click()
            page.get_by_role("link", name="움직이는 컨베이어 보기").click(timeout=60_000)
            expect(page.locator(".belt tbody tr")).to_have_count(10)

            page.get_by_role("link", name=re.compile("^실행 2")).click()
            expect(page.locator("#run-actions")).to_contain_text("완료", timeout=120_000)
            expect(page.locator("#run-figures strong").first).to_have_text("100%")
            expect(page.locator("#run-figures strong").nth(2)).to_have_text("10 / 10")

            _why_a_product_is_not_registered(page)
            _a_run_that_begins_is_seen_on_the_overview(window, page)
        assert running.process.poll() is None
        running.interrupt()
        assert running.ended() == 0

        kept = (tmp_path / "shop" / "sandbox.log").read_text("utf-8")
        assert "Traceback" not in kept
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"http://127.0.0.1:{_sandbox_port(tmp_path)}/admin/world")


def _why_a_product_is_not_registered(page: Page) -> None:
    """From the overview: the cell of a brand that left something out, and there the product."""
    page.get_by_role("link", name="개요").click()
    page.locator(".belt .aside a").last.click()
    row = page.locator("#left-out tbody tr").first
    expect(row).to_be_visible()
    row.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/ui/products/\d+$"))
    expect(page.locator("#why")).to_be_visible()


def _a_run_that_begins_is_seen_on_the_overview(window: Window, page: Page) -> None:
    """On another tab that stays open, where the belt was another run's."""
    overview = window.tab()
    overview.goto(f"{window.url}/ui/")
    expect(overview.locator("#live")).to_have_text("실시간")
    page.get_by_role("link", name="실행", exact=True).click()
    page.get_by_role("link", name="실행 시작").click()
    page.get_by_role("radio", name=re.compile("^부분")).check()
    page.get_by_role("button", name="시작", exact=True).click()
    expect(page.locator(".said")).to_contain_text("시작했습니다")
    overview.bring_to_front()
    expect(overview.get_by_role("link", name=re.compile("^실행 .*_02$"))).to_be_visible()
    page.bring_to_front()
    expect(page.locator("#run-actions")).to_contain_text("완료")


def _sandbox_port(folder: Path) -> int:
    found = re.search(r'"sandbox": (\d+)', (folder / "shop" / "demo.json").read_text("utf-8"))
    assert found is not None
    return int(found[1])
