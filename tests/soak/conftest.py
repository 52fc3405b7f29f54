"""A fresh migrated database for each long test, and how long such a test goes on."""

from __future__ import annotations

import os
import random
import tempfile

import pytest

from bobusang import migrations
from tests.servers.server import wait_for


def pytest_configure() -> None:
    """On a disk, as in production: what these write may be more than memory holds."""
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    fresh: str = request.getfixturevalue(f"fresh_{request.param}")
    wait_for(migrations.upgrade(fresh))
    return fresh


@pytest.fixture
def seconds() -> float:
    """How long to go on beginning new rounds; the one that is running is finished."""
    return float(os.environ.get("BOBUSANG_SOAK_SECONDS", "120"))


@pytest.fixture
def chance() -> random.Random:
    seed = int(os.environ.get("BOBUSANG_SEED", "0")) or random.randrange(1, 10**6)
    print(f"again with BOBUSANG_SEED={seed}")
    return random.Random(seed)
