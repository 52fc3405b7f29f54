"""What a page weighs: bytes on the wire and requests of a first visit, with nothing in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.web import addresses
from tests.web.furnishing import furnished
from tests.web.weighing import Weight, weighed

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.e2e.program import Up
    from tests.web.browser import Window

KILOBYTE = 1000
MOST_BYTES = 80 * KILOBYTE
MOST_REQUESTS = 12
HEAVIER = {"/analytics": 330 * KILOBYTE}


@pytest.fixture(scope="module")
def shop(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(shop, tmp_path_factory.mktemp("busy"))


@pytest.mark.timeout(300)
def test_no_page_weighs_too_much(
    open_window: Callable[..., AbstractContextManager[Window]],
    running: Up,
    cookies: dict[str, list[dict[str, object]]],
) -> None:
    found: dict[str, Weight] = {}
    with open_window("admin", locale="ko-KR") as window:
        for path, address in addresses.of_running(running, cookies["admin"]).pages.items():
            found[path] = weighed(window.page, f"{window.url}/ui{address}")

    too_heavy = {
        path: weight
        for path, weight in found.items()
        if weight.bytes > HEAVIER.get(path, MOST_BYTES) or weight.requests > MOST_REQUESTS
    }
    assert too_heavy == {}
