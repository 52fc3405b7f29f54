"""The screen: pages for people, mounted beside the API. They call what the API calls, and never query tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from bobusang.entry.web import doors, overview, run_detail, runs, start
from bobusang.entry.web.site import Site
from bobusang.entry.web.visit import UI

if TYPE_CHECKING:
    from fastapi import FastAPI

    from bobusang.wiring import App

MODULES = (doors.pages, overview.pages, runs.pages, run_detail.pages, start.pages)


def mount(api: FastAPI, app: App) -> Site:
    """Let the API's server show the pages too."""
    site = Site(app, MODULES)
    api.mount(UI, site.asgi())

    @api.get("/", include_in_schema=False)
    async def front() -> Response:
        return RedirectResponse(f"{UI}/")

    api.state.site = site
    return site
