"""The routes of one resource, worked out once and not before they are asked for.

FastAPI works a route out where it is declared, and those of an included router once more. Both take milliseconds each,
and who only calls the functions of a resource, as the screen does, needs neither.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from bobusang.entry.api import problems

ANY = "4XX"
"""What each route says before it is known what it may refuse."""
REFUSALS: dict[int | str, dict[str, Any]] = {ANY: {"model": problems.Problem, "description": "A problem document"}}


class Resource(APIRouter):
    """Every route may refuse by a problem document, and has its function's name in the document."""

    def __init__(self, tag: str, prefix: str = "", route_class: type[APIRoute] = APIRoute) -> None:
        self._declared: list[tuple[str, Callable[..., Any], dict[str, Any]]] = []
        self._working = threading.RLock()
        super().__init__(
            prefix=prefix,
            tags=[tag],
            route_class=route_class,
            responses=REFUSALS,
            generate_unique_id_function=_operation,
        )

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        self._declared.append((path, endpoint, given))

    @property
    def routes(self) -> list[BaseRoute]:
        """All that were declared."""
        with self._working:
            declared, self._declared = self._declared, []  # each that is added asks for the list itself
            for path, endpoint, given in declared:
                super().add_api_route(path, endpoint, **given)
            return self._routes

    @routes.setter
    def routes(self, found: list[BaseRoute]) -> None:
        self._routes = found


def _operation(route: APIRoute) -> str:
    return route.name
