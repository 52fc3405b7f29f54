"""The sandbox as a real HTTP server: finds the page, lets it go wrong where a fault says so, and keeps the journal."""

from __future__ import annotations

import os
import socket
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aiohttp import web

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.sandbox import acme, cafe24, mischief, shopify, small_routes
from bobusang.sandbox.admin import Admin
from bobusang.sandbox.buyma import routes as buyma
from bobusang.sandbox.buyma.account import Account, Behaviour
from bobusang.sandbox.desk import Asked, Desk, Route
from bobusang.sandbox.domeggook import routes as domeggook
from bobusang.sandbox.filler import PageSize
from bobusang.sandbox.keeping import Keeping
from bobusang.sandbox.musinsa import routes as musinsa
from bobusang.sandbox.mustit import routes as mustit
from bobusang.sandbox.mustit.sessions import Sessions, identity
from bobusang.sandbox.okmall import routes as okmall
from bobusang.sandbox.ownerclan import routes as ownerclan
from bobusang.sandbox.reply import SMALL, Reply, html
from bobusang.sandbox.wconcept import routes as wconcept
from bobusang.sandbox.world import World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path
    from types import TracebackType

    from bobusang.sandbox.fault import Fault

ROUTES = (
    *okmall.ROUTES,
    *acme.ROUTES,
    *cafe24.ROUTES,
    *shopify.ROUTES,
    *mustit.ROUTES,
    *small_routes.ROUTES,
    *buyma.ROUTES,
    *wconcept.ROUTES,
    *musinsa.ROUTES,
    *ownerclan.ROUTES,
    *domeggook.ROUTES,
)
POSTS = (*buyma.POSTS, *wconcept.POSTS, *musinsa.POSTS, *ownerclan.POSTS)
BACKLOG = 2048
LEAVE_SECONDS = 0.5
"""How long open calls may take when we stop: some of them stall on purpose."""


class Sandbox:
    """One world on one port, as an asynchronous context: `async with Sandbox(World(seed=7)) as sandbox: sandbox.url`.

    `calls_per_token` is after how many calls MustIt answers a token with 429 (0: never), `token_seconds` how long a
    token lives; `behaviour` is how BUYMA behaves, `account` who sells there. Port 0 takes a free one. Everything else
    is set over `/admin`, or on `desk` in the same process. `keep` is a file in which its world and market outlive it.
    """

    def __init__(
        self,
        world: World | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        page_size: PageSize | str = PageSize.DEFAULT,
        calls_per_token: int = 0,
        token_seconds: float = 7200.0,
        compress: bool = True,
        faults: Iterable[Fault] = (),
        behaviour: Behaviour | None = None,
        account: Account | None = None,
        keep: Path | None = None,
    ) -> None:
        sessions = Sessions(calls_per_token, token_seconds)
        self.desk = Desk(world or World(), PageSize(page_size), compress, sessions)
        for fault in faults:
            self.desk.faults.add(fault)
        self.desk.market.behaviour = behaviour or Behaviour()
        self.desk.market.put_account(account or Account())
        self._keeping = Keeping(keep, self.desk) if keep else None
        self._wanted = (host, port)
        self._runner = web.AppRunner(
            self._app(), access_log=None, handler_cancellation=True, shutdown_timeout=LEAVE_SECONDS
        )
        self.url = ""

    @property
    def world(self) -> World:
        return self.desk.world

    async def __aenter__(self) -> Sandbox:
        if self._keeping is not None:
            self._keeping.begin()
        listener = listening(*self._wanted)
        await self._runner.setup()
        await self.desk.market.open()
        await web.SockSite(self._runner, listener, backlog=BACKLOG).start()
        self.url = address(listener)
        self.desk.market.resume()  # not before we listen: it may fetch pictures of our own
        if self._keeping is not None:
            self._keeping.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()
        await self.desk.market.close()
        if self._keeping is not None:
            await self._keeping.close()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 20)
        app.router.add_routes(Admin(self.desk).routes())
        for route in ROUTES:
            app.router.add_get(route.path, self._handler(route))
        for route in POSTS:
            app.router.add_post(route.path, self._handler(route))
        return app

    def _handler(self, route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        desk = self.desk

        async def handle(request: web.Request) -> web.StreamResponse:
            agent = request.headers.get("User-Agent", "")
            path, token = request.path_qs, identity(request.headers.get("Authorization", ""))
            visit = desk.journal.begin(route.mall, route.endpoint, path, agent, token)
            hit = desk.faults.befall(route.mall, route.endpoint, unquote(path), agent)
            visit.fault = hit.fault.kind if hit else ""
            try:
                body = await request.read() if request.method == "POST" else b""
                response = await answered(Asked(desk, request, hit, body), route)
                visit.status = 0 if isinstance(response, mischief.Unanswered) else response.status
                return response
            finally:
                desk.journal.end(visit)

        return handle


async def answered(asked: Asked, route: Route) -> web.StreamResponse:
    """The page, or what goes wrong instead."""
    hit = asked.hit
    if hit is None:
        return sent(asked, _rendered(asked, route))
    instead = await mischief.instead(asked.request, hit)
    if instead is not None:
        return instead
    reply = mischief.spoil(_rendered(asked, route), hit)
    return await mischief.badly(asked.request, reply, hit.fault) or sent(asked, reply)


def _rendered(asked: Asked, route: Route) -> Reply:
    try:
        return route.page(asked)
    except Invalid as error:
        return html(f"<h1>400</h1><p>{error.message}</p>\n", 400)


def sent(asked: Asked, reply: Reply) -> web.Response:
    """The answer on its way: packed where that is wanted, or nothing to who has it already."""
    request = asked.request
    headers = {"Content-Type": reply.type, **reply.headers}
    if reply.tagged and asked.hit is None:
        headers |= {"ETag": reply.tag, "Last-Modified": format_datetime(asked.desk.world.now, usegmt=True)}
        if _is_known(asked, reply):
            return web.Response(status=304, headers={name: headers[name] for name in ("ETag", "Last-Modified")})
    body = reply.body
    if asked.desk.compress and len(body) > SMALL and reply.type != "image/jpeg" and _takes_gzip(request):
        body = reply.packed
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    response = web.Response(body=body, status=reply.status, headers=headers)
    for name, value in reply.cookies.items():
        seconds = None if reply.cookie_seconds is None else int(reply.cookie_seconds)
        response.set_cookie(name, value, max_age=seconds, path="/")
    return response


def _takes_gzip(request: web.Request) -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")


def _is_known(asked: Asked, reply: Reply) -> bool:
    headers = asked.request.headers
    if tags := headers.get("If-None-Match"):
        return reply.tag in tags or tags.strip() == "*"
    if since := headers.get("If-Modified-Since"):
        try:
            moment = parsedate_to_datetime(since)
        except ValueError:
            return False
        return moment.replace(tzinfo=UTC) >= asked.desk.world.now.replace(microsecond=0)
    return False


def address(listener: socket.socket) -> str:
    """Where a client on this machine finds us."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listening(host: str, port: int) -> socket.socket:
    """A socket at that address, or an error that says whose mistake it is."""
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise Invalid(f"'{host}' is no address: {error.strerror}", hint="try 127.0.0.1", field="host") from error
    # Named, or asyncio leaves Nagle's delay on: 40 ms an answer on a connection that is used again.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
    except OSError as error:
        found.close()
        reason = os.strerror(error.errno or 0)
        hint = "choose another port with --port, or --port 0 for a free one"
        raise Unavailable(f"cannot listen on {host}:{port}: {reason}", hint=hint) from error
    found.setblocking(False)
    return found
