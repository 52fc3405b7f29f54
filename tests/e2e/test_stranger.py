"""A stranger's package, built and installed: its shops are found by their entry points and conform."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.program import bobusang, environment

pytestmark = pytest.mark.xdist_group("e2e-stranger")

EXAMPLE = Path(__file__).parents[2] / "examples" / "bobusang-corner-shop"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed: apart from our own, and without reaching any index."""
    root = tmp_path_factory.mktemp("stranger")
    shutil.copytree(EXAMPLE, root / "package", ignore=shutil.ignore_patterns("__pycache__", "dist"))
    line = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run(
        [*line, "--target", str(root / "site"), str(root / "package")], check=True, capture_output=True, timeout=120
    )
    return root / "site"


def with_site(site: Path) -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])}


def test_its_page_names_what_a_stranger_types() -> None:
    """Each of these is done below, or by the fixture above."""
    block = (EXAMPLE / "README.md").read_text("utf-8").partition("```sh\n")[2].partition("```")[0]

    assert [line.partition("  #")[0].rstrip() for line in block.splitlines()] == [
        'pip install -e ".[test]"',
        "bobusang source check corner",
        "bobusang db upgrade",
        "bobusang source list",
        "pytest",
    ]


def test_its_shops_are_listed_beside_ours(site: Path, tmp_path: Path) -> None:
    before = bobusang("source", "check", "corner", cwd=tmp_path, **with_site(site))
    assert (before.code, before.out) == (0, "corner: right, fixtures read: 4\n"), "it needs no database"
    assert bobusang("db", "upgrade", cwd=tmp_path, **with_site(site)).code == 0

    found = bobusang("source", "list", "--json", cwd=tmp_path, **with_site(site))

    theirs = {one["name"]: one for one in found.document["items"] if one["origin"] == "package"}
    assert {name: (one["problem"], one["enabled"]) for name, one in theirs.items()} == {
        "corner": (None, False),
        "counter": (None, False),
    }


def test_they_conform_as_a_stranger_would_see_it(site: Path) -> None:
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull]
    ran = subprocess.run(
        [*line, "--rootdir", str(site.parent), str(site.parent / "package" / "tests")],
        cwd=site.parent,
        env=environment(**with_site(site)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "41 passed, 1 skipped" in ran.stdout
