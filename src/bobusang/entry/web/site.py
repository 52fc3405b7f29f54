"""The web door put together: every request is known, checked and answered here, whichever page it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route as Address
from starlette.routing import WebSocketRoute

from bobusang.entry.api.problems import Forbidden, status_of
from bobusang.entry.people.signed_in import Attendance
from bobusang.entry.web import belts, cookies, forms, words
from bobusang.entry.web.assets import Assets
from bobusang.entry.web.cookies import Cookies
from bobusang.entry.web.live import GONE, Hub
from bobusang.entry.web.rendering import Rendering
from bobusang.entry.web.standing import Standing
from bobusang.entry.web.visit import UI, Visit
from bobusang.kit import log
from bobusang.kit.errors import BobusangError, Invalid, Missing
from bobusang.platform.limiters.local import LocalLimiter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.websockets import WebSocket

    from bobusang.entry.demo.staying import Demo
    from bobusang.entry.people.signed_in import SignedIn
    from bobusang.entry.web.pages import Pages, Route
    from bobusang.wiring import App

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # without one a browser does not say where a form comes from
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
SIGN_IN = "/sign-in"
LARGEST = 2**63 - 1
"""Of the numbers that a database takes."""

_log = log.get("web")


class Site:
    """The pages of one process."""

    def __init__(self, app: App, modules: Sequence[Pages]) -> None:
        self.app = app
        self.cookies = Cookies(plain=app.settings.plain_cookies)
        self.assets = Assets()
        self.tries = LocalLimiter(app.engine.db.clock)
        menu = sorted((one.entry for one in modules if one.entry), key=lambda entry: entry.place)
        self.rendering = Rendering(self.assets, menu=menu, ui=UI, word=words.of, **belts.KNOWN)
        self.standing = Standing(app)
        self.demo: Demo | None = None
        self.hub = Hub(self, {topic: loader for one in modules for topic, loader in one.topics.items()})
        self.attendance = Attendance(app.engine.db, self.hub.check)
        self.routes = [route for one in modules for route in one.routes]

    def asgi(self) -> Starlette:
        """What is mounted below `/ui`."""
        addresses: list[Address | WebSocketRoute] = [
            Address("/static/{name:path}", self.assets.serve, methods=["GET"]),
            WebSocketRoute("/live", self._live),
        ]
        addresses += [Address(route.path, self._answering(route), methods=[route.method]) for route in self.routes]
        addresses.append(Address("/{rest:path}", self._answering(None), methods=["GET", "POST"]))
        return Starlette(routes=addresses)

    def _answering(self, route: Route | None) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            response = await self._answer(request, route)
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return answer

    async def _answer(self, request: Request, route: Route | None) -> Response:
        signed_in = await self._signed_in(request)
        said = cookies.unpacked(self.cookies.get(request, cookies.SAID)) if request.method == "GET" else []
        visit = Visit(self, request, signed_in, said, largest=route.largest if route else 0)
        if signed_in is not None:
            request.scope["actor"] = signed_in.user.name
        try:
            await self.standing.look()
            if signed_in is None and (route is None or route.role is not None):
                return self._to_sign_in(request)
            if route is None or any(isinstance(one, int) and one > LARGEST for one in request.path_params.values()):
                raise Missing("there is no such page")
            if route.role is not None:
                visit.demand(route.role)  # before the form is read, which may hold a large file
            if request.method == "POST":
                await self._check_form(visit)
            return await route.handler(visit)
        except ValidationError as error:
            return await self._failed(visit, _first_of(error))
        except BobusangError as error:
            return await self._failed(visit, error)

    async def _signed_in(self, request: Request | WebSocket) -> SignedIn | None:
        token = self.cookies.get(request, cookies.SESSION)
        return await self.attendance.find(token) if token else None

    async def _check_form(self, visit: Visit) -> None:
        request = visit.request
        forms.check_origin(request.headers, request.headers.get("host", ""))
        if visit.largest:
            forms.check_size(request.headers, visit.largest)
        if visit.signed_in is not None:
            forms.check_token(visit.signed_in.csrf, (await visit.form()).get("csrf"))

    def _to_sign_in(self, request: Request) -> Response:
        wanted = request.url.path.removeprefix(UI) if request.method == "GET" else "/"
        query = f"?{request.url.query}" if request.url.query and request.method == "GET" else ""
        response: Response = RedirectResponse(f"{UI}{SIGN_IN}", 303)
        if request.headers.get("hx-request"):
            # A part of a page must not become the door: the whole page goes there.
            response = Response(status_code=204, headers={"HX-Redirect": f"{UI}{SIGN_IN}"})
        self.cookies.set(response, cookies.WANTED, cookies.packed(f"{wanted}{query}"), lives=cookies.SHORT)
        return response

    async def _failed(self, visit: Visit, error: BobusangError) -> Response:
        """A form goes back to its page with the reason; a page that cannot be shown says so itself, and forgets the
        filters that it was asked with: nobody is shut out of a list by what is remembered."""
        status = status_of(error)
        asked = visit.request.method == "GET" and visit.request.url.query
        if asked and visit.signed_in and isinstance(error, Invalid | Missing):
            await visit.remember(f"list:{visit.request.url.path.removeprefix(UI)}", None)
        if status >= 500:
            _log.warning("a page failed", path=visit.request.url.path, error=str(error))
        refused = isinstance(error, Forbidden)
        if visit.request.method == "POST" and visit.signed_in is not None and not refused:
            return visit.refused(error.message, error.hint)
        return visit.page("failed.html", status=status, error=error, code=status)

    async def _live(self, socket: WebSocket) -> None:
        try:
            forms.check_origin(socket.headers, socket.headers.get("host", ""))
            signed_in = await self._signed_in(socket)
        except Forbidden:
            await socket.close(1008)
            return
        if signed_in is None:
            await socket.accept()
            await socket.close(GONE)
            return

        async def is_welcome() -> bool:
            return await self._signed_in(socket) is not None

        await socket.accept()
        request = Request({**socket.scope, "type": "http", "method": "GET"})
        await self.hub.serve(socket, Visit(self, request, signed_in).eyes, is_welcome)


def _first_of(error: ValidationError) -> Invalid:
    """What a form of the API found wrong first, as an error of ours."""
    found = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in found["loc"])
    return Invalid(f"{field}: {found['msg']}" if field else found["msg"], field=field)
