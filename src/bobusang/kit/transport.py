"""HTTP by aiohttp: pooled connections to checked addresses, bounded bodies, every phase timed, nothing sent twice."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import aiohttp

from bobusang import __version__
from bobusang.kit.address import host_refusal, port_refusal
from bobusang.kit.cookies import EMPTY
from bobusang.kit.errors import Blocked, Unavailable
from bobusang.kit.http import Answer, Oversized
from bobusang.kit.patience import Patience
from bobusang.kit.redirects import REDIRECTS, first_hop, next_hop
from bobusang.kit.resolver import CheckedResolver
from bobusang.kit.trouble import trouble
from bobusang.kit.unpacking import unpacked
from bobusang.kit.url import origin, shown

if TYPE_CHECKING:
    from aiohttp.client_middlewares import ClientHandlerType
    from multidict import CIMultiDictProxy
    from yarl import URL

    from bobusang.kit.http import Call
    from bobusang.kit.redirects import Hop

# Many servers hang up after five idle seconds. A request sent at that very moment is lost, and since nothing is sent
# twice unasked, we let go first.
KEEP_ALIVE = 4.0
LONGEST_HEADER = 32 << 10
UNPACKED_ON_THE_LOOP = 128 << 10


class AiohttpTransport:
    """The transport of all collecting. It needs a running loop for `send`, not to be made.

    `allow` names the (host, port) pairs that are called although they are private, such as the sandbox's; every other
    port of the same host stays refused. `connect` limits resolving a name, and opening a connection with TLS;
    `silence` the wait from one byte to the next, and both together the wait for the first; the call's own `timeout`
    limits all of it, redirects included.
    """

    def __init__(
        self,
        allow: frozenset[tuple[str, int]] = frozenset(),
        *,
        connections: int = 100,
        per_host: int = 32,
        user_agent: str = f"bobusang/{__version__}",
        connect: timedelta = timedelta(seconds=10),
        silence: timedelta = timedelta(seconds=20),
    ) -> None:
        self._allow = frozenset((host.lower(), port) for host, port in allow)
        self._connections, self._per_host = connections, per_host
        self._user_agent = user_agent
        self._connect, self._silence = connect.total_seconds(), silence.total_seconds()
        self._resolver = CheckedResolver(self._allow, self._connect)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, call: Call) -> Answer:
        """Send a call and read its answer to the end, following redirects; one that may not be followed is Blocked.

        With `redirects=0` the redirect itself is the answer. Nothing is sent again when it fails: `sent` is exact.
        """
        hop = first_hop(call, self._user_agent)
        patience = Patience(call.timeout.total_seconds(), self._connect + self._silence)
        try:
            async with patience.limit:
                return await self._followed(call, hop, patience)
        except aiohttp.ClientError as error:
            raise trouble(error, hop.url) from error
        except TimeoutError as error:
            raise Unavailable(f"{shown(hop.url)}: {patience.lost}") from error

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            await self._resolver.close()

    async def _followed(self, call: Call, hop: Hop, patience: Patience) -> Answer:
        session = self._session or self._opened()
        jar = EMPTY
        for sent in range(1, call.redirects + 2):
            self._check(hop.url)
            async with session.request(
                hop.method, hop.url, headers=hop.sent_headers(), data=hop.body, allow_redirects=False
            ) as response:
                headers = response.headers
                if "Set-Cookie" in headers:
                    jar = jar.filled(headers)
                location = headers.get("Location")
                if not (call.redirects and location and response.status in REDIRECTS):
                    body = await self._body(response, call.most, patience)
                    found = _headers(headers)
                    return Answer(
                        str(hop.url), response.status, found, body, jar.cookies, jar.ages, patience.spent, sent
                    )
            patience.expect(self._connect + self._silence)
            before, hop = hop, next_hop(hop, response.status, location, jar.cookies, jar.ages)
            if not origin(before.url).trusts(origin(hop.url)):
                jar = EMPTY
        raise Unavailable(f"{shown(call.url)} redirects more than {call.redirects} times, last to {shown(hop.url)}")

    async def _body(self, response: aiohttp.ClientResponse, most: int, patience: Patience) -> bytes:
        """The whole body, unpacked; Oversized as soon as that is sure, and then the connection is closed."""
        if response.method == "HEAD":
            return b""
        packed = await self._packed(response, most, patience)
        encoding = response.headers.get("Content-Encoding")
        if encoding is None:
            return packed
        if len(packed) > UNPACKED_ON_THE_LOOP:
            return await asyncio.to_thread(unpacked, packed, encoding, most)
        return unpacked(packed, encoding, most)

    async def _packed(self, response: aiohttp.ClientResponse, most: int, patience: Patience) -> bytes:
        announced = response.content_length
        if announced is not None and announced > most:
            raise Oversized(f"{shown(response.url)}: an answer of {announced} bytes; at most {most} are read")
        content = response.content
        chunks: list[bytes] = []
        size = 0
        try:
            while not content.at_eof():
                if not content.is_eof():
                    patience.expect(self._silence)
                chunk = await content.readany()
                size += len(chunk)
                if size > most:
                    raise Oversized(f"{shown(response.url)}: the answer does not end within {most} bytes")
                chunks.append(chunk)
        except (aiohttp.ClientError, OSError) as error:
            of = f" of {announced}" if announced is not None else ""
            came = content.total_bytes
            raise Unavailable(f"{shown(response.url)}: the answer broke off after {came}{of} bytes") from error
        return b"".join(chunks)

    def _check(self, url: URL) -> None:
        """Refuse what must not be called, before anything is connected; names are checked when they are resolved."""
        host, port = url.raw_host or "", url.port or 0
        allowed = (host, port) in self._allow
        reason = host_refusal(host, allow_private=allowed) or (None if allowed else port_refusal(port))
        if reason:
            raise Blocked(f"{shown(url)} is not called: {reason}", hint="only the sandbox may have a private address")

    def _opened(self) -> aiohttp.ClientSession:
        # Addresses are not cached: what was checked is what is connected to, and it is checked again next time.
        connector = aiohttp.TCPConnector(
            resolver=self._resolver,
            use_dns_cache=False,
            limit=self._connections,
            limit_per_host=self._per_host,
            keepalive_timeout=KEEP_ALIVE,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=self._connect),
            trust_env=False,
            auto_decompress=False,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            middlewares=(_once,),
        )
        return self._session


async def _once(request: aiohttp.ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """aiohttp repeats a request whose connection breaks; calls are counted, so here it fails and the engine decides."""
    try:
        return await handler(request)
    except aiohttp.ClientError as error:
        raise trouble(error, request.url) from error


def _headers(given: CIMultiDictProxy[str]) -> dict[str, str]:
    headers = {name.lower(): value for name, value in given.items()}
    if len(headers) < len(given):
        headers = {name: ", ".join(given.getall(name)) for name in headers}
    headers.pop("set-cookie", None)
    return headers
