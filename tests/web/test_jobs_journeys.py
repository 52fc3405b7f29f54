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


KOREAN = {
    "title": "실패 보관함",
    "letters": "항목 보기",
    "again": "저장하고 다시 실행",
    "wrong": "이 입력은 쓸 수 없습니다",
    "runs": "이 입력으로 태스크 {id}을(를) 다시 실행합니다.",
    "done": "완료",
}
ENGLISH = {
    "title": "Dead letters",
    "letters": "See the letters",
    "again": "Save and run again",
    "wrong": "This input cannot be taken",
    "runs": "Task {id} runs again with this input.",
    "done": "done",
}


@pytest.mark.parametrize(("locale", "words"), [("ko-KR", KOREAN), ("en-US", ENGLISH)])
def test_a_letters_input_is_mended_and_it_succeeds(
    api: Up, open_window: Open, locale: str, words: dict[str, str]
) -> None:
    dead = letter(api, "<h1>모자</h1>")
    with open_window("operator", locale=locale) as window:
        page = window.go("/dead-letters")
        expect(page.locator("h1")).to_have_text(words["title"])
        page.locator(".cause", has_text="breaks off").get_by_role("link", name=words["letters"]).click()
        page.get_by_role("link", name=str(dead["task_id"]), exact=True).click()
        field = page.get_by_label("JSON")
        field.fill('{"page": "/1", "html": ')
        page.get_by_role("button", name=words["again"]).click()
        expect(page.locator("#problem")).to_contain_text(words["wrong"])
        expect(field).to_have_value('{"page": "/1", "html": ')

        field.fill(f'{{"page": "/1", "html": "{HTML}"}}')
        page.get_by_role("button", name=words["again"]).click()
        expect(page.get_by_role("status")).to_have_text(words["runs"].format(id=dead["task_id"]))

        until(lambda: api.get(f"/tasks/{dead['task_id']}")["status"] == "SUCCESS", "success")
        page.goto(f"{window.url}/ui/tasks/{dead['task_id']}")
        expect(page.locator("main .pill").first).to_have_text(words["done"])
        expect(page.locator("#attempts thead th")).to_have_count(2)


def test_a_failed_task_is_retried(api: Up, open_window: Open) -> None:
    dead = letter(api, "<h1>Hat</h1>")
    with open_window("operator", locale="en-US") as window:
        page = window.go(f"/jobs/{dead['job_id']}")
        expect(page.locator("#job-head .pill")).to_have_text(["failed"])
        page.locator("#job-figures").get_by_role("link", name="Failed").click()
        page.get_by_role("link", name=str(dead["task_id"]), exact=True).click()
        page.get_by_role("button", name="Retry", exact=True).click()
        expect(page.get_by_role("status")).to_have_text(f"Task {dead['task_id']} runs again.")

        until(lambda: len(api.get(f"/tasks/{dead['task_id']}")["attempts"]) == 2, "a second attempt")
        page.goto(f"{window.url}/ui/tasks/{dead['task_id']}")
        expect(page.locator("#attempts thead th")).to_have_text(["Attempt", "1", "2"])
        expect(page.get_by_role("link", name="Mend its input, then retry")).to_be_visible()


def test_a_job_is_watched_and_many_are_cancelled_by_keyboard(api: Up, open_window: Open) -> None:
    form = {"workflow": "read", "scheduled_at": "2099-01-01T00:00:00Z"}
    later = [api.post("/jobs", form)["id"] for _ in range(2)]
    with open_window("operator", locale="ko-KR") as window:
        page = window.go(f"/jobs/{later[0]}")
        expect(page.locator("#live")).to_have_text("실시간")
        api.post(f"/jobs/{later[0]}/pause", {})
        expect(page.locator("#job-head .pill")).to_have_text(["대기", "멈춤"])

        page = window.go("/jobs?status=PENDING")
        expect(page.locator("tbody tr").first).to_contain_text("예정 시각은 2099-01-01")
        for job in later:
            page.get_by_label(f"작업 {job}", exact=True).focus()
            page.keyboard.press("Space")
        page.locator(".bulk").get_by_role("button", name="취소").press("Enter")
        expect(page.locator("main p").first).to_have_text("2줄 가운데 2줄이 바뀝니다.")
        page.get_by_role("button", name="네, 실행합니다").press("Enter")
        expect(page.get_by_role("status")).to_have_text("작업 2개를 처리했습니다.")
