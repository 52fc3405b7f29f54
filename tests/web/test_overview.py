"""The overview: the belt and what needs a person, over real runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.web.screen import Screen


async def test_the_last_batch_is_shown_by_brand_and_stage(screen: Screen) -> None:
    page = await screen.viewer.get("/")

    assert page.texts(".belt thead th") == ["Brand", "Collect", "Convert", "Image", "Price", "Register", "State"]
    assert len(page.texts(".belt tbody tr")) == 10
    assert "categories to review" in page.text("#needs")
