"""What a page module declares: its pages, its actions with the role each needs, live parts, its line in the menu."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bobusang.entry.tables import Role

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Loader
    from bobusang.entry.web.visit import Visit

Handler: TypeAlias = "Callable[[Visit], Awaitable[Response]]"


@dataclass(frozen=True, slots=True)
class Route:
    """One address. `role` None: for people who are not signed in too."""

    method: str
    path: str
    role: Role | None
    handler: Handler
    largest: int = 0
    """Of a form with a file, how many bytes it may have; 0: a form without one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the menu."""

    path: str
    label: str
    icon: str
    place: int
    counter: str = ""
    """The name of the number that stands beside it, among those of `standing`."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one module."""

    entry: Entry | None = None
    routes: list[Route] = field(default_factory=list)
    topics: dict[str, Loader] = field(default_factory=dict)

    def get(self, path: str, *, role: Role | None = Role.VIEWER) -> Callable[[Handler], Handler]:
        """A page; it changes nothing."""
        return self._routed("GET", path, role)

    def post(self, path: str, *, role: Role | None = Role.OPERATOR, largest: int = 0) -> Callable[[Handler], Handler]:
        """An action, by a form of ours; `largest`: by one with a file, of so many bytes at most."""
        return self._routed("POST", path, role, largest)

    def live(self, topic: str) -> Callable[[Loader], Loader]:
        """Parts of a page that are sent when they change, by a topic such as `overview` or `run:{batch_id}`."""

        def known(loader: Loader) -> Loader:
            self.topics[topic] = loader
            return loader

        return known

    def _routed(self, method: str, path: str, role: Role | None, largest: int = 0) -> Callable[[Handler], Handler]:
        def known(handler: Handler) -> Handler:
            self.routes.append(Route(method, path, role, handler, largest))
            return handler

        return known
