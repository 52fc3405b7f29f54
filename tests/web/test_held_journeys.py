"""Journeys over what is held: a price approved in English, a brand reviewed in Korean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from bobusang.catalog.brands import Proposal
from bobusang.kit.db import connect
from bobusang.sandbox.words import BRANDS
from tests.servers.server import wait_for
from tests.web import holding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from bobusang.kit.db import Row
    from tests.e2e.program import Up
    from tests.web.browser import Window

    Opening = Callable[..., AbstractContextManager[Window]]

KNOWN = BRANDS[-1]


@pytest.fixture(scope="module")
def waiting(running: Up) -> Sequence[Row]:
    """Two held prices and two brands that nobody has reviewed, in a shop that runs; the products of the prices."""

    async def put() -> Sequence[Row]:
        db = await connect(f"sqlite:///{running.folder / running.ready['database'].removeprefix('sqlite:///')}")
        try:
            await holding.proposed(db, Proposal("A", KNOWN.ko, KNOWN.en), Proposal("Nobody Knows It"))
            return await holding.prices(db, 2)
        finally:
            await db.close()

    return wait_for(put())


def test_a_held_price_is_approved(open_window: Opening, waiting: Sequence[Row]) -> None:
    first, second = waiting
    with open_window("operator", locale="en-US") as window:
        page = window.go("/")
        page.get_by_role("link", name="changes that a guard holds").click()
        page.get_by_role("row", name=second["name"]).first.get_by_role("link", name="Evidence").click()
        expect(page.locator("h1")).to_have_text(f"Held: {second['name']}")
        expect(page.locator("tbody ins")).to_have_text(f"₩{second['price'] // 10:,}")

        page.get_by_role("button", name="Approve").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("the change was approved and written")
        expect(page.locator("tbody del")).to_have_text(f"₩{first['price']:,}")
        page.get_by_role("button", name="Reject").click()
        expect(page.locator(".empty")).to_contain_text("No change of a mall waits for you.")


def test_a_brand_is_reviewed(open_window: Opening, waiting: Sequence[Row]) -> None:
    assert waiting
    with open_window("operator", locale="ko-KR") as window:
        page = window.go("/held/brands")
        expect(page.locator("tbody tr").first).to_contain_text("100%")
        page.get_by_role("row", name="Nobody Knows It").get_by_role("link", name="고르기").click()
        page.get_by_label("마켓 목록 검색").fill(KNOWN.en[:4])
        page.get_by_role("button", name="검색").click()
        page.get_by_role("radio", name=KNOWN.en).first.check()
        page.get_by_role("button", name="승인").click()

        expect(page.get_by_role("status")).to_have_text(
            "Nobody Knows It: 승인했습니다. 이제 상품을 마켓에 등록할 수 있습니다."
        )
        expect(page.locator("h1")).to_have_text(f"검토: {KNOWN.en}")
        page.get_by_role("button", name="차단").click()
        expect(page.locator(".empty")).to_contain_text("모두 검토했습니다.")
