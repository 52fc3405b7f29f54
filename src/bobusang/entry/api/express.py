"""The doors that are asked most, by the shortest way: FastAPI's routing and solving of dependencies cost several times
what the query or the kept answer does.

A door says what is plain about a request and serves that; whatever is not plain goes the usual way, and is refused
there. So nothing is decided here that a route does not decide too, and the document of the API knows no difference.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bobusang.entry.api import problems
from bobusang.entry.api.desk import Desk, desk_of
from bobusang.entry.api.resource import Resource
from bobusang.entry.tables import Role
from bobusang.kit.errors import BobusangError

Work = Callable[[Desk], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Door:
    """The first route of a resource, which viewers ask by GET, and what it does for a request that is plain; None: it
    is not."""

    resource: Resource
    plain: Callable[[Scope], Work | None]
    is_open: bool = False
    """Whether everybody may look, without a key."""


class Express:
    """The innermost layer: serves what is plain itself, and hands everything else to the routes."""

    def __init__(self, app: ASGIApp, doors: Callable[[str], Sequence[Door]]) -> None:
        self._app = app
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._served(scope) if scope["type"] == "http" and scope["method"] == "GET" else None
        await (answer or self._app)(scope, receive, send)

    async def _served(self, scope: Scope) -> Response | None:
        for door in self._doors(scope["path"]):
            work = door.plain(scope)
            if work is not None:
                return await _answer(scope, door, work)
        return None


async def _answer(scope: Scope, door: Door, work: Work) -> Response | None:
    """What the door has for whoever holds the key; None when it is refused, which the usual way tells best."""
    try:
        desk = _anybody(scope) if door.is_open else await _viewer(scope)
        if desk is None:
            return None
        scope["route"] = door.resource.routes[0]
        return await work(desk)
    except BobusangError as error:
        return problems.of_error(error, scope["request_id"])


def _anybody(scope: Scope) -> Desk:
    return Desk(scope["app"].state.bobusang, "", Role.VIEWER)


async def _viewer(scope: Scope) -> Desk | None:
    scheme, _, key = (header(scope, b"authorization") or "").partition(" ")
    if scheme != "Bearer" or scope["app"].state.local:
        return None
    desk = await desk_of(scope, key)
    return desk if desk is not None and desk.role.includes(Role.VIEWER) else None


def header(scope: Scope, name: bytes) -> str | None:
    """The first header of a name."""
    return next((value.decode("latin-1") for given, value in scope["headers"] if given == name), None)
