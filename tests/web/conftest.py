"""A shop after its first runs, the screen on it, and a browser before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.web import browser as browsers
from tests.web import screen as screens
from tests.web import shop as shops

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.e2e.program import Up
    from tests.web.browser import Window
    from tests.web.screen import Screen


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a shop; whoever changes something copies it."""
    return shops.made(tmp_path_factory)


@pytest.fixture
async def screen(shop: Path, tmp_path: Path) -> AsyncIterator[Screen]:
    """The pages of a shop of this test's own, without a browser."""
    async with screens.opened(shops.copied(shop, tmp_path)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For files of journeys alone: while it is there no test of the same process has a loop of its own."""
    with browsers.started() as found:
        yield found


@pytest.fixture(scope="module")
def running(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """`bobusang up` on a shop of this file's own."""
    from tests.e2e.program import up

    folder = tmp_path_factory.mktemp("running")
    shops.copied(shop, folder)
    with up(folder, BOBUSANG_HOME=shops.HOME, BOBUSANG_LOG_LEVEL="WARNING") as found:
        yield found


@pytest.fixture(scope="module")
def cookies(running: Up) -> dict[str, list[dict[str, object]]]:
    """The cookies of a person of each role, who came in by the doors."""
    from tests.web.coming_in import signed_in

    return signed_in(running)


@pytest.fixture
def open_window(
    browser: Browser, running: Up, cookies: dict[str, list[dict[str, object]]]
) -> Callable[..., AbstractContextManager[Window]]:
    """Opens a window as somebody: `with open_window("operator", locale="ko-KR") as window`."""

    def opened(role: str = "admin", **chosen: object) -> AbstractContextManager[Window]:
        return browsers.window(browser, running.url, cookies[role], **chosen)

    return opened
