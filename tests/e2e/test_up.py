"""`bobusang up` on an empty folder, and the same commands over HTTP and on the database itself."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from bobusang.flows import demo
from tests.e2e.program import Up, bobusang, up
from tests.e2e.site import Site, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("e2e-up")

MOVING = ("created_at", "updated_at", "started_at", "completed_at")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("up")
    (folder / "demo.yaml").write_text(demo.definition(), "utf-8")
    with up(folder, BOBUSANG_DRAIN_SECONDS="20") as found:
        yield found


@pytest.fixture(scope="module")
def job(program: Up) -> Iterator[int]:
    """A job of five pages that was started and waited for over HTTP."""
    with serving(Site(5)) as site:
        site.open.set()
        assert program.run("workflow", "apply", "demo.yaml", "--json").document["changed"] is True
        line = ("job", "start", "demo", "--input", f"base={site.base}", "--wait", "--json")
        ended = program.run(*line)
        assert (ended.code, ended.document["status"]) == (0, "SUCCESS"), ended
        yield ended.document["id"]


def test_an_empty_folder_becomes_a_running_program(program: Up) -> None:
    assert program.get("/health/ready")["status"] == "ok"
    assert set(program.ready) == {"pid", "url", "key_file", "welcome", "worker", "upkeep", "database", "version"}
    assert program.ready["database"] == "sqlite:///bobusang-data/bobusang.db"


def test_the_first_start_makes_a_key_for_its_owner_only(program: Up) -> None:
    path = program.folder / program.ready["key_file"]

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert program.token.startswith("bobu_")


def test_without_the_key_the_door_stays_shut(program: Up) -> None:
    found = bobusang("job", "list", "--url", program.url, "--json", cwd=program.folder)

    assert (found.code, found.document["error"]["code"]) == (6, "unauthorised")


def test_over_http_and_on_the_database_a_job_looks_the_same(program: Up, job: int) -> None:
    over_http = program.run("job", "show", str(job), "--json")
    locally = bobusang("job", "show", str(job), "--json", cwd=program.folder)

    assert over_http.code == locally.code == 0
    assert over_http.document == locally.document
    assert over_http.err == locally.err == ""


def test_a_job_started_on_the_database_is_run_by_the_program(program: Up, job: int) -> None:
    with serving(Site(5)) as site:
        site.open.set()
        start = ("job", "start", "demo", "--input", f"base={site.base}", "--json")
        over_http, locally = program.run(*start), bobusang(*start, cwd=program.folder)
        first, second = over_http.document, locally.document
        assert (first.keys(), first["created"]) == (second.keys(), second["created"])

        ended = [program.finished(made["id"]) for made in (first, second)]

    steps = [[{name: step[name] for name in step if name not in MOVING} for step in each["steps"]] for each in ended]
    assert [each["status"] for each in ended] == ["SUCCESS", "SUCCESS"]
    assert steps[0] == steps[1]


def test_a_second_program_on_the_same_port_is_told_so(program: Up, tmp_path: Path) -> None:
    port = program.url.rpartition(":")[2]

    found = bobusang("up", "--port", port, cwd=tmp_path)

    assert (found.code, found.out) == (1, "")
    assert found.err == (
        f"cannot listen on 127.0.0.1:{port}: Address already in use\n"
        "  → is another `bobusang up` running? choose another port with --port, or --port 0 for a free one\n"
    )


def test_the_doctor_finds_nothing_broken(program: Up, job: int) -> None:
    found = bobusang("doctor", "--json", cwd=program.folder, BOBUSANG_DRAIN_SECONDS="20")

    assert found.code == 0, found
    assert {check["check"]: check["state"] for check in found.document["checks"]} == dict.fromkeys(
        ("Python", "settings", "folder", "disk", "database", "clock", "workers", "leader", "alerts"), "ok"
    )
    origins = {setting["name"]: setting["origin"] for setting in found.document["settings"]}
    assert (origins["drain_seconds"], origins["port"]) == ("BOBUSANG_DRAIN_SECONDS", "default")


def test_ctrl_c_stops_an_idle_program(program: Up, job: int) -> None:
    """The last of this file: the others need it running."""
    program.interrupt()

    assert program.ended() == 0
    assert program.said().endswith("stopped\n")
    assert "Traceback" not in program.said()
