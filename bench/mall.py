"""The sandbox as a server process of its own, with one brand of as many list pages as are wanted."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote
from urllib.request import urlopen

import psutil

from bobusang.sandbox.words import BRANDS
from tests.servers.server import Server, listens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BOXES = 80
TOTAL = re.compile(rb'name="total_count" value="(\d+)"')


class Mall(Server):
    """One seeded world that never ages; what was rendered once is served from memory."""

    name = "sandbox"

    def __init__(self, pages: int, *, page_size: str = "default") -> None:
        super().__init__()
        self._page_size = page_size
        self._size = pages * BOXES
        self.pages = 0
        """How many there are; a few less than wanted, for what is sold out is not listed. Known once it is warm."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def user(self) -> str:
        return ""  # it does not mind root

    @property
    def brand(self) -> str:
        """The one brand, as the mall spells it."""
        return BRANDS[0].name

    @property
    def list(self) -> str:
        """The brand's list, without a page number."""
        return f"{self.url}/okmall/products/list?brand={quote(self.brand)}"

    @property
    def cpu(self) -> float:
        """CPU seconds that it has spent so far."""
        assert self._keeper is not None
        spent = [child.cpu_times() for child in psutil.Process(self._keeper.pid).children(recursive=True)]
        return float(sum(each.user + each.system for each in spent))

    def prepare(self) -> None:
        """It keeps nothing."""

    def command(self) -> Sequence[str | Path]:
        world = ["--size", str(self._size), "--brands", "1", "--pace", "0", "--page-size", self._page_size]
        return [sys.executable, "-m", "bobusang.sandbox", "--port", str(self.port), *world]

    def ready(self) -> bool:
        return listens(self.port)

    def warm(self) -> int:
        """Have every page rendered, so that the first contender does not wait for it; bytes of the first page."""
        first = self.page(1)
        self.pages = -(-int(TOTAL.findall(first)[0]) // BOXES)
        for number in range(2, self.pages + 1):
            self.page(number)
        return len(first)

    def page(self, number: int) -> bytes:
        """One list page, unpacked."""
        with urlopen(f"{self.list}&page={number}", timeout=60) as answer:
            found: bytes = answer.read()
        return found
