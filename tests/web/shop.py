"""A shop to look at: what `bobusang demo` leaves behind, made once, copied for whoever changes something."""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import TYPE_CHECKING

from tests.e2e.program import patiently

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SIZE = "40"
HOME = "shop"
PATIENCE = 600.0


def made(factory: pytest.TempPathFactory) -> Path:
    """The folder of a shop after a FULL and a PARTIAL run: one for all test processes, and who comes second waits."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            done = patiently(PATIENCE, "demo", "--size", SIZE, "--home", HOME, "--quiet", cwd=folder)
            assert done.code == 0, done.err
            (folder / "made").touch()
    return folder / HOME


def copied(shop: Path, folder: Path) -> Path:
    """The same shop, for a test of its own."""
    return shutil.copytree(shop, folder / HOME)
