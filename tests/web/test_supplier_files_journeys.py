"""A supplier's spreadsheet from the file chosen to its products, in a real browser and with a real worker behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from bobusang.testing.workbook import Sheet, workbook
from tests.web.test_accessibility_journeys import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from playwright.sync_api import FilePayload

    from tests.e2e.program import Up
    from tests.web.browser import Window

    Open = Callable[..., AbstractContextManager[Window]]

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
KOREAN = {
    "field": "엑셀 파일",
    "look": "살펴보기",
    "again": "다시 살펴보기",
    "key": "상품 코드 *",
    "lacking": "다음 항목의 열을 찾지 못했습니다: 상품 코드.",
    "wrong": "12,900처럼 원 단위 금액이어야 합니다",
    "import": "가져오기",
    "ended": "가져온 결과",
}
ENGLISH = {
    "field": "A spreadsheet",
    "look": "Look it through",
    "again": "Look it through again",
    "key": "Product code *",
    "lacking": "No column was found for: Product code.",
    "wrong": "an amount of won is expected, as 12,900",
    "import": "Import it",
    "ended": "How its import ended",
}


def chosen(mark: str) -> FilePayload:
    """A list whose code column has a name that nobody could guess, and one wrong price."""
    rows = [[f"{mark}{at}", f"코트 {at}", 10_000 + at] for at in range(1_500)]
    rows[1][2] = "문의"
    data = workbook(Sheet("단가표", [["우리번호", "상품명", "공급가"], *rows]))
    return {"name": "단가표.xlsx", "mimeType": XLSX, "buffer": data}


@pytest.mark.parametrize(
    ("locale", "words", "scripts"),
    [("ko-KR", KOREAN, True), ("en-US", ENGLISH, True), ("en-US", ENGLISH, False)],
    ids=["korean", "english", "without scripts"],
)
def test_a_file_is_chosen_looked_through_mended_and_imported(
    running: Up, open_window: Open, locale: str, words: dict[str, str], *, scripts: bool
) -> None:
    name = f"hanbit-{locale[:2]}-{str(scripts).lower()}"
    running.post("/suppliers", {"name": name, "kind": "excel"})
    with open_window("operator", locale=locale, java_script_enabled=scripts) as window:
        page = window.page
        page.goto(f"{window.url}/ui/suppliers/{name}")
        page.get_by_label(words["field"]).set_input_files(chosen(name))
        page.get_by_role("button", name=words["look"], exact=True).click()
        expect(page.locator("#lacking")).to_contain_text(words["lacking"])
        expect(page.get_by_role("button", name=words["import"], exact=True)).to_have_count(0)

        page.get_by_label(words["key"]).select_option("우리번호")
        page.get_by_role("button", name=words["again"], exact=True).click()
        expect(page.locator("#counts strong").first).to_have_text("1,500")
        expect(page.locator("#problems details tbody tr")).to_contain_text("C3")
        expect(page.locator("td.flaw")).to_contain_text(words["wrong"])
        if scripts:
            assert violations(page) == []

        page.get_by_role("button", name=words["import"], exact=True).click()
        expect(page.locator("#imported h2")).to_have_text(words["ended"])
        expect(page.locator("#imported strong").first).to_have_text("1,500")
