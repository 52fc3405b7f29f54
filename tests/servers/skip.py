"""What a test does without a server: it skips, saying how to get one, or with CI=true it fails."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.servers.server import Server, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = TypeVar("Kind", bound=Server)


@contextmanager
def started(server: Kind) -> Iterator[Kind]:
    """A private server, running, for as long as the block lasts."""
    try:
        server.__enter__()
    except Unavailable as missing:
        skip_or_fail(str(missing))
    try:
        yield server
    finally:
        server.close()


def skip_or_fail(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (with CI=true this is a failure)", pytrace=False)
    pytest.skip(reason)
