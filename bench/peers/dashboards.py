"""Dashboards of others, as their packages bring them: each in an environment of its own, on an empty database."""

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.peers.environment import FOLDER, ensure
from tests.servers.server import free_port

START_SECONDS = 300.0
STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Dashboard:
    """How one is started. `{port}` and `{home}` are filled in."""

    name: str
    package: str
    serve: Sequence[str]
    page: str
    answers: str
    ready: str
    prepare: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


PREFECT = Dashboard(
    name="Prefect",
    package="prefect",
    serve=("prefect", "server", "start", "--host", "127.0.0.1", "--port", "{port}"),
    page="/dashboard",
    answers="/api/health",
    ready="() => document.body && /(Run a task or flow|Flow Runs)/i.test(document.body.innerText)",
    variables={
        "PREFECT_HOME": "{home}",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_UI_API_URL": "http://127.0.0.1:{port}/api",
    },
)
AIRFLOW = Dashboard(
    name="Airflow",
    package="airflow",
    serve=("airflow", "api-server", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
    page="/",
    answers="/api/v2/version",
    ready="() => document.body && /(Failed dags|Welcome|Stats|Dags)/i.test(document.body.innerText)",
    prepare=("airflow", "db", "migrate"),
    variables={
        "AIRFLOW_HOME": "{home}",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": "http://127.0.0.1:{port}/execution/",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    },
)
ALL = (PREFECT, AIRFLOW)


@contextmanager
def running(found: Dashboard, home: Path) -> Iterator[str]:
    """Its address, once it answers."""
    port = free_port()
    bin_ = ensure(FOLDER.with_name(f"peer-{found.package}"), Path(__file__).with_name(f"{found.package}.txt")).parent
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "BOBUSANG"))
    }
    said = {name: value.format(port=port, home=home) for name, value in found.variables.items()}
    environment = {**kept, **said, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    with (home / "log.txt").open("w") as log:

        def start(line: Sequence[str]) -> subprocess.Popen[bytes]:
            filled = [part.format(port=port, home=home) for part in line]
            argv = [str(bin_ / filled[0]), *filled[1:]]
            return subprocess.Popen(argv, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        if found.prepare and start(found.prepare).wait(START_SECONDS):
            raise RuntimeError(f"{found.name} could not be prepared: {_tail(home)}")
        server = start(found.serve)
        try:
            _await(server, f"http://127.0.0.1:{port}{found.answers}", home)
            yield f"http://127.0.0.1:{port}{found.page}"
        finally:
            server.terminate()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _await(server: "subprocess.Popen[bytes]", url: str, home: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)  # a stranger says nothing when it is ready
    raise RuntimeError(f"{url} does not answer: {_tail(home)}")


def _tail(home: Path) -> str:
    return (home / "log.txt").read_text(errors="replace")[-2000:]
