"""Journeys over jobs and dead letters, in a real browser and with a real worker behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.program import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tests.e2e.program import Up
    from tests.web.browser import Window

    Open = Callable[..., AbstractContextManager[Window]]

HTML = "<html><h1>모자</h1><p>울 100%</p></html>"


@pytest.fixture(scope="module")
def api(running: Up) -> Up:
    """The same server as programs call it, with a workflow of one step."""
    step = {"name": "parse", "type": "PARSE", "handler": "demo.parse"}
    running.post("/workflows", {"workflow": "read", "steps": [step]})
    return running


def letter(api: Up, html: str) -> dict[str, Any]:
    """A job whose one task a worker has given up; its dead letter."""
    job = api.post("/jobs", {"workflow": "read", "input": {"page": "/1", "html": html}})["id"]
    until(lambda: api.get(f"/dead-letters?job={job}")["items"], "a dead letter")
    found: dict[str, Any] = api.get(f"/dead-letters?job={job}")["items"][0]
    return found


def test_a_letters_input_is_mended_and_it_succeeds_in_korean(api: Up, open_window: Open) -> None:
    dead = letter(api, "<h1>모자</h1>")
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/dead-letters")
        expect(page.locator("h1")).to_have_text("실패 보관함")
        page.locator(".cause", has_text="breaks off").get_by_role("link", name="항목 보기").click()
        page.get_by_role("link", name=str(dead["task_id"]), exact=True).click()
        field = page.get_by_label("JSON")
        field.fill('{"page": "/1", "html": ')
        page.get_by_role("button", name="저장하고 다시 실행").click()
        expect(page.locator("#problem")).to_contain_text("이 입력은 쓸 수 없습니다")
        expect(field).to_have_value('{"page": "/1", "html": ')

        field.fill(f'{{"page": "/1", "html": "{HTML}"}}')
        page.get_by_role("button", name="저장하고 다시 실행").click()
        expect(page.get_by_role("status")).to_have_text(f"이 입력으로 태스크 {dead['task_id']}을(를) 다시 실행합니다.")

        until(lambda: api.get(f"/tasks/{dead['task_id']}")["status"] == "SUCCESS", "success")
        page.goto(f"{window.url}/ui/tasks/{dead['task_id']}")
        expect(page.locator("main .pill").first).to_have_text("완료")
        expect(page.locator("#attempts thead th")).to_have_text(["시도", "1"])


def test_a_failed_task_is_retried_and_its_job_moves_while_it_is_watched(api: Up, open_window: Open) -> None:
    dead = letter(api, "<h1>Hat</h1>")
    with open_window("operator", locale="en-US") as window:
        page = window.go(f"/jobs/{dead['job_id']}")
        expect(page.locator("#job-head .pill").first).to_have_text("failed")
        expect(page.locator("#live")).to_have_text("live")
        watching = window.tab()
        watching.goto(f"{window.url}/ui/tasks/{dead['task_id']}")
        watching.get_by_role("button", name="Retry", exact=True).click()
        expect(watching.get_by_role("status")).to_have_text(f"Task {dead['task_id']} runs again.")
        watching.close()

        until(lambda: len(api.get(f"/tasks/{dead['task_id']}")["attempts"]) == 2, "a second attempt")
        page.goto(f"{window.url}/ui/tasks/{dead['task_id']}")
        expect(page.locator("#attempts thead th")).to_have_text(["Attempt", "1", "2"])
        expect(page.get_by_role("link", name="Mend its input, then retry")).to_be_visible()


def test_jobs_are_paused_many_at_once_by_keyboard(api: Up, open_window: Open) -> None:
    form = {"workflow": "read", "scheduled_at": "2099-01-01T00:00:00Z"}
    later = [api.post("/jobs", form)["id"] for _ in range(2)]
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/jobs?status=PENDING")
        expect(page.locator("tbody tr").first).to_contain_text("예정 시각은 2099-01-01")
        for job in later:
            page.get_by_label(f"잡 {job}", exact=True).focus()
            page.keyboard.press("Space")
        page.locator(".bulk").get_by_role("button", name="취소").press("Enter")
        expect(page.locator("main p").first).to_have_text("2줄 가운데 2줄이 바뀝니다.")
        page.get_by_role("button", name="네, 실행합니다").press("Enter")
        expect(page.get_by_role("status")).to_have_text("잡 2개를 처리했습니다.")
