"""The first steps, without a browser: a shop that somebody has begun never becomes the demo."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.screen import Screen


async def test_a_shop_that_has_begun_does_not_become_the_demo(screen: Screen) -> None:
    page = await screen.admin.get("/start")
    refused = await screen.admin.post("/start/demo", on="/start", size="40")

    assert page.texts("h2") == ["Load demo data", "Start with your own malls"]
    assert page.texts(".steps .pill") == ["done", "done", "done", "done", "done"]
    assert refused.text(".said.refused") == (
        "this shop cannot become the demo (`bobusang demo` runs it in a folder of its own)"
    )
