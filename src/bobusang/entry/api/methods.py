"""Which methods a path knows: told in `Allow`, and held to where the path would also be read as another's parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route, compile_path

from bobusang.entry.api import problems

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Methods:
    """The methods of each path, over all routes that have it."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._known: dict[str, set[str]] = defaultdict(set)
        for route in routes:
            if isinstance(route, Route):
                self._known[route.path] |= route.methods or set()
        self._patterns = [(compile_path(path)[0], found) for path, found in self._known.items() if "{" in path]

    def refused(self, path: str, method: str) -> bool:
        """Whether `/held/approve` is called as if it were a `/held/{held_id}`."""
        known = self._known.get(path)
        return known is not None and method not in known

    def allow(self, path: str) -> str:
        """The methods of a path, for the header of that name."""
        known = self._known.get(path) or next((found for shape, found in self._patterns if shape.match(path)), set())
        return ", ".join(sorted(known))


class MethodGuard:
    """Refuses what no route of a path would take, before a path like it takes it for something else."""

    def __init__(self, app: ASGIApp, methods: Methods) -> None:
        self._app = app
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._methods.refused(scope["path"], scope["method"]):
            answer = problems.not_allowed(scope, self._methods.allow(scope["path"]))
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)
