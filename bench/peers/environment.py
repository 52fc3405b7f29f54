"""The peers' own virtual environment, made once: their packages must not meet the project's."""

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
FOLDER = ROOT / ".cache" / "peers"
TIMEOUT = 900.0
"""Seconds one step of the installation may take; all of it takes about 30 with a near index."""


class InstallFailed(Exception):
    """The environment could not be made; the message ends with what the tool said."""


def ensure(folder: Path = FOLDER, requirements: Path = REQUIREMENTS) -> Path:
    """The environment's Python, with the pinned requirements installed; a second call finds the stamp and is free."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text("*\n")
    environment, stamp = folder / "env", folder / "installed"
    python = environment / "bin" / "python"
    wanted = f"{sys.version_info[:2]} {hashlib.sha256(requirements.read_bytes()).hexdigest()}\n"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # of two benchmarks one installs; the other waits and finds it done
        if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
            stamp.unlink(missing_ok=True)
            _do(sys.executable, "-m", "venv", "--clear", str(environment))
            _do(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements))
            stamp.write_text(wanted)
    return python


def _do(*argv: str) -> None:
    try:
        done = subprocess.run(
            argv, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired as error:
        raise InstallFailed(f"`{' '.join(argv)}` took more than {TIMEOUT:g} s") from error
    if done.returncode:
        said = (done.stdout + done.stderr)[-2000:]
        raise InstallFailed(f"`{' '.join(argv)}` ended with {done.returncode}:\n{said}")
