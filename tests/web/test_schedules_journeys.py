"""Journeys over schedules and sellers, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.web.browser import Window


def test_a_schedule_is_run_now(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    """In Korean: from the list to its job, which the page follows by itself."""
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/schedules")
        row = page.get_by_role("row").filter(has_text="conveyor full")
        expect(row).to_contain_text("매일 03:00")
        row.get_by_role("link", name="conveyor full", exact=True).click()
        expect(page.locator("#schedule-next")).to_contain_text("멈춰 있어 예정된 실행이 없습니다.")
        page.get_by_role("button", name="재개").click()
        expect(page.locator("#schedule-next li")).to_have_count(5)

        page.get_by_role("button", name="지금 실행").click()

        expect(page.locator(".said")).to_contain_text("지금 실행합니다. 작업 번호:")
        expect(page.locator("#schedule-last tbody tr")).to_have_count(1)
        expect(page.locator("#schedule-last tbody .pill")).to_have_text(re.compile("완료|실패"))
        page.get_by_role("button", name="일시정지").click()
        expect(page.locator(".said")).to_have_text("멈췄습니다: conveyor full")
        page.locator("#schedule-last tbody a").click()
        expect(page).to_have_url(re.compile(r"/ui/jobs/\d+$"))


def test_what_cron_means_is_seen_while_it_is_written(
    open_window: Callable[..., AbstractContextManager[Window]],
) -> None:
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/schedules/new")
        page.get_by_label("이름").fill("평일 아침")
        page.get_by_label("크론: 분 시 일 월 요일").fill("0 9 * * 8")
        page.get_by_role("button", name="뜻 확인").click()
        expect(page.locator(".said.refused")).to_be_visible()
        expect(page.get_by_label("이름")).to_have_value("평일 아침")

        page.get_by_label("크론: 분 시 일 월 요일").fill("0 9 * * 1-5")
        page.get_by_role("button", name="뜻 확인").click()

        expect(page.locator("#preview p strong").first).to_have_text("평일 09:00")
        expect(page.locator("#preview li")).to_have_count(5)


def test_a_seller_is_paused(open_window: Callable[..., AbstractContextManager[Window]]) -> None:
    """In English: added, then paused with a reason, then found again by its state."""
    with open_window("operator", locale="en-US") as window:
        page = window.go("/sellers")
        page.get_by_role("link", name="Add a seller").first.click()
        page.get_by_label("The mall's id of the seller").fill("dmont")
        page.get_by_label("Name").fill("Dmont")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("h1")).to_have_text("Dmont")

        page.get_by_label("Reason").fill("prices look wrong")
        page.get_by_role("button", name="Pause").click()

        expect(page.locator(".said")).to_have_text("Dmont is paused.")
        window.go("/sellers?status=Paused")
        expect(page.get_by_role("row").filter(has_text="Dmont")).to_contain_text("prices look wrong")
        page.get_by_role("row").filter(has_text="Dmont").get_by_role("button", name="Resume").click()
        expect(page.locator(".said")).to_have_text("Dmont is crawled again, one cadence from now.")
