"""The page of a product."""

from __future__ import annotations

import pytest

from bobusang.entry.web.product import OURS

ADDRESS = "ab" * 32


@pytest.mark.parametrize("before", ["http://127.0.0.1:8000/media", "https://img.example.com/raw/ab"])
@pytest.mark.parametrize("ending", ["", ".jpg"])
def test_what_the_market_shows_is_known_wherever_it_was_fetched(before: str, ending: str) -> None:
    found = OURS.search(f"{before}/{ADDRESS}{ending}")

    assert found is not None
    assert found[1] == ADDRESS
