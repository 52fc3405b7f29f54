"""Connections only to addresses we mean to reach: the name is resolved once, checked, and that very address is used.

Checking first and letting the client resolve again would be answered by a name that changes in between.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import TYPE_CHECKING

import httpcore
import httpx

from bobusang.kit.address import refusal
from bobusang.kit.errors import Blocked

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable

    from bobusang.kit.address import Address


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for the HTTP client."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        self._plain = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, check every address, connect to the first that answers."""
        addresses = await self._resolved(host, port, timeout)
        for address in addresses:
            reason = refusal(address, allow_private=self._allow_private)
            if reason:
                raise Blocked(
                    f"the address was refused: {reason}", hint="allow private addresses if it is an internal API"
                )
        failure: Exception = httpcore.ConnectError("the name has no address")
        for address in addresses:
            try:
                return await self._plain.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Never."""
        raise Blocked("sockets in the file system are not called")

    async def sleep(self, seconds: float) -> None:
        """Between the pool's own attempts."""
        await self._plain.sleep(seconds)

    async def _resolved(self, host: str, port: int, timeout: float | None) -> list[Address]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("resolving the name took too long") from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("the name cannot be resolved") from error
        return [ipaddress.ip_address(entry[4][0].split("%")[0]) for entry in found if isinstance(entry[4][0], str)]


class CheckedTransport(httpx.AsyncHTTPTransport):
    """httpx over checked connections; it offers no door for a network backend, so its pool is replaced."""

    def __init__(self, *, allow_private: bool, connections: int, verify: ssl.SSLContext | bool = True) -> None:
        context = httpx.create_ssl_context(verify=verify, trust_env=False)
        super().__init__(verify=context, trust_env=False)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=30.0,
            network_backend=CheckedBackend(allow_private=allow_private),
        )
