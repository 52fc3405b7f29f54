"""Starts that cannot succeed: one clear message, the right exit code, nothing half-made."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.program import COMMAND, bobusang, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [
        ({"BOBUSANG_PORT": "eighty"}, 2, "BOBUSANG_PORT: "),
        ({"BOBUSANG_PORT": "70000"}, 2, "it is the port the API listens on"),
        ({"BOBUSANG_HOST": "no.such.host.invalid"}, 2, "BOBUSANG_HOST: 'no.such.host.invalid' is no address"),
        ({"BOBUSANG_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, 7, "check BOBUSANG_DATABASE_URL"),
        ({"BOBUSANG_DEAD_SECONDS": "1", "BOBUSANG_BEAT_SECONDS": "1"}, 2, "below three beats"),
    ],
)
def test_a_wrong_setting_stops_the_start(variables: dict[str, str], code: int, said: str, tmp_path: Path) -> None:
    found = bobusang("up", cwd=tmp_path, **({"BOBUSANG_PORT": "0"} | variables))

    assert (found.code, found.out) == (code, "")
    assert said in found.err
    assert "Traceback" not in found.err
    assert not list(tmp_path.rglob("*.db"))


def test_a_home_that_cannot_be_made_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    found = bobusang("up", "--home", "file/below", cwd=tmp_path, BOBUSANG_PORT="0")

    assert found.code == 7
    assert found.err == (
        "the folder file/below cannot be made: Not a directory\n  → choose another with --home or BOBUSANG_HOME\n"
    )


def test_a_read_only_folder_stops_the_start(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o555)
    line = [*COMMAND, "up", "--home", str(home)]
    if os.access(home, os.W_OK):  # as root we may write everywhere, until we give that up
        if shutil.which("setpriv") is None:
            pytest.skip("root can write everywhere, and there is no setpriv to give that up")
        line = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *line]

    found = subprocess.run(
        line, cwd=tmp_path, env=environment(BOBUSANG_PORT="0"), capture_output=True, text=True, timeout=60, check=False
    )

    assert found.returncode == 7
    assert found.stderr == (
        f"the folder {home} cannot be written\n  → change its rights, or choose another with --home or BOBUSANG_HOME\n"
    )


def test_a_file_that_is_no_database_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "bobusang-data" / "bobusang.db"
    path.parent.mkdir()
    path.write_text("something else entirely" * 100, "utf-8")

    found = bobusang("up", cwd=tmp_path, BOBUSANG_PORT="0")

    assert found.code == 7
    assert "Traceback" not in found.err
    assert path.read_text("utf-8") == "something else entirely" * 100


def test_db_upgrade_then_status(tmp_path: Path) -> None:
    assert bobusang("db", "status", cwd=tmp_path).code == 7

    upgraded = bobusang("db", "upgrade", "--json", cwd=tmp_path).document
    status = bobusang("db", "status", "--json", cwd=tmp_path).document

    assert (upgraded["from"], upgraded["current"]) == (None, status["head"])
    assert status["is_current"] is True
