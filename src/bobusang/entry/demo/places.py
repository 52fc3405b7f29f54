"""Where the demo of a folder listens: the same each time, for products and pictures are known by their addresses."""

from __future__ import annotations

import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HOST = "127.0.0.1"
FILE = "demo.json"
ACCOUNT = "bobusang"
BRANDS = 5


@dataclass(frozen=True, slots=True)
class Places:
    """The ports of the sandbox and of the program."""

    sandbox: int
    api: int
    size: int
    """Products of each mall: another size would be another world."""
    stays: bool = False
    """Whether `bobusang up` in this folder is the demo's, and brings the sandbox along."""

    @property
    def sandbox_url(self) -> str:
        return f"http://{HOST}:{self.sandbox}"

    @property
    def api_url(self) -> str:
        return f"http://{HOST}:{self.api}"


def stored(home: Path) -> Places | None:
    """Those of a folder where a demo was before."""
    path = home / FILE
    return Places(**json.loads(path.read_text("utf-8"))) if path.exists() else None


def store(home: Path, at: Places) -> Places:
    """Remember them."""
    (home / FILE).write_text(json.dumps(asdict(at)), "utf-8")
    return at


def free_ports(count: int) -> list[int]:
    """So many that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def sandbox_line(home: Path, at: Places) -> list[str]:
    """The command of the sandbox: malls and a market that remember what became of them, and end with us."""
    told = {
        "--port": at.sandbox,
        "--size": at.size,
        "--brands": BRANDS,
        "--pictures": 2,
        "--market-delay": 0.2,
        "--webhook-url": f"{at.api_url}/webhooks/buyma/{ACCOUNT}",
        "--keep": home / "sandbox.json",
    }
    return [sys.executable, "-m", "bobusang.sandbox", "--tied", *(str(part) for pair in told.items() for part in pair)]


def plain_environment() -> dict[str, str]:
    """Ours without our settings, which are not the child's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BOBUSANG_")}
