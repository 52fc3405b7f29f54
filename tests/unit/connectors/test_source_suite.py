"""Every shipped source, by the conformance suite that a stranger's package uses too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.testing.source_suite import SourceSuite
from tests.unit.connectors.reading import SHOPS

if TYPE_CHECKING:
    from pathlib import Path


class TestShipped(SourceSuite):
    @pytest.fixture(params=SHOPS, ids=lambda path: path.name)
    def folder(self, request: pytest.FixtureRequest) -> Path:
        found: Path = request.param
        return found
