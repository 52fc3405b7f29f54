"""Names to addresses for aiohttp: resolved for each new connection, every address checked, the checked ones used."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import TYPE_CHECKING

from aiohttp.abc import AbstractResolver, ResolveResult

from bobusang.kit.address import refusal
from bobusang.kit.errors import Blocked

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

THREADS = 4


class CheckedResolver(AbstractResolver):
    """Raises Blocked when any address of a name may not be called; `allow` names (host, port) that may be private."""

    def __init__(self, allow: AbstractSet[tuple[str, int]], within: float) -> None:
        self._allow = allow
        self._within = within
        # Threads of its own: a name server that does not answer must not hold up the pool that parses pages.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="resolve")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """All addresses of a name; OSError when it has none."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._within):
            found = await loop.run_in_executor(self._threads, _looked_up, host, port, family)
        allowed = (host.lower(), port) in self._allow
        for one in found:
            reason = refusal(ip_address(one["host"]), allow_private=allowed)
            if reason:
                raise Blocked(f"{host} is not called: {reason}", hint="only the sandbox may have a private address")
        return found

    async def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _looked_up(host: str, port: int, family: int) -> list[ResolveResult]:
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host[:200]!r} is no name") from error
    return [
        ResolveResult(
            hostname=host, host=str(address[0]), port=port, family=kind, proto=proto, flags=socket.AI_NUMERICHOST
        )
        for kind, _, proto, _, address in found
    ]
