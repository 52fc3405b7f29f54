"""Every command on the real API and a real database: both sides mean the same by each word."""

from __future__ import annotations

import asyncio
import json
import os
import queue
import threading
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.entry.api import create_app
from bobusang.entry.cli import main
from bobusang.entry.cli.process import address, listening
from bobusang.entry.worker import Api, Part
from bobusang.flows import demo
from bobusang.kit import log
from bobusang.settings import load
from bobusang.wiring import opened
from tests.e2e.program import PATIENCE
from tests.e2e.site import Site, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("e2e-commands")


SHOP = """
workflow: shop
steps:
  - {name: fetch, type: FETCH, handler: demo.fetch, pool: mall}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands")
    (folder / "demo.yaml").write_text(demo.definition(), "utf-8")
    (folder / "shop.yaml").write_text(SHOP, "utf-8")
    return folder


@pytest.fixture(scope="module")
def url(home: Path) -> Iterator[str]:
    """The API on that folder, in a thread. One job has run and left a dead letter; then nobody works any more, so that
    jobs stay where commands put them."""
    asked: queue.Queue[None] = queue.Queue()
    listener, ready = listening("127.0.0.1", 0), threading.Event()

    async def serve() -> None:
        log.configure("CRITICAL")  # its lines would stand among those of the commands, which run in the same process
        async with opened(load({}, home=str(home))) as app:
            server = Api(create_app(app, local=True), listener)
            parts = [Part("worker", lambda: app.worker("w")), Part("upkeep", app.keeper)]
            await server.start()
            for part in parts:
                part.start()
            ready.set()
            await asyncio.to_thread(asked.get)
            for part in parts:
                await part.stop()
            ready.set()
            await asyncio.to_thread(asked.get)
            await server.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    ready.clear()
    found = address(listener)
    with serving(Site(3, broken=2)) as site:
        site.open.set()
        for file in ("demo.yaml", "shop.yaml"):
            assert main(["workflow", "apply", str(home / file), "--url", found]) == 0
        line = ["job", "start", "demo", "--input", f"base={site.base}", "--wait", "--quiet", "--url", found]
        assert main(line) == 1, "one of three pages is more than the demo tolerates"
    asked.put(None)
    assert ready.wait(PATIENCE)
    yield found
    asked.put(None)
    thread.join(PATIENCE)
    log.configure()


@pytest.fixture
def call(
    url: str, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Run a line with --json and read its document; the exit code must be what is said."""
    for name in [name for name in os.environ if name.startswith("BOBUSANG_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(home)

    def run(line: str, *more: str, code: int = 0) -> Any:
        capsys.readouterr()
        found = main([*line.split(), *more, "--json", "--quiet", "--url", url])
        out, err = capsys.readouterr()
        assert (found, err) == (code, ""), out
        return json.loads(out)

    return run


def test_workflows(call: Callable[..., Any]) -> None:
    shop = call("workflow list --search shop")["items"][0]
    assert (shop["name"], shop["version"], shop["is_active"]) == ("shop", 1, True)
    assert call("workflow apply shop.yaml")["changed"] is False
    assert call("workflow check shop.yaml")["steps"] == 1
    assert [step["handler"] for step in call("workflow show shop")["steps"]] == ["demo.fetch"]
    assert [version["version"] for version in call("workflow show shop --versions")["items"]] == [1]

    assert call("workflow deactivate shop")["is_active"] is False
    assert call("job start shop --input base=http://x", code=4)["error"]["code"] == "conflict"
    assert call("workflow activate shop")["is_active"] is True

    limits = call("workflow limits shop --jobs 2 --pool mall")
    assert limits == {"max_parallel_jobs": 2, "max_parallel_tasks": 10, "resource_pool": "mall"}
    assert call("workflow limits shop --tasks 3") == limits | {"max_parallel_tasks": 3}
    assert call("workflow limits shop") == limits | {"max_parallel_tasks": 3}
    assert call("workflow limits shop --clear") is None
    assert call("workflow limits shop") is None


def test_a_definition_with_mistakes_names_file_line_and_key(call: Callable[..., Any], home: Path) -> None:
    (home / "broken.yaml").write_text(SHOP.replace("demo.fetch", "demo.fetsh").replace("FETCH", "FETSH"), "utf-8")

    error = call("workflow check broken.yaml", code=1)["error"]

    assert "broken.yaml:4: steps[0].type: unknown step type 'FETSH'" in error["message"]
    assert "did you mean demo.fetch?" in error["message"]


def test_targets_are_mapped_to_workflows(call: Callable[..., Any]) -> None:
    call("workflow map shop --type brand --if", "grade == 'A'", "--priority", "5")

    found = call("workflow map")["items"]

    assert [(one["target_type"], one["workflow"], one["priority"]) for one in found] == [("brand", "shop", 5)]


def test_schedules(call: Callable[..., Any]) -> None:
    made = call("schedule add nightly --workflow shop --zone Asia/Seoul --input base=http://x --cron", "0 3 * * *")
    assert made["words"]["ko"] == "매일 03:00"
    call("schedule edit nightly --priority 9 --overlap allow")
    shown = call("schedule show nightly")
    assert (shown["cron"], shown["priority"], shown["overlap"]) == ("0 3 * * *", 9, "ALLOW")
    assert shown["input"] == {"base": "http://x"}
    assert len(call("schedule next nightly")["items"]) == 5
    assert call("schedule pause nightly")["is_active"] is False
    assert call("schedule resume nightly")["is_active"] is True
    job = call("schedule run nightly")["job_id"]
    assert call(f"job show {job}")["schedule_id"] == made["id"]
    assert call(f"job list --schedule {made['id']}")["items"][0]["id"] == job
    assert [one["name"] for one in call("schedule list --workflow shop")["items"]] == ["nightly"]
    call("schedule delete nightly --yes")
    assert call("schedule show nightly", code=3)["error"]["code"] == "missing"


def test_a_cron_that_never_fires_is_refused(call: Callable[..., Any]) -> None:
    error = call("schedule add never --workflow shop --cron", "0 0 31 2 *", code=2)["error"]

    assert error["code"] == "invalid"


def test_jobs(call: Callable[..., Any]) -> None:
    start = "job start shop --input base=http://x --priority 7 --queue HIGH --key once"
    made = call(start)
    assert made["created"] is True
    assert call(start) == {"id": made["id"], "created": False}
    later = call(f"job start shop --input base=http://x --after {made['id']}")["id"]
    assert call(f"job show {later}")["waits_for"] == [f"job {made['id']} has not ended: it is RUNNING"]

    assert call(f"job pause {made['id']}")["is_paused"] is True
    assert call(f"job resume {made['id']}")["is_paused"] is False
    assert call(f"job resume {made['id']}", code=4)["error"]["code"] == "conflict"
    chosen = call("job cancel --filter workflow=shop --filter status=RUNNING|PENDING --dry-run")["items"]
    assert {made["id"], later} <= {one["id"] for one in chosen}
    ended = call("job cancel --filter workflow=shop --filter status=RUNNING|PENDING --yes")["items"]
    assert [one["ok"] for one in ended] == [True] * len(chosen)
    assert call(f"job cancel {made['id']} {later} --yes", code=4)["items"][0]["error"]["code"] == "conflict"
    assert call(f"job retry {made['id']} 999999", code=1)["items"][1]["error"]["code"] == "missing"
    listed = call("job list --workflow shop --status CANCELLED --limit 500")["items"]
    assert {made["id"], later} <= {one["id"] for one in listed}
    assert call("job list --archived")["items"] == []


def test_tasks_and_dead_letters(call: Callable[..., Any]) -> None:
    [letter] = call("dlq list --reason invalid --workflow demo --job 1")["items"]
    task = letter["task_id"]
    [cause] = call("dlq list --group-by cause")["items"]
    assert (cause["count"], cause["example"]) == (1, task)
    assert call(f"dlq list --fingerprint {cause['fingerprint']}")["items"] == [letter]
    assert call(f"dlq show {task}")["attempts"][0]["outcome"] == "PARK"
    assert call(f"task show {task}")["status"] == "FAILED"
    [listed] = call("task list --job 1 --step parse --status FAILED")["items"]
    assert listed["id"] == task

    page = "<html><h1>mended</h1><p>two words</p></html>"
    call(f"dlq edit {task} --input-json", json.dumps({"page": "/pages/2", "html": "half"}))
    assert call(f"dlq edit {task} --input", f"html={page}")["input"] == {"page": "/pages/2", "html": page}
    assert call("dlq retry --filter reason=INVALID --dry-run") == {"matched": 1, "redriven": 0, "dry_run": True}
    assert call(f"dlq retry {task}") == {"matched": 1, "redriven": 1, "dry_run": False}
    assert call(f"dlq retry {task}", code=3)["redriven"] == 0
    assert call(f"task retry {task}", code=4)["error"]["code"] == "conflict"
    assert call("dlq discard --filter job=1 --yes")["discarded"] == 0


def test_queues_and_pools(call: Callable[..., Any]) -> None:
    pool = call("queue limit mall --rate 2.5 --burst 5 --in-flight 4")
    assert (pool["rate"], pool["burst"], pool["max_in_flight"]) == (2.5, 5, 4)
    assert call("queue block mall --reason", "they answered 403")["is_halted"] is True
    shown = call("queue show")
    assert [one["reason"] for one in shown["pools"] if one["pool"] == "mall"] == ["they answered 403"]
    assert call("queue resume mall")["is_blocked"] is False
    assert call("queue resume nowhere", code=3)["error"]["code"] == "missing"
    assert call("queue block mall --reason x --until 2020-01-01T00:00:00Z", code=2)["error"]["code"] == "invalid"


def test_keys(call: Callable[..., Any]) -> None:
    made = call("key add ci --role operator")
    assert made["key"].startswith("bobu_")
    assert [one["name"] for one in call("key list")["items"]] == ["ci"]
    call(f"key revoke {made['id']} --yes")
    assert call(f"key revoke {made['id']} --yes", code=4)["error"]["code"] == "conflict"
    assert call("key add ci --role king", code=2)["error"]["code"] == "invalid"


def test_alerts_doctor_and_version(call: Callable[..., Any]) -> None:
    assert call("alerts")["items"] == []
    states = {check["check"]: check["state"] for check in call("doctor")["checks"]}
    assert states == {"Python": "ok", "API": "ok", "workers": "warning", "leader": "warning", "alerts": "ok"}
    assert set(call("version")) == {"version", "python"}


def test_without_json_every_list_and_page_can_be_shown(
    url: str, capsys: pytest.CaptureFixture[str], call: Callable[..., Any]
) -> None:
    call("schedule add shown --workflow demo --every 600 --input base=http://x")
    lines = (
        "workflow list | workflow show demo | schedule list | schedule show shown | job list | job show 1 | "
        "task list | task show 1 | queue show | dlq list | key list | alerts --all | doctor"
    )
    for line in lines.split(" | "):
        assert main([*line.split(), "--lang", "ko", "--url", url]) == 0, line
        assert capsys.readouterr().out, line
