"""Both shops, held to what Bobusang expects of every source."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bobusang_corner_shop
import pytest
from bobusang_corner_shop.counter import Counter

from bobusang.testing.source_suite import SourceSuite

if TYPE_CHECKING:
    from collections.abc import Callable

    from bobusang.stages.collect.source import Source

HERE = Path(bobusang_corner_shop.__file__).parent


class TestCorner(SourceSuite):
    @pytest.fixture
    def folder(self) -> Path:
        return HERE / "corner"


class TestCounter(SourceSuite):
    @pytest.fixture
    def folder(self) -> Path:
        """Only its fixtures are there."""
        return HERE / "counter"

    @pytest.fixture
    def make(self) -> Callable[[], Source]:
        return Counter
