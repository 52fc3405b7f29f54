"""The peers of the benchmark: queues that are drained and crawlers that collect, in an environment of their own."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.peers.environment import FOLDER, ensure

SERVERS = {"celery": "redis", "procrastinate": "postgres", "dbos": "postgres"}
"""Which server a peer's script wants the URL of."""

GRACE = 30.0
"""Seconds a script gets, after its own time limit or a request to stop, to end its worker and drop its database."""


class PeerFailed(Exception):
    """A peer's script gave no measurement; the message ends with what it said."""


def run(
    peer: str,
    url: str,
    tasks: int,
    *,
    timeout: float = 300.0,
    options: Sequence[str] = (),
    folder: Path = FOLDER,
) -> dict[str, Any]:
    """Measure one peer on the server at that URL: `{"peer", "version", "tasks", "enqueue_per_s", "drain_per_s", …}`.

    Further options go to the script as they are (`["--sweep"]`, `["--concurrency", "5"]`). The environment is made
    in the folder when it is not there yet, outside the time limit. stderr of the script is passed on.
    """
    script = Path(__file__).with_name(f"{peer}_drain.py")
    argv = [str(ensure(folder)), str(script), f"--{SERVERS[peer]}", url, "--tasks", str(tasks)]
    argv += ["--timeout", str(timeout), *options]
    said = output(argv, timeout + GRACE)
    found: dict[str, Any] = json.loads(said)
    return found


def crawl(peer: str, options: Sequence[str], *, timeout: float = 600.0) -> dict[str, Any]:
    """Collect list pages with a crawler: `{"contender", "version", "items", "cpu", "wall", "settings"}`."""
    script = Path(__file__).with_name(f"{peer}_crawl.py")
    found: dict[str, Any] = json.loads(output([str(ensure()), str(script), *options], timeout))
    return found


def output(argv: list[str], timeout: float) -> str:
    """The script's stdout. It stops its own worker when asked to, so it is asked before it is killed."""
    # Not the project's: a peer must see its own environment only.
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")}
    name = argv[2] if argv[1] == "-m" else Path(argv[1]).name
    script = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        said, _ = script.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"{name} did not stop within {timeout:g} s") from error
    finally:
        if script.poll() is None:
            script.send_signal(signal.SIGTERM)
            try:
                script.wait(GRACE)
            except subprocess.TimeoutExpired:
                script.kill()
                script.wait()
    if script.returncode:
        raise PeerFailed(f"{name} ended with {script.returncode}; its last words are above on stderr")
    return said
