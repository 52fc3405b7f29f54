"""How the demo names the program in the commands it ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bobusang.entry.cli.main_job import called as program

SHOP = Path("/home/seller/shop")


@pytest.mark.parametrize(
    ("called", "found", "written"),
    [
        ("/usr/bin/bobusang", "/usr/bin/bobusang", "bobusang"),
        (".venv/bin/bobusang", None, ".venv/bin/bobusang"),
        ("/home/seller/shop/.venv/bin/bobusang", None, ".venv/bin/bobusang"),
        ("/opt/my tools/bobusang", None, "'/opt/my tools/bobusang'"),
        ("-c", None, "bobusang"),
    ],
)
def test_a_command_is_written_so_that_it_works_here(called: str, found: str | None, written: str) -> None:
    assert program(called, found, SHOP) == written
