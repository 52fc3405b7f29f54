"""What goes wrong in aiohttp, said in our own errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp

from bobusang.kit.errors import BobusangError, Invalid, Unavailable
from bobusang.kit.url import shown

if TYPE_CHECKING:
    from yarl import URL


def trouble(error: aiohttp.ClientError, url: URL) -> BobusangError:
    """The error of ours that stands for one of aiohttp's."""
    where = shown(url)
    match error:
        case aiohttp.InvalidURL():
            return Invalid(f"{where} is no web address: {error}", field="url")
        case aiohttp.ConnectionTimeoutError():
            return Unavailable(f"{where}: no connection in time")
        case aiohttp.ClientSSLError():
            return Unavailable(f"{where}: no secure connection: {_reason(error.os_error)}")
        case aiohttp.ClientConnectorDNSError():
            return Unavailable(f"{where}: the name cannot be resolved: {_reason(error.os_error)}")
        case aiohttp.ClientConnectorError():
            return Unavailable(f"{where}: no connection: {_reason(error.os_error)}")
        case aiohttp.ServerDisconnectedError():
            return Unavailable(f"{where}: the connection was closed before an answer came")
        case aiohttp.ClientOSError():
            return Unavailable(f"{where}: the connection broke before an answer came: {_reason(error)}")
        case aiohttp.ClientResponseError():
            return Unavailable(f"{where}: what came back is no HTTP: {error.message[:200]}")
    return Unavailable(f"{where}: {type(error).__name__}: {str(error)[:200]}")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__)[:200]
