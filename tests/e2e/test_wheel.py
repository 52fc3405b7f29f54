"""The wheel and the source archive hold what the repository does not: third-party scripts and catalogues."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import hatch_build

ROOT = Path(__file__).parents[2]
WEB = "bobusang/entry/web"


def test_both_packages_hold_scripts_licences_and_catalogues(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True, timeout=100)

    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    made = {f"{WEB}/static/vendor/{name}" for name in (".made", *hatch_build.sums(ROOT / hatch_build.VENDOR))}
    made |= {f"{WEB}/locale/{path.stem}.mo" for path in (ROOT / hatch_build.WEB / "locale").glob("*/")}
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(source) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    assert made <= in_wheel
    assert {f"src/{name}" for name in made} <= in_source
    # An install from the source archive runs the hook again and must find all that it compares with.
    assert {"hatch_build.py", "assets/package-lock.json", "assets/echarts.js"} <= in_source
