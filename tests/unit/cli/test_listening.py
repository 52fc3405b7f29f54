"""Answers leave at once: the sockets that are accepted must be known as TCP, or asyncio does not take the delay off."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.cli import process
from bobusang.sandbox import server

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("listening", [process.listening, server.listening])
def test_what_is_accepted_is_known_as_tcp(listening: Callable[[str, int], socket.socket]) -> None:
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()) as _, listener.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP
